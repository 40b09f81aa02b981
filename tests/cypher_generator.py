"""A generator of random Cypher: every clause and pattern, and forms that try to mislead.

    Generator(random.Random(7)).query()
    ResourceGenerator(random.Random(7)).query()  # with its parameters

Few variable names are reused in every scope; keywords appear as names and directly before ``$``;
gaps are comments and unusual white space; labels are dynamic; conditions fail on purpose. Most
queries are well-formed, and the guard accepts most of those.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, TypeVar

PARAMETERS = {"x": 1, "p": "own-a", "l": ["own-a", "own-b"], "label": "Chunk", "map": {"a": 1}}

T = TypeVar("T")

_NAMES = ["a", "b", "c", "b", "n"]
_LABELS = ["", "", ":Chunk", ":Entity", ":Triple", ":Session", ":Key", ":Chunk|Key", ":!Key", ":%",
           ":Chunk&!Key", ":!(Key|Chunk)", " IS Chunk", ":`Chunk`", ":Space"]  # fmt: skip
_ODD_LABELS = [":$($label)", ":$any([$label])", ":$all($label)", ":$label"]
_TYPES = ["", ":NEXT", ":MENTIONS", ":NEXT|MENTIONS", ":!NEXT", ":%", " IS NEXT"]
_PROPERTIES = ["text", "seq", "uid", "space", "name"]
_GLUED = ["RETURN$x=", "WHERE$x=", "with$x=", "UNWIND$x=", "LIMIT$x=", "ORDER$x=", "call$x=",
          "RETURN=", "`WITH`=", "SKIP$x="]  # fmt: skip
_GAPS = ["\n", "\t", "/**/", " /* ) (b) */ ", " // (b)\n", "/*'*/", "\u00a0", "\u000b", "\\u0020"]
_STRINGS = [
    "'own-a'",
    "'own-b'",
    "'canary'",
    "'x y'",
    '"(b)"',
    '"b.space = $__space"',
    "'})'",
    "'it\\'s'",
    "'\\\\'",
    "'/*'",
    "'\\n'",
]
_FAILING = ["date({v}.text) IS NOT NULL", "1 / ({v}.seq - {v}.seq) = 0", "{v}.text", "NOT {v}.text",
            "toInteger([{v}.text]) > 0", "[1][{v}.text] = 1", "toLower({v}.text) = 'own-a'",
            "{v}.uid IN {v}.text", "duration({v}.name) IS NULL",
            "date(CASE WHEN {v}.text STARTS WITH 'can' THEN {v}.text END) IS NULL",
            "1 / (CASE WHEN {v}.seq > 9000 THEN 0 ELSE 1 END) = 1"]  # fmt: skip
"""Conditions that fail on some values; the last two fail on values of the canary alone."""


class Generator:
    """Makes one random query after another."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.known: list[str] = []

    def query(self) -> str:
        """A whole query."""
        self.known = []
        if not self._chance(0.15):
            return self._mangled(self._single(2))
        text = self._single(1, "u")
        self.known = []
        return self._mangled(f"{text} {self._one('UNION', 'UNION ALL')} {self._single(1, 'u')}")

    # --- clauses ----------------------------------------------------------------------------

    def _single(self, depth: int, alone: str = "") -> str:
        clauses = [self._match(depth)]
        for _ in range(self.rng.choice([0, 0, 1, 1, 2, 3])):
            clauses.append(self._clause(depth))
        returned = f"RETURN {self._value()} AS {alone}" if alone else self._return(depth)
        return " ".join([*clauses, returned])

    def _clause(self, depth: int) -> str:
        kinds: list[tuple[float, Callable[[int], str]]] = [
            (6, self._match), (4, self._with), (2, self._unwind), (2, self._call),
            (0.2, self._forbidden),
        ]  # fmt: skip
        weights, makers = zip(*kinds, strict=True)
        return self.rng.choices(makers, weights)[0](depth)

    def _match(self, depth: int) -> str:
        word = self._one("MATCH", "MATCH", "match", "OPTIONAL MATCH")
        paths = ", ".join(self._path(depth) for _ in range(self.rng.choice([1, 1, 1, 2])))
        where = f" WHERE {self._condition(depth)}" if self._chance(0.4) else ""
        return f"{word} {paths}{where}"

    def _with(self, depth: int) -> str:
        if self._chance(0.3):
            self.known = []
            return "WITH 1 AS one"
        if self._chance(0.3):
            where = f" WHERE {self._condition(depth)}" if self.known and self._chance(0.5) else ""
            return f"WITH *{where}"
        if not self.known:
            return "WITH count(*) AS n0"
        kept = self._one(*self.known)
        self.known = [kept]
        return f"WITH DISTINCT {kept} ORDER BY {kept}.seq"

    def _unwind(self, depth: int) -> str:
        value = self._one("[1, 2]", "$l", "range(1, 2)", "labels(b)" if "b" in self.known else "[]")
        return f"UNWIND {value} AS u{self.rng.randint(0, 999)}"

    def _call(self, depth: int) -> str:
        if depth <= 0:
            return ""
        known = list(self.known)
        scope = self._one("", "()", "(*)", f"({self._one(*known)})" if known else "")
        if scope in ("", "()"):
            self.known = []
        inner = self._match(depth - 1) + (" " + self._with(0) + " " + self._match(0)
                                          if self._chance(0.5) else "")  # fmt: skip
        shown = self._value()
        self.known = known
        return f"CALL {scope} {{ {inner} RETURN {shown} AS v{self.rng.randint(0, 9999)} }}"

    def _forbidden(self, depth: int) -> str:
        return self._one("CALL db.labels() YIELD label", "SHOW INDEXES", "USE neo4j", "NEXT",
                         "FILTER b.text = 'x'", "LET l = b.text", "MATCH ANY SHORTEST (b)-->+(c)",
                         "MATCH p = shortestPath((b)-[*..3]-(c))", "MATCH (b)((x)-->(y))+ (c)",
                         "WHEN true THEN RETURN 1", "FINISH", "CALL { MATCH (b) SET b.x = 1 }",
                         "SEARCH b IN (VECTOR INDEX i FOR [1.0] LIMIT 3)")  # fmt: skip

    def _return(self, depth: int) -> str:
        if self._chance(0.2):
            return f"RETURN count({self._one('*', *self.known)}) AS n"
        if self.known and self._chance(0.2):
            return "RETURN *"
        items = [f"{self._value(depth)} AS r{i}" for i in range(self.rng.randint(1, 3))]
        return f"RETURN {self._one('', 'DISTINCT ')}{', '.join(items)}"

    # --- patterns ---------------------------------------------------------------------------

    def _path(self, depth: int) -> str:
        name = self._one(*_GLUED) if self._chance(0.03) else ""
        if not name and self._chance(0.08):
            name = f"p{self.rng.randint(0, 9999)} = "
        return name + self._chain(depth)

    def _chain(self, depth: int, least: int = 0) -> str:
        text = self._node(depth)
        for _ in range(self.rng.choice([least, least, least, 1, 1, 2])):
            text += self._relationship() + self._node(depth)
        return text

    def _relationship(self) -> str:
        inner = self._one("", "", f"r{self.rng.randint(0, 99999)}") + self._one(*_TYPES)
        if self._chance(0.15):
            inner = self._one("*1..2", ":NEXT*0..1", "*")
        body = f"[{inner}]" if inner or self._chance(0.2) else ""
        left, right = self._one(("<-", "-"), ("-", "->"), ("-", "-"))
        return left + body + right

    def _node(self, depth: int) -> str:
        name = self._one("", *_NAMES)
        label = self._one(*_ODD_LABELS) if self._chance(0.005) else self._one(*_LABELS)
        if name in self.known and self._chance(0.7):
            label = ""  # Two labels of one node would hardly ever match.
        if label.startswith(" IS") and not name:
            label = ":Chunk"
        if name and name not in self.known:
            self.known.append(name)
        text = name + label
        if self._chance(0.06):
            text += f" {{{self._one('text', 'uid', 'seq')}: {self._literal()}}}"
        elif name and self._chance(0.06):
            text += f" WHERE {self._simple(name)}"
        return f"({text})"

    # --- expressions ------------------------------------------------------------------------

    def _condition(self, depth: int) -> str:
        kind = self.rng.random()
        if depth > 0 and kind < 0.3:
            known = list(self.known)
            text = self._subquery(depth - 1)
            self.known = known
            return text
        if depth > 0 and kind < 0.45:
            join = self._one("AND", "OR", "XOR")
            return f"({self._condition(depth - 1)} {join} {self._condition(0)})"
        if not self.known:
            return self._one("true", "1 < 2", "$x = 1")
        return self._simple(self._one(*self.known))

    def _simple(self, name: str) -> str:
        if self._chance(0.35):
            return self._one(*_FAILING).format(v=name)
        key = self._one(*_PROPERTIES)
        return self._one(f"{name}.{key} = {self._literal()}", f"{name}.{key} IS NOT NULL",
                         f"{name}.{key} <> {self._literal()}", f"{name}:Chunk", f"{name}.uid IN $l",
                         f"{name}.text STARTS WITH 'c'", f"{name}.seq > 5",
                         f"keys({name}) <> ['x']")  # fmt: skip

    def _subquery(self, depth: int) -> str:
        if self._chance(0.3) and self.known:
            return f"{self._one('', 'NOT ')}({self._one(*self.known)}){self._relationship()}()"
        glued = self._one(*_GLUED) + self._node(0) if self._chance(0.1) else ""
        inner = glued or self._chain(depth)
        return self._one(f"EXISTS {{ {inner} }}", f"EXISTS {{ MATCH {inner} RETURN 1 AS e }}",
                         f"COUNT {{ {inner} }} > 1", f"NOT EXISTS {{ MATCH {inner} }}")  # fmt: skip

    def _value(self, depth: int = 0) -> str:
        if depth > 0 and self._chance(0.3):
            return self._collected(depth)
        if not self.known or self._chance(0.1):
            return self._literal()
        name = self._one(*self.known)
        return self._one(name, f"{name}.{self._one(*_PROPERTIES)}", f"count({name})",
                         f"collect({name}.text)", f"{name} {{.*}}", f"properties({name})",
                         f"labels({name})", f"keys({name})", f"max({name}.seq)",
                         f"toLower({name}.text)", f"{name}[$p]")  # fmt: skip

    def _collected(self, depth: int) -> str:
        known = list(self.known)
        inner = self._match(depth - 1)
        if self._chance(0.3):
            inner += " WITH 1 AS one " + self._match(0)
        text = f"COLLECT {{ {inner} RETURN {self._value()} AS w }}"
        if self._chance(0.3):
            self.known = known
            text = f"[{self._node(0)}{self._relationship()}{self._node(0)} | {self._value()}]"
        elif self._chance(0.2):
            text = f"[i IN [1] | {text}]"
        elif self._chance(0.2):
            text = f"COUNT {{ {inner} }}"
        self.known = known
        return text

    def _literal(self) -> str:
        return self._one("1", "5", "$p", "$x", "null", "1.5e0", *_STRINGS)

    # --- odd forms --------------------------------------------------------------------------

    def _mangled(self, text: str) -> str:
        """Replace some spaces by comments and other white space."""
        if self._chance(0.85):
            return text
        words = text.split(" ")
        at = self.rng.randrange(len(words))
        return " ".join(words[:at]) + self._one(*_GAPS) + " ".join(words[at:])

    def _chance(self, share: float) -> bool:
        return self.rng.random() < share

    def _one(self, *choices: T) -> T:
        return self.rng.choice(choices)


