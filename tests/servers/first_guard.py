"""The first guard of ``cypher()``, kept to prove that the generator of queries finds its faults.

Its lexer ended a name before a ``$``, which Neo4j does not, and its plan check took a predicate on
a name anywhere in the plan for one on every node of that name. Nothing else uses it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from cognigraph.cypher.guard.readonly import SPACE_PARAMETER
from cognigraph.errors import QueryError

Kind = Literal["name", "quoted", "string", "number", "parameter", "punctuation"]

_NUMBER = re.compile(r"0[xo][0-9a-fA-F]+|\d+(?:\.\d+)?(?:[eE][+-]?\d+)?", re.ASCII)
_NAME = re.compile(r"[^\W\d]\w*")
_PARAMETER = re.compile(r"\$(?:(\w+)|`((?:[^`]|``)+)`)")
_PUNCTUATION = frozenset("()[]{}<>=+-*/%^.,:;|&!")
_ESCAPES = {"\\": "\\", "'": "'", '"': '"', "n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}
_OPEN = {"(": ")", "[": "]", "{": "}"}


@dataclass(frozen=True, slots=True)
class Token:
    """One token. ``value`` is what it stands for: the name, the string, the parameter's name.

    ``start`` and ``end`` are places in the query; ``spaced`` says that white space or a comment
    came before.
    """

    kind: Kind
    text: str
    value: str
    start: int
    end: int
    spaced: bool

    def word(self, *words: str) -> bool:
        """Whether it is one of these keywords (unquoted, whatever the case)."""
        return self.kind == "name" and self.value.upper() in words

    def mark(self, *marks: str) -> bool:
        """Whether it is one of these punctuation marks."""
        return self.kind == "punctuation" and self.text in marks

    @property
    def named(self) -> bool:
        """Whether it can name something, quoted or not."""
        return self.kind in ("name", "quoted")


def tokenize(query: str) -> list[Token]:
    """Split a query into tokens; a trailing semicolon is dropped.

    Raises :class:`QueryError` for what is not Cypher, and for what servers read in more than one
    way: ``\\u`` escapes, invisible characters and foreign punctuation outside of strings.
    """
    escape = re.search(r"\\[uU]", query)
    if escape:
        raise error(query, escape.start(), "write the character itself instead of a \\u escape")
    tokens: list[Token] = []
    at, spaced = 0, False
    while at < len(query):
        after = _skip(query, at)
        if after > at:
            at, spaced = after, True
            continue
        token = _token(query, at, spaced)
        tokens.append(token)
        at, spaced = token.end, False
    while tokens and tokens[-1].mark(";"):
        tokens.pop()
    for token in tokens:
        if token.mark(";"):
            raise error(query, token.start, "one statement at a time; remove the ';'")
    if not tokens:
        raise QueryError("the query is empty")
    return tokens


def brackets(query: str, tokens: Sequence[Token]) -> Mapping[int, int]:
    """Map the index of each opening bracket to that of its closing one, and back."""
    pairs: dict[int, int] = {}
    waiting: list[int] = []
    for index, token in enumerate(tokens):
        if token.mark("(", "[", "{"):
            waiting.append(index)
        elif token.mark(")", "]", "}"):
            if not waiting or _OPEN[tokens[waiting[-1]].text] != token.text:
                raise error(query, token.start, f"this '{token.text}' closes nothing")
            opening = waiting.pop()
            pairs[opening], pairs[index] = index, opening
    if waiting:
        token = tokens[waiting[-1]]
        raise error(query, token.start, f"this '{token.text}' is never closed")
    return pairs


def render(tokens: Sequence[Token], before: Mapping[int, str] | None = None) -> str:
    """Write tokens out again without comments, inserting ``before[i]`` in front of token ``i``."""
    parts: list[str] = []
    for index, token in enumerate(tokens):
        if token.spaced and parts:
            parts.append(" ")
        if before and index in before:
            parts.append(before[index])
        parts.append(token.text)
    return "".join(parts)


def quote(value: str, mark: str = '"') -> str:
    """Write a string literal that Cypher and Python read alike."""
    text = value.replace("\\", "\\\\").replace(mark, "\\" + mark)
    for letter, character in (("n", "\n"), ("r", "\r"), ("t", "\t"), ("b", "\b"), ("f", "\f")):
        text = text.replace(character, "\\" + letter)
    return f"{mark}{text}{mark}"


def quote_name(name: str) -> str:
    """Write a name in backticks."""
    return "`" + name.replace("`", "``") + "`"


def error(query: str, at: int, message: str) -> QueryError:
    """Make an error that says where in the query it is and shows that line."""
    before = query[:at]
    line, column = before.count("\n") + 1, at - (before.rfind("\n") + 1) + 1
    shown = query.splitlines()[line - 1] if query.splitlines()[line - 1 :] else ""
    return QueryError(f"line {line}, column {column}: {message}\n  {shown[:200]}")


def _skip(query: str, at: int) -> int:
    """Return the place after white space or one comment, or ``at`` when there is neither."""
    if query[at] in " \t\r\n":
        return at + 1
    if query.startswith("//", at):
        ends = [end for end in (query.find("\n", at), query.find("\r", at)) if end >= 0]
        return min(ends, default=len(query))
    if query.startswith("/*", at):
        end = query.find("*/", at + 2)
        if end < 0:
            raise error(query, at, "this comment is never closed")
        return end + 2
    return at


def _token(query: str, at: int, spaced: bool) -> Token:
    character = query[at]
    if character in "'\"":
        return _string(query, at, spaced)
    if character == "`":
        return _quoted(query, at, spaced)
    if character == "$":
        return _parameter(query, at, spaced)
    kind: Kind
    if number := _NUMBER.match(query, at):
        kind, text = "number", number[0]
    elif name := _NAME.match(query, at):
        kind, text = "name", name[0]
        # The Kelvin sign, the long s and the dotless i may pass for ASCII letters in a keyword.
        if not text.isascii() and (text.casefold().isascii() or text.upper().isascii()):
            raise error(query, at, f"put the name {text!r} in backticks")
    elif character in _PUNCTUATION or (character == "~" and query[at - 1 : at] == "="):
        kind, text = "punctuation", character
    else:
        raise error(query, at, f"the character {character!r} is not allowed outside of a string")
    return Token(kind, text, text, at, at + len(text), spaced)


def _string(query: str, at: int, spaced: bool) -> Token:
    value: list[str] = []
    mark, here = query[at], at + 1
    while here < len(query):
        character = query[here]
        if character == mark:
            text = quote("".join(value), mark)
            return Token("string", text, "".join(value), at, here + 1, spaced)
        if character == "\\":
            here += 1
            escaped = _ESCAPES.get(query[here : here + 1])
            if escaped is None:
                raise error(query, here - 1, "unknown escape in a string; write \\\\ for one \\")
            character = escaped
        value.append(character)
        here += 1
    raise error(query, at, "this string is never closed")


def _quoted(query: str, at: int, spaced: bool) -> Token:
    found = re.compile(r"`((?:[^`]|``)*)`").match(query, at)
    if not found or not found[1]:
        raise error(query, at, "this name in backticks is empty or never closed")
    name = found[1].replace("``", "`")
    if "\\" in name:
        raise error(query, at, "a name cannot have a backslash")
    return Token("quoted", quote_name(name), name, at, found.end(), spaced)


def _parameter(query: str, at: int, spaced: bool) -> Token:
    found = _PARAMETER.match(query, at)
    if not found:
        raise error(query, at, "a '$' stands before the name of a parameter only")
    name = found[1] if found[1] is not None else found[2].replace("``", "`")
    text = f"${name}" if found[1] is not None else "$" + quote_name(name)
    return Token("parameter", text, name, at, found.end(), spaced)


_PATTERN, _EXPRESSION = True, False
_LEAVE_PATTERN = "WHERE RETURN WITH UNWIND ORDER SKIP OFFSET LIMIT UNION CALL".split()
_BEFORE_PARENTHESIS = (
    "MATCH WHERE AND OR XOR NOT RETURN WITH DISTINCT BY THEN ELSE WHEN CASE IN UNWIND CONTAINS "
    "IS SKIP OFFSET LIMIT ANY ALL NONE SINGLE EXISTS"
).split()
_PATH_FUNCTIONS = ("SHORTESTPATH", "ALLSHORTESTPATHS")
_FUNCTIONS = frozenset(
    "abs acos asin atan atan2 avg btrim ceil char_length character_length coalesce collect cos "
    "count date date.truncate datetime datetime.fromepoch datetime.fromepochmillis "
    "datetime.truncate degrees duration duration.between duration.indays duration.inmonths "
    "duration.inseconds e elementid endnode exp floor head id isempty isnan keys labels last left "
    "length localdatetime localtime log log10 lower ltrim max min nodes normalize nullif "
    "percentilecont percentiledisc pi point point.distance properties radians rand range reduce "
    "relationships replace reverse right round rtrim sign sin size split sqrt startnode stdev "
    "stdevp substring sum tail tan time timestamp toboolean tobooleanlist tobooleanornull tofloat "
    "tofloatlist tofloatornull tointeger tointegerlist tointegerornull tolower tostring "
    "tostringlist tostringornull toupper trim type upper valuetype vector.similarity.cosine "
    "vector.similarity.euclidean".split()
)


def confine(query: str, parameter: str = SPACE_PARAMETER) -> str:
    """Return ``query`` with ``space: $parameter`` in every node pattern, without its comments.

    Raises :class:`QueryError`, saying what to do, for everything but a single reading statement.
    """
    tokens = tokenize(query)
    return _Confiner(query, tokens, parameter).run()


class _Confiner:
    """One rewrite. Walks the bracket tree knowing, at each level, whether it is in a pattern."""

    def __init__(self, query: str, tokens: Sequence[Token], parameter: str) -> None:
        self.query = query
        self.tokens = tokens
        self.pairs = brackets(query, tokens)
        self.property = f"space: ${parameter}"
        self.inserts: dict[int, str] = {}
        self.scopes: set[int] = set()

    def run(self) -> str:
        self._walk(0, len(self.tokens), _EXPRESSION)
        return render(self.tokens, self.inserts)

    def _walk(self, begin: int, end: int, in_pattern: bool) -> None:
        index = begin
        while index < end:
            token = self.tokens[index]
            if token.mark("("):
                self._parenthesis(index, in_pattern)
                index = self.pairs[index]
            elif token.mark("["):
                self._walk(index + 1, self.pairs[index], _EXPRESSION)
                index = self.pairs[index]
            elif token.mark("{"):
                self._walk(index + 1, self.pairs[index], self._is_subquery(index))
                index = self.pairs[index]
            elif token.word("MATCH") and not (
                self._mark(index - 1, ".") or self._mark(index + 1, ":")
            ):
                in_pattern = _PATTERN
            elif token.word(*_LEAVE_PATTERN) and not self._mark(index - 1, ".", ":", "|", "&"):
                if self._mark(index + 1, "="):
                    raise self._error(index, f"the name {token.value!r} needs backticks")
                in_pattern = _EXPRESSION
            index += 1

    def _parenthesis(self, index: int, in_pattern: bool) -> None:
        close = self.pairs[index]
        before = self.tokens[index - 1] if index else None
        if before and before.word("CALL"):
            if not self._mark(close + 1, "{"):
                raise self._error(index, "after CALL (...) comes a query in braces")
            self.scopes.add(close)
        elif in_pattern:
            self._in_pattern(index, close)
        elif before and before.named and not before.word(*_BEFORE_PARENTHESIS):
            self._function(index, close)
        elif self._may_be_node(index) and (self._after_arrow(index) or self._before_arrow(close)):
            self._restrict(index, close)
        else:
            self._walk(index + 1, close, _EXPRESSION)

    def _in_pattern(self, index: int, close: int) -> None:
        if self._may_be_node(index):
            self._restrict(index, close)
            return
        first, second = self.tokens[index + 1], self.tokens[index + 2]
        nested = first.mark("(") or (first.named and second.mark("="))
        if not nested and not first.word(*_PATH_FUNCTIONS):
            raise self._error(index, "this is not a node pattern such as (n:Label {key: value})")
        self._walk(index + 1, close, _PATTERN)

    def _function(self, index: int, close: int) -> None:
        first = index - 1
        while self._mark(first - 1, ".") and first >= 2 and self.tokens[first - 2].named:
            first -= 2
        name = "".join(token.value for token in self.tokens[first:index])
        if name.upper() in _PATH_FUNCTIONS:
            self._walk(index + 1, close, _PATTERN)
            return
        if name.lower() not in _FUNCTIONS:
            raise self._error(first, f"the function {name!r} is not available in an inspection")
        self._walk(index + 1, close, _EXPRESSION)

    # --- what is a node pattern ---------------------------------------------------------

    def _may_be_node(self, index: int) -> bool:
        """Whether the content of this parenthesis could be that of a node pattern."""
        first = self.tokens[index + 1]
        if _ends_name(first) or first.word("WHERE", "IS"):
            return True
        return first.named and _ends_name(self.tokens[index + 2])

    def _after_arrow(self, index: int) -> bool:
        if self._mark(index - 1, ">"):
            return self._mark(index - 2, "-")
        return self._mark(index - 1, "-") and self._mark(index - 2, "]", "-", "<", ")", "}")

    def _before_arrow(self, close: int) -> bool:
        if self._mark(close + 1, "<"):
            return self._mark(close + 2, "-")
        return self._mark(close + 1, "-") and self._mark(close + 2, "[", "-", ">", "(")

    def _is_subquery(self, index: int) -> bool:
        """Whether these braces hold patterns; a map, projection or quantifier does not."""
        before = self.tokens[index - 1] if index else None
        if before and before.word("EXISTS", "COUNT", "COLLECT", "CALL"):
            return _PATTERN
        if index - 1 in self.scopes:
            return _PATTERN
        first = self.tokens[index + 1]
        if first.named:
            return not self.tokens[index + 2].mark(":", ",", "}")
        return not (first.kind == "number" or first.mark("}", ".", ",", "*"))

    # --- restricting it -----------------------------------------------------------------

    def _restrict(self, index: int, close: int) -> None:
        here = index + 1
        if self.tokens[here].word("WHERE", "IS"):
            raise self._error(here, "name the node first, as in (n:Label WHERE ...)")
        here = self._after_labels(here + 1 if self.tokens[here].named else here, close)
        token = self.tokens[here]
        if token.kind == "parameter":
            raise self._error(here, "write the properties out, as in {name: $name}")
        if not token.mark("{"):
            gap = " " if here < close else ""
            self._insert(here, f" {{{self.property}}}{gap}")
            self._walk(here, close, _EXPRESSION)
            return
        end = self.pairs[here]
        self._check_keys(here, end)
        self._insert(here + 1, self.property if end == here + 1 else f"{self.property}, ")
        self._walk(here + 1, end, _EXPRESSION)
        if end + 1 < close and not self.tokens[end + 1].word("WHERE"):
            raise self._error(end + 1, "nothing but WHERE can follow the properties of a node")
        self._walk(end + 1, close, _EXPRESSION)

    def _after_labels(self, here: int, close: int) -> int:
        """Return the index of the property map, the WHERE or the end of a node pattern."""
        while here < close:
            token = self.tokens[here]
            if token.mark("{") or token.kind == "parameter":
                return here
            if token.word("WHERE") and not self._mark(here - 1, ":", "|", "&", "!"):
                return here
            if token.mark("("):
                here = self.pairs[here]
            elif not (token.named or token.mark(":", "|", "&", "!", "%")):
                raise self._error(here, "this cannot be part of a node pattern")
            here += 1
        return close

    def _check_keys(self, opening: int, end: int) -> None:
        here = opening + 1
        while here < end:
            key = self.tokens[here]
            if not (key.named and self._mark(here + 1, ":")):
                raise self._error(here, "a property is written key: value")
            if key.value == "space":
                raise self._error(here, "leave 'space' out; a query sees its own space only")
            here += 2
            while here < end and not self.tokens[here].mark(","):
                here = self.pairs[here] + 1 if self.tokens[here].mark("(", "[", "{") else here + 1
            here += 1

    def _insert(self, index: int, text: str) -> None:
        if index in self.inserts:
            raise self._error(index, "this pattern is not understood")
        self.inserts[index] = text

    def _mark(self, index: int, *marks: str) -> bool:
        return 0 <= index < len(self.tokens) and self.tokens[index].mark(*marks)

    def _error(self, index: int, message: str) -> QueryError:
        token = self.tokens[min(index, len(self.tokens) - 1)]
        return error(self.query, token.start, message)


def _ends_name(token: Token) -> bool:
    """Whether a node's name, or the lack of one, may be followed by this."""
    return token.mark(")", ":", "{") or token.kind == "parameter" or token.word("WHERE", "IS")


