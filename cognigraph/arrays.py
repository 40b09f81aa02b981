"""Array types of the stores."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float32]
"""Unit length, so that a dot product is a cosine."""

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
