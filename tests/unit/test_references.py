"""What docstrings and comments refer to is there: a reader can believe them."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from importlib import import_module, util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILES = sorted(file for top in ("cognigraph", "ingest", "retrieve", "cypher")
               for file in (ROOT / top).rglob("*.py")
               if not any(part.is_symlink() for part in file.parents))  # fmt: skip
REFERENCE = re.compile(r":(?:func|class|meth|attr|data|exc):`\s*~?(?:[^`<]*<)?([\w.]+)>?`")
Members = dict[str, set[str]]


def members_of_classes() -> Members:
    """The names that each class of the package defines, and those of its bases in the package."""
    own, bases = defaultdict[str, set[str]](set), defaultdict[str, list[str]](list)
    for file in FILES:
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.ClassDef):
                bases[node.name] += [ast.unparse(base).split(".")[-1] for base in node.bases]
                for inner in ast.walk(node):
                    if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef):
                        own[node.name].add(inner.name)
                    elif isinstance(inner, ast.Attribute | ast.Name) and isinstance(
                        inner.ctx, ast.Store
                    ):
                        own[node.name].add(
                            inner.attr if isinstance(inner, ast.Attribute) else inner.id
                        )

    def all_of(name: str, seen: tuple[str, ...] = ()) -> set[str]:
        inherited = (all_of(b, (*seen, name)) for b in bases[name] if b in own and b not in seen)
        return own[name].union(*inherited)

    return {name: all_of(name) for name in [*own]}


def is_there(path: str, members: Members) -> bool:
    """Whether a dotted name is a module of the package, or something in one."""
    names = path.split(".")
    for length in range(len(names), 0, -1):
        try:
            found = util.find_spec(".".join(names[:length]))
        except ModuleNotFoundError:
            found = None
        if found is not None:
            thing = import_module(".".join(names[:length]))
            for name in names[length:]:
                if not hasattr(thing, name):
                    return name in members.get(getattr(thing, "__name__", ""), ())
                thing = getattr(thing, name)
            return True
    return False


@pytest.mark.slow
def test_what_is_referred_to_is_there() -> None:
    members = members_of_classes()
    wrong = []
    for file in FILES:
        for path in REFERENCE.findall(file.read_text("utf-8")):
            *owner, name = path.split(".")
            known = owner and owner[-1] in members
            if (known and name not in members[owner[-1]]) or (
                not known and path.startswith("cognigraph.") and not is_there(path, members)
            ):
                wrong.append(f"{file.relative_to(ROOT)}: {path}")
    assert wrong == []
