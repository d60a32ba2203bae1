"""Results of replays, made up statement by statement."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from mydyno.queries.records import Plan, PlanRow
from mydyno.rehearse.compare import compare_sides
from mydyno.rehearse.records import Advice, Rehearsal
from mydyno.rehearse.results import Replayed, Shape

RECORD = np.dtype(
    [
        ("statement", "<u8"),
        ("fingerprint", "<u8"),
        ("service_us", "<u8"),
        ("rows", "<u8"),
        ("affected", "<u8"),
        ("ordered", "<u8"),
        ("unordered", "<u8"),
        ("error", "<u2"),
        ("warnings", "<u2"),
        ("flags", "<u2"),
        ("outcome", "u1"),
        ("class", "u1"),
    ]
)


@dataclass
class Trace:
    """`texts`: the fingerprint of each statement, in order."""

    texts: Sequence[str]
    noise: float = 0.02
    random: np.random.Generator = field(default_factory=lambda: np.random.default_rng(1))

    def replay(self, side: str, block: int) -> Replayed:
        """Times scatter by `noise`; every result is the statement's own."""
        texts = list(dict.fromkeys(self.texts))
        records = np.zeros(len(self.texts), RECORD)
        records["statement"] = np.arange(len(self.texts))
        records["fingerprint"] = [texts.index(text) + 1 for text in self.texts]
        shared = self.random.normal(0, self.noise)
        own = self.random.normal(0, self.noise, len(self.texts))
        records["service_us"] = np.round(1000 * np.exp(shared + own))
        records["rows"] = 1
        records["ordered"] = records["unordered"] = records["statement"] + 100
        records["outcome"] = 1
        records["class"] = [1 if text.startswith("select") else 2 for text in self.texts]
        shapes = {
            number: Shape(f"{number:016x}", text, text, None, {}) for number, text in enumerate(texts, 1)
        }
        return Replayed(side, block, records, shapes)

    def replays(self, side: str, repetitions: int) -> list[Replayed]:
        return [self.replay(side, block) for block in range(1, repetitions + 1)]


def upgrade(*more: str, repetitions: int = 5) -> Rehearsal:
    """Of 20 statements and `more`: one is three times as slow with another plan, one fails, one is faster."""
    kinds = [f"select c from t{number} where id = ?" for number in range(18)]
    texts = [*kinds * 4, "select * from orders where customer = ?", "insert into rank values (?)", *more]
    trace = Trace(texts)
    old, new = trace.replays("mariadb-10.5", repetitions), trace.replays("mariadb-11.8", repetitions)
    number = {shape.text: key for key, shape in old[0].shapes.items()}
    for trial in new:
        of = trial.records["fingerprint"]
        trial.records["service_us"][of == number["select * from orders where customer = ?"]] *= 30
        trial.records["service_us"][of == number[kinds[3]]] //= 2
        trial.records["error"][of == number["insert into rank values (?)"]] = 1064
    comparison = compare_sides(old, new, 0.1)
    plans = (
        Plan(rows=(PlanRow(table="orders", type="ref", key="by_customer", rows=3),)),
        Plan(rows=(PlanRow(table="orders", type="ALL", rows=900_000),)),
    )
    statements = tuple(
        each.model_copy(update={"plans": plans}) if "orders" in each.text else each
        for each in comparison.statements
    )
    return Rehearsal(
        mydyno="1.0",
        trace="shop.trace",
        data="shop.sql",
        sides={"mariadb-10.5": "mariadb-10.5", "mariadb-11.8": "mariadb-11.8"},
        repetitions=repetitions,
        margin=0.1,
        comparisons=(comparison.model_copy(update={"statements": statements}),),
        advice=(Advice(side="mariadb-11.8", rule="sql-mode", title="Set sql_mode", why="It differs."),),
        notes=("mariadb-11.8: old_mode is left out: unknown",),
    )
