"""Parse the patterns (nodes, relationships, paths) of a query and add the space to every node.

The parser also records which nodes each variable depends on, for a relationship its start and end,
so that conditions on the variable can be guarded by a test of their space.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cognigraph.cypher.guard.grammar import Expressions
from cognigraph.cypher.guard.lexer import QueryToken
from cognigraph.settings import QuerySettings


class Patterns(Expressions):
    """Parses patterns and records the text to insert before each token."""

    def __init__(
        self,
        query: str,
        tokens: Sequence[QueryToken],
        parameter: str,
        parameters: Mapping[str, Any],
        limits: QuerySettings,
    ) -> None:
        super().__init__(query, tokens, parameters, limits)
        self.parameter, self.lists = parameter, list_names(parameters)
        self.property = f"space: ${parameter}"
        self.node_entries = False
        self.nodes: dict[str, list[str]] = {}
        """Per variable, the node variables that determine its space: a node's own, or the ends."""

    def path(self) -> None:
        """Parse one path pattern, including its name if it has one."""
        path = None
        if self.token().named and self.mark("=", ahead=1):
            path = self.name("a path variable")
            self.at += 1
        begin = self.at
        self._chain()
        if path:
            self.nodes[path] = self._named_between(begin, self.at)

    def _named_between(self, begin: int, end: int) -> list[str]:
        return list(
            dict.fromkeys(
                token.text
                for token, before in zip(
                    self.tokens[begin:end], self.tokens[begin - 1 : end], strict=False
                )
                if token.named and before.mark("(") and token.text in self.nodes
            )
        )

    def _chain(self) -> None:
        """Parse alternating nodes and relationships."""
        before = self._element()
        while self._arrow_here():
            relationship = self._relationship()
            after = self._element()
            if relationship:
                self.nodes[relationship] = [name for name in (before, after) if name]
            before = after

    def _element(self) -> str | None:
        """Parse a node pattern; return the node's variable, if any."""
        if not self.mark("(") or not self._may_be_node(self.at):
            raise self.error("this is not a node pattern such as (n:Label {key: value})")
        first = self.peek(1)
        self.enter(self._node)
        return first.text if first.named and first.text in self.nodes else None

    def _arrow_here(self) -> bool:
        if self.marks("<-"):
            return True
        return self.mark("-") and self.mark("[", "-", ">", ahead=1)

    def _relationship(self) -> str | None:
        """Parse an arrow with or without details; return the relationship's variable, if any."""
        self.take_mark("<")
        self.at += 1
        found: str | None = None
        if self.mark("["):
            first = self.peek(1)
            if first.named and not first.word("WHERE", "IS"):
                found = first.text
            self.enter(self._relationship_details)
        if not self.take_mark("-"):
            raise self.error("this is not a valid arrow")
        self.take_mark(">")
        return found

    def _relationship_details(self) -> None:
        if self.token().named and not self.word("WHERE", "IS"):
            self.name("a variable")
        if self.take_mark(":") or self.take_word("IS"):
            self.label_expression()
        if self.take_mark("*"):
            self._length()
        if self.mark("{"):
            self.enter(self.entries)
        elif self.token().kind == "parameter":
            raise self.error("write the properties out, as in {name: $name}")
        if self.take_word("WHERE"):
            self.expression()

    def _length(self) -> None:
        if self.token().kind == "number":
            self.at += 1
        if self.marks(".."):
            self.at += 2
            if self.token().kind == "number":
                self.at += 1

    def pattern_operand(self) -> bool:
        """Parse a pattern used as an expression; return False, and parse nothing, if there is none.

        It needs an arrow, as in ``(a)-->(b)``: a single node in parentheses is no pattern here.
        """
        close = self.pairs[self.at]
        if not self._may_be_node(self.at):
            return False
        begin, self.at = self.at, close + 1
        arrow = self._arrow_here()
        self.at = begin
        if arrow:
            self._chain()
        return arrow

    def _may_be_node(self, opening: int) -> bool:
        """Whether the content of this parenthesis can be that of a node pattern."""
        first = self.tokens[opening + 1]
        if _ends_name(first) or first.word("WHERE", "IS"):
            return True
        return first.named and _ends_name(self.tokens[opening + 2])

    def _node(self) -> None:
        if self.word("WHERE", "IS"):
            raise self.error("name the node first, as in (n:Label WHERE ...)")
        if self.token().named:
            name = self.name("a variable")
            self.nodes[name] = [name]
        if self.take_mark(":") or self.take_word("IS"):
            self.label_expression()
        if self.token().kind == "parameter":
            raise self.error("write the properties out, as in {name: $name}")
        if self.mark("{"):
            self._node_properties()
        else:
            gap = "" if self.mark(")") else " "
            self.insert(self.at, f" {{{self.property}}}{gap}")
        if self.take_word("WHERE"):
            self.condition()
        elif not self.mark(")"):
            what = "only WHERE can follow the properties of a node"
            raise self.error(what if self.mark("}", ahead=-1) else "this cannot be part of a node")

    def _node_properties(self) -> None:
        empty = self.mark("}", ahead=1)
        self.insert(self.at + 1, self.property if empty else f"{self.property}, ")
        self.enter(self._node_entries)

    def _node_entries(self) -> None:
        outside, self.node_entries = self.node_entries, True
        self.entries()
        self.node_entries = outside

    def key(self) -> None:
        """Parse the key of an entry; refuse ``space`` among the properties of a node."""
        if self.node_entries and self.token().value == "space":
            raise self.error("leave 'space' out; a query can only read its own space")
        super().key()

    def insert(self, index: int, text: str) -> None:
        """Record that ``text`` is to be inserted before the token at ``index``."""
        self.inserts[index] = self.inserts.get(index, "") + text


def _ends_name(token: QueryToken) -> bool:
    """Whether this token can follow the variable of a node, or stand where it is missing."""
    return token.mark(")", ":", "{") or token.kind == "parameter" or token.word("WHERE", "IS")


def list_names(parameters: Mapping[str, Any]) -> frozenset[str]:
    """Return the names of the parameters that are lists: ``x IN $p`` fails for any other."""
    return frozenset(n for n, value in parameters.items() if isinstance(value, (list, tuple)))
