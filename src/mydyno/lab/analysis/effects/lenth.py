"""An error without repetitions, where most effects may be taken for none.

Source: R. V. Lenth, Quick and Easy Analysis of Unreplicated Factorials, Technometrics 31, 1989.
"""

from __future__ import annotations

import numpy as np

from mydyno.lab.analysis.effects.algebra import Numbers

FEWEST = 7
"""Contrasts that the median is to be taken of: those of eight runs, Lenth's smallest case."""


def lenth_error(contrasts: Numbers) -> tuple[float, float]:
    """(mean square, degrees of freedom) from orthogonal contrasts, each of one degree of freedom.

    The pseudo standard error: 1.5 times the median size of the contrasts, those left out that are beyond 2.5
    times a first such guess. Its square is the mean square; degrees of freedom are a third of the contrasts.
    """
    sizes = np.abs(contrasts)
    guess = 1.5 * np.median(sizes)
    kept = sizes[sizes < 2.5 * guess]
    error = 1.5 * np.median(kept) if kept.size else guess
    return float(error**2), contrasts.size / 3
