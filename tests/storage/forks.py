"""A program that forks while a memory is open: ``python -m tests.storage.forks FILE``.

Beside it, a thread uses what all memories of a process share. It has no other threads, unlike the
process of the tests: a fork beside any that is at work may leave a lock that nobody releases.
"""

from __future__ import annotations

import faulthandler
import os
import sys
import threading
from itertools import count

from cognigraph.embed.word_vectors import word_vectors
from cognigraph.text.terms import stem
from tests.storage.writers import open_memory, turn

ROUNDS = 10
_MOST_SECONDS = 60


def use_words() -> None:
    """Read and stem new words for ever."""
    for number in count():
        word_vectors().read([f"word{number} of some text"])
        stem(f"{number}words")


def main(path: str) -> None:
    """Search and add in children and in the parent, in turns, and find what both have added."""
    with open_memory(path) as memory:
        memory.add_many(turn(n) for n in range(10))
        assert "m5" in {hit.id for hit in memory.search(turn(5).text)}
        threading.Thread(target=use_words, daemon=True).start()
        for round in range(ROUNDS):
            child = os.fork()
            if not child:
                code = 1
                faulthandler.dump_traceback_later(_MOST_SECONDS, exit=True)
                try:
                    assert "m5" in {hit.id for hit in memory.search(turn(5).text)}
                    memory.add("from the child", id=f"child{round}")
                    assert memory.get(f"child{round}") is not None
                    code = 0
                finally:
                    os._exit(code)
            memory.add("from the parent", id=f"parent{round}")
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
            found = {hit.id for hit in memory.search(f"from the child child{round}", k=3 * ROUNDS)}
            assert {f"child{round}", f"parent{round}"} <= found


if __name__ == "__main__":
    main(sys.argv[1])
