"""Sealed numbers: each stands for one number and says nothing about it."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from cognigraph.stores.sqlite.messages import LARGEST, seal, unseal

KEY, OTHER = b"k" * 16, b"o" * 16
AT = 1_781_085_900_000_000


@given(st.integers(0, LARGEST), st.integers(-(2**53), 2**53))
def test_what_is_sealed_is_found_again_with_the_key_only(number: int, at: int) -> None:
    sealed = seal(number, KEY, at)
    assert 0 <= sealed <= LARGEST < 10**18
    assert unseal(sealed, KEY, at) == number


def test_neither_size_nor_order_nor_distance_is_seen() -> None:
    sealed = [seal(number, KEY, AT) for number in range(1, 2001)]
    assert len(set(sealed)) == 2000
    assert sum(a < b for a, b in pairwise(sealed)) in range(850, 1150)
    assert min(sealed) > 2000
    assert len({seal(7, KEY, AT), seal(7, KEY, AT + 1), seal(7, OTHER, AT)}) == 3


@given(st.integers(0, 10**18))
def test_a_number_that_nobody_sealed_is_some_position(number: int) -> None:
    assert 0 <= unseal(number, KEY, AT) <= LARGEST