# --- The second line: the plan ------------------------------------------------------------

_REFUSED_OPERATORS = ("ProcedureCall", "LoadCSV", "CountFromCountStore", "Command", "Function")
_IDENTIFIER = r"(?:`(?:[^`]|``)+`|\w+)"
_FIRST_NODE = re.compile(rf"(?:[A-Z]+ )*({_IDENTIFIER})(?=$|:|,| WHERE)")
_ENDS = re.compile(rf"\(({_IDENTIFIER})\)")


def verify_plan(plan: Mapping[str, Any], parameter: str = SPACE_PARAMETER) -> None:
    """Refuse a plan (``summary.plan`` of an EXPLAIN) that reads beyond the space.

    Every operator that starts from the store (a scan or a seek) must bind a node that some
    predicate of the plan, or its own index, compares with the space. Nodes reached from there
    by relationships are in the same space by construction. Raises :class:`QueryError`.
    """
    operators = list(_operators(plan))
    details = [str(operator.get("args", {}).get("Details", "")) for operator in operators]
    everything = "\n".join(details).replace("`", "")
    for operator, detail in zip(operators, details, strict=True):
        name = str(operator["operatorType"]).split("@")[0]
        if any(word in name for word in _REFUSED_OPERATORS):
            raise QueryError(f"the server would run {name}, which is not confined to one space")
        if operator.get("children") or not ("Scan" in name or "Seek" in name):
            continue
        if re.search(rf"(?<![.\w])space = \${parameter}\b", detail):
            continue
        nodes = _nodes_of(name, detail)
        if not nodes or not all(_is_compared(node, everything, parameter) for node in nodes):
            raise QueryError(
                f"the server would read nodes of other spaces ({name} {detail}); "
                "write the patterns in a simpler form"
            )


def _operators(plan: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield plan
    for child in plan.get("children") or ():
        yield from _operators(child)


def _nodes_of(name: str, detail: str) -> list[str]:
    if "Relationship" in name:
        return _ENDS.findall(detail)
    found = _FIRST_NODE.match(detail)
    return [found[1]] if found else []


def _is_compared(node: str, everything: str, parameter: str) -> bool:
    plain = re.escape(node.replace("`", ""))
    pattern = rf"(?<![\w.]){plain}\.space\]? = \${parameter}\b"
    return re.search(pattern, everything) is not None
