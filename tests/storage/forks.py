"""A program that forks while a memory is open: ``python -m tests.storage.forks FILE``.

It has no threads but those of the library. Other tests of a process leave some behind, and a fork
beside threads that are at work may leave a lock behind that nobody will ever release.
"""

from __future__ import annotations

import faulthandler
import os
import sys

from tests.storage.writers import open_memory, turn

ROUNDS = 5
_MOST_SECONDS = 60


def main(path: str) -> None:
    """Search and add in children and in the parent, in turns, and find what both have added."""
    with open_memory(path) as memory:
        memory.add_many(turn(n) for n in range(10))
        assert "m5" in {hit.id for hit in memory.search(turn(5).text)}
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
            found = {hit.id for hit in memory.search(f"from the child child{round}", k=20)}
            assert {f"child{round}", f"parent{round}"} <= found


if __name__ == "__main__":
    main(sys.argv[1])
