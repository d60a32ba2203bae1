"""Many comparisons, one promise: Holm's step-down correction.

Source: S. Holm, A Simple Sequentially Rejective Multiple Test Procedure, Scandinavian Journal of Statistics
6, 1979. It keeps the chance of even one false alarm in the family at or below the level, whatever the
dependence between the comparisons (phases of the same trials are dependent), and rejects never less than
Bonferroni's.
"""

from collections.abc import Sequence


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Adjusted p-values in the order given; compare each with the level of the whole family.

    None (a comparison that could not be tested) stays None and does not count towards the family.
    """
    tested = sorted((p, position) for position, p in enumerate(p_values) if p is not None)
    adjusted: list[float | None] = [None] * len(p_values)
    highest = 0.0
    for rank, (p, position) in enumerate(tested):
        highest = max(highest, min(1.0, p * (len(tested) - rank)))
        adjusted[position] = highest
    return adjusted
