"""What a trial on a server that is not mydyno's must look out for: other people. Pure."""

from collections.abc import Iterator, Mapping, Sequence

import polars as pl

from mydyno.lab.load import messages
from mydyno.lab.results.records import Remark

OTHERS_SHARE = 0.02
"""Part of our own statements above which those of others are worth a remark."""
OTHERS_A_SECOND = 2.0
"""Statements a second of others that are always there: monitoring, replication."""
OTHERS_AT_LEAST = 50
"""Statements below which there is no remark: as many of ours may be under way at the first and last one."""


def changed_meanwhile(
    asked: Mapping[str, object], before: Mapping[str, str], after: Mapping[str, str]
) -> list[str]:
    """A sentence for each configured setting that has another value at the end of the load than before it."""
    return [
        f"{name}: {before.get(name)} at the start of the load and {after.get(name)} at its end: another "
        "session has set it: left unchanged"
        for name in asked
        if before.get(name) != after.get(name)
    ]


def other_traffic(
    questions: float | None,
    intervals: Sequence[messages.Interval],
    samples: Sequence[messages.Sample],
) -> Iterator[Remark]:
    """A remark when the server got more statements while it was sampled than the load and the sampler sent.

    `questions`: the growth of the server's own count of statements, None when it is not known. Nothing is
    said of a load that reports no intervals.
    """
    if questions is None or not intervals or len(samples) < 2:
        return
    ours = sum(interval.queries + interval.errors for interval in intervals) + len(samples)
    seconds = (samples[-1].t_ns - samples[0].t_ns) / 1e9
    others = questions - ours
    if others > max(OTHERS_AT_LEAST, OTHERS_SHARE * ours + OTHERS_A_SECOND * seconds):
        yield Remark(
            check="other-traffic",
            message=f"other clients sent the server about {others:,.0f} statements in {seconds:.0f} s, "
            f"the load {ours:,}",
        )


def without_client(samples: pl.DataFrame) -> pl.DataFrame:
    """The samples without the engine's own counters, where it only sampled and others drove the load."""
    return samples.drop([name for name in samples.columns if name.startswith("client.")])


def without_host(samples: pl.DataFrame) -> pl.DataFrame:
    """The samples without the counters of this machine, which is not the server's."""
    return samples.drop([name for name in samples.columns if name.startswith(("host.", "disk."))])
