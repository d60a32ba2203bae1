"""After the replays: a server of each side on a fresh clone explains what changed and is advised."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from mydyno.advisor.advice import advise
from mydyno.lab.stack import RunningServer, Site, Stack
from mydyno.lab.trial.preflight import Prepared
from mydyno.lab.trial.running import clone_layers
from mydyno.queries.explain import plans_of
from mydyno.queries.records import Example, Plan
from mydyno.rehearse.records import Advice, SideComparison, StatementComparison
from mydyno.survey.survey import survey

MOST = 40
"""Statements that are explained, the worst first."""
RULES = ("deprecated-settings", "end-of-life", "sql-mode", "tables-without-primary-key", "myisam-tables")
"""Rules that speak of a release and of the data; the others are about a machine that this is not."""


def explained(
    comparisons: Sequence[SideComparison], prepared: Prepared, site: Site
) -> tuple[tuple[SideComparison, ...], tuple[Advice, ...]]:
    """The comparisons with both plans of each notable statement, and the advice for each side's release."""
    wanted: dict[str, Example] = {}
    for comparison in comparisons:
        for each in comparison.statements[:MOST]:
            wanted[each.id] = Example(
                text=each.example, bytes=len(each.example.encode()), database=each.schema_name
            )
    plans: dict[str, Mapping[str, Plan]] = {}
    advice: list[Advice] = []
    names = {comparisons[0].baseline, *(each.other for each in comparisons)} if comparisons else set()
    for point in prepared.plan.points:
        side = next(iter(point.levels.values()), "")
        if side not in names or point.control_of is not None:
            continue
        folder = site.lab / "run"
        folder.mkdir(exist_ok=True)
        with site.temporary(site.folder_in(folder)) as private, Stack(site) as stack:
            server = stack.move_to(clone_layers(prepared, point, private)).of(RunningServer)
            plans[side] = dict(zip(wanted, plans_of(list(wanted.values()), server.login), strict=True))
            if side != comparisons[0].baseline:
                advice += _advice(side, server)
    return tuple(_with_plans(each, plans) for each in comparisons), tuple(advice)


def _with_plans(comparison: SideComparison, plans: Mapping[str, Mapping[str, Plan]]) -> SideComparison:
    one, two = plans.get(comparison.baseline, {}), plans.get(comparison.other, {})

    def explained_one(each: StatementComparison) -> StatementComparison:
        if each.id not in one or each.id not in two:
            return each
        return each.model_copy(update={"plans": (one[each.id], two[each.id])})

    statements = tuple(explained_one(each) for each in comparison.statements)
    return comparison.model_copy(update={"statements": statements})


def _advice(side: str, server: RunningServer) -> list[Advice]:
    system = survey(server.login, without_host=True, seconds=0.0)
    made = advise(system, datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"))
    return [
        Advice(side=side, rule=each.rule, title=each.title, why=each.recommendation)
        for each in made.findings
        if each.rule in RULES
    ]
