"""Warnings are errors in every test, except for one that depends on the moment."""

from __future__ import annotations

import importlib
import warnings
from importlib.util import find_spec

import pytest


def test_a_warning_is_an_error() -> None:
    with pytest.raises(UserWarning, match="look"):
        warnings.warn("look", stacklevel=1)


@pytest.mark.skipif(find_spec("socks") is not None, reason="PySocks is installed: no warning")
def test_a_thread_may_import_requests_at_any_moment() -> None:
    """What requests imports raises an ImportError if a package is missing, never a warning."""
    with pytest.raises(ImportError):
        importlib.import_module("urllib3.contrib.socks")
