"""What ``make release`` is made of."""

from __future__ import annotations

import runpy
from types import SimpleNamespace

from tests.pages import ROOT

release = SimpleNamespace(**runpy.run_path(str(ROOT / ".ci" / "release.py")))
