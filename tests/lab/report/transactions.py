"""Runs whose phases know the transactions of each name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from lab.report.builders import MemoryRun, latency

ORDER_ENTRY: Mapping[str, float] = {
    "delivery": 0.04,
    "new_order": 0.45,
    "order_status": 0.04,
    "payment": 0.43,
    "stock_level": 0.04,
}
"""Name -> share of the transactions."""


def with_transactions(run: MemoryRun, shares: Mapping[str, float] = ORDER_ENTRY) -> MemoryRun:
    """`run` with transactions of these names; the rarer a name, the longer its transactions take."""
    records = tuple(
        replace(
            trial,
            phases=tuple(
                replace(
                    phase,
                    transactions_by_name={
                        name: latency(
                            round((phase.transactions or 0) * share),
                            (phase.latency.mean_ns or 0) * (3 - 2 * share),
                        )
                        for name, share in shares.items()
                    },
                )
                for phase in trial.phases
            ),
        )
        for trial in run.records
    )
    return replace(run, records=records)
