"""The rankings as a table of text."""

from __future__ import annotations

from collections.abc import Sequence

from mydyno.core.factors import last_part
from mydyno.lab.report.views.ranks import Rank
from mydyno.page.table import Table

CAPTION = (
    "Best first. “>”: every level before it is shown to be better than every one behind it. Levels that are "
    "not distinguishable need not be equal; pairs among them that do differ are named. Compared is only what "
    "differs in this factor alone, in the same block. Levels of different durability are ranked apart."
)


def ranks_table(ranks: Sequence[Rank]) -> Table:
    rows = tuple(
        (
            last_part(rank.ranking.factor),
            rank.scope,
            rank.ranking.display + (f"; {rank.without}" if rank.without else ""),
            rank.metric,
            rank.ranking.test,
        )
        for rank in ranks
    )
    return Table(("factor", "within", "order", "in", "test"), rows, frozenset(range(5)))
