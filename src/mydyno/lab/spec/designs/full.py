"""All combinations of levels that the experiment allows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mydyno.lab.spec.factors import Factor

Levels = dict[str, str]
"""Factor -> level; a nested factor is missing where it does not apply."""


def full(factors: Sequence[Factor]) -> Iterator[Levels]:
    """All of them; the last factor varies fastest. A nested factor comes after those it is nested in."""
    return _below(factors, {})


def _below(factors: Sequence[Factor], chosen: Levels) -> Iterator[Levels]:
    if not factors:
        yield chosen
        return
    factor, *rest = factors
    if factor.applies(chosen):
        for level in factor.levels:
            yield from _below(rest, {**chosen, factor.name: level.name})
    else:
        yield from _below(rest, chosen)