class ResourceGenerator:
    """Makes random queries that ask for much work: long texts and lists, loops, growing values."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.variables: list[str] = []

    def query(self) -> tuple[str, dict[str, Any]]:
        """A whole query and its parameters, whose sizes range from one to a million."""
        self.variables = []
        letter = self._one("a", "\u0414", "\u0130", "\ufdfa", "9")
        parameters = {
            "s": letter * self._size(6.3), "t": letter * self._size(6.3) + "b",
            "n": self._size(6.5), "l": list(range(self._size(5))),
            "m": ["a" * self._size(2)] * self._size(4.5),
        }  # fmt: skip
        text = " ".join([*self._rows(), *self._growing()])
        return f"{text} RETURN {self._value(3)} AS r{self._one('', ' ORDER BY r', ' LIMIT 3')}", (
            parameters
        )

    def condition(self, name: str) -> str:
        """A condition on one node, of the kind that SQLite supports too."""
        text = f"{name}.{self._one('text', 'message_id')}"
        shown = self._one(text, f"toLower({text})", f"{text} + $s", "$s", f"{text} * 999999999",
                          "'%999999999d' % 5", "$s + $t", f"size({text}) * $n")  # fmt: skip
        other = self._one("$t", "$s + $s", "'Oslo'", f"toUpper({text})", "$m", "$l", "$n")
        return f"{shown} {self._one('CONTAINS', 'STARTS WITH', 'IN', '=', '<', '>')} {other}"

    def _rows(self) -> list[str]:
        clauses: list[str] = []
        for _ in range(self._one(0, 1, 1, 2, 3)):
            name = f"v{len(self.variables)}"
            clauses.append(
                self._one(
                    f"UNWIND {self._list(1)} AS {name}",
                    f"UNWIND {self._list(1)} AS {name}",
                    f"MATCH ({name}:Chunk)",
                    f"MATCH {name} = ()-[*1..{self.rng.randint(1, 30)}]-()",
                    f"CALL () {{ UNWIND {self._list(1)} AS x RETURN x AS {name} }}",
                )
            )
            self.variables.append(name)
        return clauses

    def _growing(self) -> list[str]:
        """Repeat a WITH that makes a value larger."""
        if self.rng.random() < 0.6:
            return []
        made = self._one("g || g", "g + g", "[g, g]", "{a: g, b: g}", "[x IN g | g]", "toUpper(g)",
                         "replace(g, 'a', $s)")  # fmt: skip
        begin = self._one("$s", "$l", "'a'", "[1]", "$m")
        # Other variables are kept by neither, so nothing may use them.
        self.variables = ["g"]
        return [f"WITH {begin} AS g", *[f"WITH {made} AS g"] * self.rng.randint(1, 28)]

    def _value(self, depth: int) -> str:
        return self._one(self._text, self._list, self._number, self._truth)(depth)

    def _text(self, depth: int) -> str:
        if depth <= 0 or self.rng.random() < 0.2:
            return self._one("$s", "$t", "'a'", *(f"{name}.text" for name in self.variables))
        text, other = self._text(depth - 1), self._text(depth - 1)
        return self._one(
            f"({text} + {other})", f"({text} || {other})", f"toUpper({text})", f"toLower({text})",
            f"replace({text}, {other}, 'ab')", f"replace({text}, 'a', {other})",
            f"substring({text}, 1)", f"btrim({text}, {other})", f"reverse({text})",
            f"normalize({text}, NFKD)", f"toString({self._number(depth - 1)})",
        )  # fmt: skip

    def _list(self, depth: int) -> str:
        if depth <= 0 or self.rng.random() < 0.3:
            return self._one("$l", "$m", "range(1, $n)", "range(0, 999)", *self.variables)
        inner, value = self._list(depth - 1), self._value(depth - 1)
        loop = f"x{depth} IN {inner}"
        return self._one(
            f"[{loop} | {value}]", f"[{loop} | [x{depth}, {value}]]", f"[{loop} WHERE true]",
            f"({inner} + {self._list(depth - 1)})", f"collect({value})", f"[{value}, {value}]",
            f"split({self._text(depth - 1)}, {self._text(0)})", f"range(1, size({inner}))",
        )  # fmt: skip

    def _number(self, depth: int) -> str:
        if depth <= 0 or self.rng.random() < 0.2:
            return self._one("$n", "1", "count(*)")
        return self._one(
            f"size({self._list(depth - 1)})", f"size({self._text(depth - 1)})",
            f"toInteger({self._text(depth - 1)})", f"toFloat({self._text(depth - 1)})",
        )  # fmt: skip

    def _truth(self, depth: int) -> str:
        text, other = self._text(depth - 1), self._text(depth - 1)
        if depth <= 0:
            return f"{text} CONTAINS {other}"
        loop = f"x{depth} IN {self._list(depth - 1)} WHERE {self._truth(depth - 1)}"
        return self._one(
            f"{text} CONTAINS {other}", f"{text} STARTS WITH {other}", f"{text} ENDS WITH {other}",
            f"{text} = {other}", f"{text} < {other}", f"{text} IN {self._list(depth - 1)}",
            f"{self._list(depth - 1)} = {self._list(depth - 1)}",
            *(f"{word}({loop} OR x{depth} = -1)" for word in ("any", "all", "none", "single")),
        )  # fmt: skip

    def _size(self, digits: float) -> int:
        return int(10 ** self.rng.uniform(0, digits))

    def _one(self, *choices: T) -> T:
        return self.rng.choice(choices)
