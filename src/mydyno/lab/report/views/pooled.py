"""Latencies of all valid trials of a point together, from their histograms added up.

The mean of percentiles is a percentile of nothing. In the distribution that users of a point met, every
query counts once, so a trial that answered more of them weighs more. Intervals of a percentile still come
from trials: queries of one trial are not independent.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from mydyno.lab.analysis.observations import Place, place_of
from mydyno.lab.report.evidence import Evidence
from mydyno.lab.results.records import Latency
from mydyno.lab.sampling.histograms import merged


def pooled(evidence: Evidence) -> Mapping[tuple[str, Place], Latency]:
    """(point, place) -> the latencies of its queries; without those of which a valid trial lacks its
    histogram."""
    parts: dict[tuple[str, Place], list[str | None]] = defaultdict(list)
    for trial in evidence.valid:
        kept = evidence.series_of(trial).histograms("queries")
        for phase in trial.phases:
            if phase.queries:
                parts[trial.point_id, place_of(phase)].append(kept.get(phase.index))
    latencies: dict[tuple[str, Place], Latency] = {}
    for where, histograms in parts.items():
        known = [one for one in histograms if one is not None]
        if len(known) < len(histograms):
            continue
        try:
            whole = merged(known)
        except ValueError:
            continue
        if whole is not None:
            latencies[where] = whole.latency()
    return latencies
