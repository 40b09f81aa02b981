"""Type aliases for numpy arrays."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float32]
"""Vectors of unit length, so that a dot product is a cosine."""

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
