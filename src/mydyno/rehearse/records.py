"""What a rehearsal has shown, as `mydyno rehearse --json` writes it."""

from typing import Literal

from mydyno.core.record import Record
from mydyno.queries.records import Plan

Timing = Literal["slower", "faster", "same", "unclear", "not timed"]
"""`same`: the interval lies within the margin; `unclear`: neither that nor a difference is shown."""


class Times(Record):
    """Service times of one statement, or of the whole trace, on both sides."""

    timing: Timing
    ratio: float | None = None
    """Other over baseline: geometric mean over executions, then over repetitions."""
    low: float | None = None
    high: float | None = None
    """95% interval of the ratio over repetitions; None below three of them."""
    p: float | None = None
    """Of "the ratio is 1", corrected (Holm) for all statements that were tested."""
    repetitions: int = 0
    baseline_us: float | None = None
    other_us: float | None = None
    """Mean of one execution, in microseconds."""


class Failure(Record):
    """An error that one side has in every repetition and the other in none."""

    number: int
    message: str
    executions: int
    first: int
    """Number of the first such statement in the trace."""
    reason: str | None = None
    """What it comes from, where the number shows it."""


class OtherResult(Record):
    executions: int
    """How many return something else on the other side, in every repetition."""
    first: int
    """Number of the first in the trace."""
    rows: tuple[int, int]
    """Of that one, on both sides; of a statement that writes, the rows that it changed."""
    note: str | None = None


class StatementComparison(Record):
    """One fingerprint on both sides."""

    id: str
    text: str
    example: str
    schema_name: str | None = None
    executions: int
    """That were replayed on both sides."""
    shares: tuple[float, float]
    """Of the time of the trace, on both sides."""
    times: Times
    fails: tuple[Failure, ...] = ()
    repaired: tuple[Failure, ...] = ()
    """Errors that only the baseline has."""
    other_result: OtherResult | None = None
    warnings: int = 0
    """Executions with more warnings than on the baseline."""
    not_repeatable: int = 0
    """Executions whose result differs between two repetitions on one side: not compared."""
    not_compared: str | None = None
    """Why no result of it is compared."""
    plans: tuple[Plan, Plan] | None = None
    """EXPLAIN on both sides, where something changed."""

    @property
    def is_notable(self) -> bool:
        return bool(
            self.fails
            or self.repaired
            or self.other_result
            or self.warnings
            or self.times.timing in ("slower", "faster")
            or self.has_other_plan
        )

    @property
    def has_other_plan(self) -> bool:
        """Whether the optimizer chose another way: other tables first, other access, other index."""
        if self.plans is None:
            return False
        first, second = (
            [(row.table, row.type, row.key, row.select_type) for row in plan.rows] for plan in self.plans
        )
        return bool(first and second) and first != second


class SideComparison(Record):
    """One side against the baseline."""

    baseline: str
    other: str
    headline: str
    total: Times
    statements: tuple[StatementComparison, ...]
    """The worst first: fails, other results, slower by the time that it costs, then the others."""
    diverged: int | None = None
    """Number of the first statement that changed other data: results behind it may differ for that alone."""

    def with_timing(self, timing: Timing) -> list[StatementComparison]:
        return [each for each in self.statements if each.times.timing == timing]


class Advice(Record):
    """A finding of the advisor for a side's release."""

    side: str
    rule: str
    title: str
    why: str


class Rehearsal(Record):
    format: int = 1
    mydyno: str
    trace: str
    synthetic: bool = False
    """Whether the trace was put together from digests: its result is not a replay of what ran."""
    data: str
    sides: dict[str, str]
    """Name -> what it is."""
    repetitions: int
    margin: float
    comparisons: tuple[SideComparison, ...]
    advice: tuple[Advice, ...] = ()
    notes: tuple[str, ...] = ()
