"""Check the execution plan of a query on Neo4j: no operator may read beyond one space.

The plan is the server's own interpretation of the query, so this check does not depend on how this
package parses it. Every operator must be known. Nodes that an operator reads from the store (by a
scan or an index) are *pending* until a filter ``node.space = $parameter`` has confined them to the
space. The filter counts only on the path from that operator to the root of the plan, because the
same variable in another branch may be another node. While nodes are pending, the server may run
nothing that could fail or return data: only filters that cannot raise an error
(:mod:`cognigraph.cypher.guard.quiet`), and operators that merely combine rows. Nodes reached by a
relationship from a confined node are in the same space, because no relationship joins two spaces.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cognigraph.cypher.guard.lexer import QueryToken, tokenize
from cognigraph.cypher.guard.quiet import conjuncts, is_quiet
from cognigraph.cypher.guard.readonly import GENERATED, SPACE_PARAMETER
from cognigraph.errors import QueryError

Pending = tuple[frozenset[str], ...]
"""Variables of nodes that may be in another space: one group per operator that read them."""

_SCANS = frozenset(
    "AllNodesScan NodeByLabelScan UnionNodeByLabelsScan IntersectionNodeByLabelsScan "
    "SubtractionNodeByLabelsScan NodeByIdSeek NodeByElementIdSeek NodeIndexScan NodeIndexSeek "
    "NodeUniqueIndexSeek NodeIndexSeekByRange NodeUniqueIndexSeekByRange NodeIndexContainsScan "
    "NodeIndexEndsWithScan DirectedAllRelationshipsScan UndirectedAllRelationshipsScan "
    "DirectedRelationshipTypeScan UndirectedRelationshipTypeScan "
    "DirectedUnionRelationshipTypesScan UndirectedUnionRelationshipTypesScan "
    "DirectedRelationshipByElementIdSeek UndirectedRelationshipByElementIdSeek "
    "DirectedRelationshipByIdSeek UndirectedRelationshipByIdSeek".split()
)
_SEMI_APPLIES = frozenset(
    "SemiApply AntiSemiApply SelectOrSemiApply SelectOrAntiSemiApply LetSemiApply "
    "LetAntiSemiApply LetSelectOrSemiApply LetSelectOrAntiSemiApply".split()
)
_APPLIES = frozenset(
    "Apply RollUpApply ConditionalApply AntiConditionalApply TriadicSelection TriadicBuild "
    "TriadicFilter".split()
)
_JOINS = frozenset("CartesianProduct NodeHashJoin".split())
_REPEATING = re.compile(
    r"(Trail|BidirectionalTrail|Repeat\([A-Za-z, ]+\)|BidirectionalRepeat\([A-Za-z, ]+\))"
)
_HARMLESS = re.compile(
    r"ProduceResults?|Projection|Distinct|OrderedDistinct|EagerAggregation|OrderedAggregation|Sort|"
    r"PartialSort|Top|PartialTop|Limit|ExhaustiveLimit|Skip|Eager|EmptyRow|Optional|Unwind|Union|"
    r"OrderedUnion|Expand\((All|Into)\)|OptionalExpand\((All|Into)\)|EmptyResult|PreserveOrder|"
    r"VarLengthExpand\([A-Za-z, ]+\)|PruningVarLengthExpand|BFSPruningVarLengthExpand|"
    r"ShortestPath|StatefulShortestPath\((All|Into)(, Trail|, Walk)?\)|ValueHashJoin|"
    r"(Node)?(Left|Right)OuterHashJoin|AssertSameNode|ProjectEndpoints|Anti|Prober|"
    r"NullifyMetadata|PathPropagatingBFS|Argument|Filter"
)
_HIDDEN = re.compile(r"\b(?:COLLECT|COUNT|EXISTS)\s*\{", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Operator:
    """An operator of the plan: its name without the database, its details and its children."""

    name: str
    details: str
    children: tuple[Mapping[str, Any], ...]

    @classmethod
    def of(cls, plan: Mapping[str, Any]) -> _Operator:
        details = str(plan.get("args", {}).get("Details", ""))
        name = str(plan["operatorType"]).split("@")[0]
        return cls(name, details, tuple(plan.get("children") or ()))


def verify_plan(
    plan: Mapping[str, Any], parameter: str = SPACE_PARAMETER, lists: Collection[str] = ()
) -> None:
    """Refuse a plan (``summary.plan`` of an EXPLAIN) that reads beyond the space.

    ``lists`` names the parameters of the query that hold lists. Raises :class:`QueryError`.
    """
    left = _PlanChecker(parameter, lists).pending(plan, ())
    if left:
        raise _beyond(f"nodes {', '.join(sorted(set().union(*left)))}")


class _PlanChecker:
    """Walks a plan from its leaves; ``outer`` are the nodes pending at the start of a branch."""

    def __init__(self, parameter: str, lists: Collection[str]) -> None:
        self.parameter, self.lists = parameter, lists

    def pending(self, plan: Mapping[str, Any], outer: Pending) -> Pending:
        """Return the groups of nodes that are pending in the rows of this operator."""
        operator = _Operator.of(plan)
        if _HIDDEN.search(operator.details):
            raise QueryError(
                f"the plan does not show how a subquery inside {operator.name} is run; name its "
                "result with AS, and move it out of the list, CASE or function around it"
            )
        if operator.name in _SCANS:
            return self._scan(operator, outer)
        if operator.name == "Argument":
            return outer
        if operator.name in _SEMI_APPLIES or operator.name in _APPLIES:
            return self._apply(operator, outer)
        if operator.name in _JOINS:
            return self._join(operator, outer)
        if _REPEATING.fullmatch(operator.name):
            return self._repeat(operator, outer)
        return self._plain(operator, outer)

    def _plain(self, operator: _Operator, outer: Pending) -> Pending:
        below = self._merged(operator, outer)
        if operator.name == "Filter":
            return self._filter(operator, below)
        if operator.name == "CacheProperties":
            return below
        if not _HARMLESS.fullmatch(operator.name):
            raise QueryError(
                f"the server would run {operator.name}, which is not confined to one space"
            )
        quiet = operator.name in ("Expand(All)", "Expand(Into)") and "WHERE" not in operator.details
        if below and not quiet:
            raise _beyond(f"{operator.name} {operator.details}")
        return below

    def _merged(self, operator: _Operator, outer: Pending) -> Pending:
        if not operator.children:
            return outer
        groups = [group for child in operator.children for group in self.pending(child, outer)]
        return tuple(dict.fromkeys(groups))

    def _scan(self, operator: _Operator, outer: Pending) -> Pending:
        tokens = _tokens(operator.details)
        if operator.children or (outer and "Seek" in operator.name):
            raise _beyond(f"{operator.name} {operator.details}")
        if "Index" in operator.name and self._seeks_space(tokens):
            return outer
        nodes = _nodes(operator.name, tokens)
        if not nodes or any(nodes & group for group in outer):
            raise _beyond(f"{operator.name} {operator.details}")
        return (*outer, nodes)

    def _seeks_space(self, tokens: Sequence[QueryToken]) -> bool:
        """Whether an index seek already restricts the nodes to the space."""
        where = next((i for i, token in enumerate(tokens) if token.word("WHERE")), len(tokens))
        condition = tokens[where + 1 :]
        if any(token.word("OR", "XOR", "NOT", "WHERE") for token in condition):
            return False
        return any(self._is_space(part[:3]) for part in conjuncts(condition) if _ends(part, 3))

    def _apply(self, operator: _Operator, outer: Pending) -> Pending:
        first, second = operator.children
        left = self.pending(first, outer)
        if left and operator.name not in _SEMI_APPLIES and operator.name != "Apply":
            raise _beyond(f"{operator.name} {operator.details}")
        right = self.pending(second, left)
        if operator.name not in _SEMI_APPLIES:
            return right
        if left and operator.details and not self._is_safe_beside_patterns(operator.details, left):
            raise _unsafe(operator)
        if set(right) - set(left):
            raise _beyond(f"{operator.name} {operator.details}")
        return left

    def _is_safe_beside_patterns(self, details: str, left: Pending) -> bool:
        """Whether the condition of an OR or NOT beside patterns cannot fail.

        The server keeps whether the rows match one pattern under a name of its own.
        """
        tokens = _tokens(details)
        if len(tokens) == 1 and tokens[0].named and GENERATED.fullmatch(tokens[0].value):
            return True
        return self._is_safe(tokens, left)

    def _join(self, operator: _Operator, outer: Pending) -> Pending:
        # The server runs the second branch only if the first returns a row. An error in the second
        # would therefore reveal that the first found a node, so its pending nodes count there too.
        first, second = operator.children
        return self.pending(second, self.pending(first, outer))

    def _repeat(self, operator: _Operator, outer: Pending) -> Pending:
        first, second = operator.children
        if self.pending(first, outer) or self.pending(second, ()):
            raise _beyond(f"{operator.name} {operator.details}")
        return ()

    def _filter(self, operator: _Operator, below: Pending) -> Pending:
        if not below:
            return ()
        confined: set[str] = set()
        equal: list[tuple[str, str]] = []
        for part in conjuncts(_tokens(operator.details)):
            node = self._space_of(part)
            if node is not None:
                confined.add(node)
            elif not self._is_safe(part, below):
                raise _unsafe(operator)
            elif len(part) == 3 and part[0].named and part[1].mark("=") and part[2].named:
                equal.append((part[0].value, part[2].value))
        confined |= _equal_to_confined(equal, set().union(*below) - confined)
        return tuple(group for group in below if not group <= confined)

    def _is_safe(self, part: Sequence[QueryToken], below: Pending) -> bool:
        return is_quiet(part, self.lists) or all(self._guarded_by(part) & group for group in below)

    def _guarded_by(self, part: Sequence[QueryToken]) -> set[str]:
        """Return the nodes whose space ``CASE WHEN node.space = $p ... THEN`` tests first.

        The condition after THEN is evaluated only for nodes of the space, provided that the CASE
        has a single WHEN and that its ELSE, if any, is a literal.
        """
        if len(part) > 2 and part[0].word("COERCETOPREDICATE"):
            part = part[2:-1]
        words = [i for i, token in enumerate(part) if token.word("WHEN", "THEN", "ELSE", "END")]
        if len(part) < 4 or not (part[0].word("CASE") and part[1].word("WHEN")):
            return set()
        then = words[1]
        if not part[then].word("THEN") or not _is_single_case(part):
            return set()
        found = (self._space_of(test) for test in conjuncts(part[2:then]))
        return {node for node in found if node is not None}

    def _space_of(self, part: Sequence[QueryToken]) -> str | None:
        """Return the node in ``node.space = $parameter``, also for a cached property, else None."""
        node, rest = list(part[:-4]), list(part[-4:])
        if len(part) > 7 and part[0].word("CACHE", "CACHEN", "CACHEFROMSTORE"):
            if not (part[1].mark("[") and part[-3].mark("]")):
                return None
            node, rest = list(part[2:-5]), [*part[-5:-3], *part[-2:]]
        if not (node and rest[0].mark(".") and self._is_space(rest[1:])):
            return None
        if len(node) == 1:
            return node[0].value if node[0].named else None
        return _unquoted(node) if part[0].word("CACHE", "CACHEN", "CACHEFROMSTORE") else None

    def _is_space(self, tokens: Sequence[QueryToken]) -> bool:
        name, equals, value = tokens if len(tokens) == 3 else (None, None, None)
        return (
            name is not None
            and equals is not None
            and value is not None
            and (name.named and name.value == "space" and equals.mark("="))
            and (value.kind == "parameter" and value.value == self.parameter)
        )


def _equal_to_confined(equal: Sequence[tuple[str, str]], pending: Collection[str]) -> set[str]:
    """Return the pending nodes that a filter compares with a node that is in the space."""
    left = set(pending)
    for _ in equal:  # each may lead to the next one
        left -= {x for pair in equal for x, y in (pair, pair[::-1]) if x in left and y not in left}
    return set(pending) - left


def _unquoted(tokens: Sequence[QueryToken]) -> str | None:
    """Join a name of several words, which plans show without backticks in cached properties."""
    if not all(token.kind == "name" for token in tokens):
        return None
    return " ".join(token.value for token in tokens)


def _is_single_case(part: Sequence[QueryToken]) -> bool:
    """Whether the tokens are exactly one CASE, with one WHEN and at most a literal after ELSE."""
    depth, whens = 0, 0
    for index, token in enumerate(part):
        depth += token.word("CASE")
        depth -= token.word("END")
        if depth == 0 and index != len(part) - 1:
            return False
        whens += depth == 1 and token.word("WHEN")
        if depth == 1 and token.word("ELSE") and index != len(part) - 3:
            return False
    return whens == 1 and depth == 0


def _ends(part: Sequence[QueryToken], length: int) -> bool:
    """Whether an index condition has this length; cached properties may follow after a comma."""
    return len(part) == length or (len(part) > length and part[length].mark(","))


def _tokens(details: str) -> list[QueryToken]:
    try:
        return tokenize(details)
    except QueryError as problem:
        raise QueryError(
            f"a part of the server's plan cannot be parsed ({details[:100]}); "
            "write the query in a simpler form"
        ) from problem


def _nodes(name: str, tokens: Sequence[QueryToken]) -> frozenset[str]:
    """Return the variables of the nodes that a scan or seek reads, from its details."""
    if "Relationship" in name:
        found = [
            tokens[i + 1].value
            for i in range(len(tokens) - 2)
            if tokens[i].mark("(") and tokens[i + 1].named and tokens[i + 2].mark(")")
        ]
        return frozenset(found) if len(found) == 2 else frozenset()
    start = 0
    while start < len(tokens) - 1 and tokens[start].named and tokens[start + 1].named:
        if tokens[start + 1].word("WHERE"):
            break
        start += 1  # the kind of index, such as "RANGE INDEX" or "UNIQUE"
    first = tokens[start]
    return frozenset([first.value]) if first.named else frozenset()


def _beyond(what: str) -> QueryError:
    return QueryError(
        f"the server would read nodes of other spaces ({what}); "
        "write the patterns in a simpler form"
    )


def _unsafe(operator: _Operator) -> QueryError:
    return QueryError(
        "the server would evaluate a condition that can fail on nodes of other spaces "
        f"({operator.name} {operator.details}); move it out of OR and away from patterns"
    )
