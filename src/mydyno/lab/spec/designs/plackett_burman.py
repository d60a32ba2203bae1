"""Plackett-Burman designs: k factors of two levels in the next multiple of four above k runs.

Main effects are estimated each from all runs, and independent of each other; interactions of two factors are
mixed into them. For finding the few factors that matter among many.

Source: R. L. Plackett and J. P. Burman, The Design of Optimum Multifactorial Experiments, Biometrika 33,
1946. The first rows below are theirs; the further rows are that one turned, and the last has low levels only.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Signs = NDArray[np.int8]
"""Run x factor: -1 for the first level, +1 for the second."""

_FIRST_ROWS = {
    4: "++-",
    8: "+++-+--",
    12: "++-+++---+-",
    16: "++++-+-++--+---",
    20: "++--++++-+-+----++-",
    24: "+++++-+-++--++--+-+----",
}
MOST_FACTORS = max(_FIRST_ROWS) - 1


def plackett_burman(factors: int) -> Signs:
    """The runs for 2 to 23 factors, the one with every factor at its first level among them."""
    runs = next(size for size in _FIRST_ROWS if size > factors)
    first = np.array([1 if sign == "+" else -1 for sign in _FIRST_ROWS[runs]], dtype=np.int8)
    turned = [np.roll(first, places) for places in range(runs - 1)]
    every: Signs = np.vstack([*turned, np.full(runs - 1, -1, dtype=np.int8)])
    return every[:, :factors]
