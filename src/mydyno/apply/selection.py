"""Which findings of an advice are to be carried out: pure."""

from collections.abc import Collection, Sequence

from mydyno.apply.finding import Finding
from mydyno.core.errors import UsageError
from mydyno.core.nearest import did_you_mean


def select(
    findings: Sequence[Finding], only: Collection[str], without: Collection[str]
) -> tuple[Finding, ...]:
    """The findings of the rules in `only` (empty: all) but those in `without`.

    Raises UsageError for an id that the advice does not have, with the nearest ones.
    """
    ids = [finding.rule for finding in findings]
    for wanted in (*only, *without):
        if wanted not in ids:
            raise UsageError(
                f"the advice has no finding {wanted}",
                did_you_mean(wanted, ids, f"it has {', '.join(ids) or 'none at all'}"),
            )
    return tuple(each for each in findings if (not only or each.rule in only) and each.rule not in without)


def ids_of(text: str | None) -> tuple[str, ...]:
    """`swappiness,redo-capacity` as an option gives it."""
    return tuple(part.strip() for part in (text or "").split(",") if part.strip())
