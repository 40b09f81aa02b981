"""The cache of answers: its keys, several processes, and failures of its file."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from dataclasses import replace
from threading import Thread

import pytest

from cognigraph import ConfigurationError
from cognigraph.llm import Prompt, ResponseCache, cache_key
from tests.forked import Forked
from tests.storage.answerers import write_answers

PROMPT = Prompt("extract", "1", "You read.", "Ann moved to Oslo.")
SCHEMA = {"type": "object", "properties": {"facts": {"type": "array"}}}


def test_the_key_changes_with_everything_that_changes_the_answer():
    keys = [
        cache_key(PROMPT, "m", SCHEMA),
        cache_key(replace(PROMPT, name="other"), "m", SCHEMA),
        cache_key(replace(PROMPT, version="2"), "m", SCHEMA),
        cache_key(replace(PROMPT, system="You write."), "m", SCHEMA),
        cache_key(replace(PROMPT, user="Ann moved to Bergen."), "m", SCHEMA),
        cache_key(PROMPT, "n", SCHEMA),
        cache_key(PROMPT, "m", {"type": "object"}),
        cache_key(Prompt("extract1", "", PROMPT.system, PROMPT.user), "m", SCHEMA),
    ]
    assert len(set(keys)) == len(keys)
    assert cache_key(PROMPT, "m", dict(reversed(SCHEMA.items()))) == keys[0]
    assert (
        keys[0].hex()
        == cache_key(Prompt("extract", "1", "You read.", PROMPT.user), "m", SCHEMA).hex()
    )
    assert cache_key(replace(PROMPT, user="\ud800"), "m", SCHEMA) not in keys


def test_the_cache_keeps_texts_in_memory_and_in_a_file(tmp_path):
    for path in (None, tmp_path / "answers.db"):
        with ResponseCache(path) as cache:
            assert cache.get(b"1") is None
            cache.put(b"1", "a\0b 🙂", prompt=PROMPT, model="m")
            cache.put(b"2", "x", prompt=PROMPT, model="m")
            cache.put(b"2", "y", prompt=PROMPT, model="m")
            assert (cache.get(b"1"), cache.get(b"2"), len(cache)) == ("a\0b 🙂", "y", 2)
    with ResponseCache(tmp_path / "answers.db") as cache:
        assert cache.get(b"2") == "y"
        cache.clear()
        assert len(cache) == 0


@pytest.mark.skipif(os.name != "posix", reason="permissions are POSIX")
def test_its_file_is_the_owners_only(tmp_path):
    with ResponseCache(tmp_path / "answers.db"):
        assert (tmp_path / "answers.db").stat().st_mode & 0o777 == 0o600


@pytest.mark.slow
@pytest.mark.slow
def test_processes_share_it(tmp_path):
    path = tmp_path / "answers.db"
    running = [Forked(write_answers, path, name, 100) for name in "abc"]
    assert [(process.finish(), process.wait()) for process in running] == [("", 0)] * 3
    with ResponseCache(path) as cache:
        assert len(cache) == 300
        assert {cache.get(b"b" + bytes([n])) for n in range(100)} == {"b"}


def test_threads_share_it():
    with ResponseCache() as cache:

        def work(name):
            for n in range(100):
                cache.put(bytes([name, n]), str(n), prompt=PROMPT, model="m")
                assert cache.get(bytes([name, n])) == str(n)

        threads = [Thread(target=work, args=(name,)) for name in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(cache) == 400


def test_a_file_that_is_not_a_cache_is_reported_at_once(tmp_path):
    (tmp_path / "text").write_bytes(b"not a database" * 1000)
    with closing(sqlite3.connect(tmp_path / "other.db")) as other, other:
        other.execute("create table answer (something text)")
    other.close()
    for name in ("text", "other.db", "no/such/folder.db", "."):
        with pytest.raises(ConfigurationError, match="cannot be used as an answer cache"):
            ResponseCache(tmp_path / name)


def test_a_later_failure_of_the_file_is_a_cache_miss(tmp_path, caplog):
    cache = ResponseCache(tmp_path / "answers.db")
    cache.put(b"1", "a", prompt=PROMPT, model="m")
    cache.close()
    assert cache.get(b"1") is None
    cache.put(b"1", "a", prompt=PROMPT, model="m")
    assert len(cache) == 0
    assert "answer cache is unavailable" in caplog.text
