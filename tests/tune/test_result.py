"""The files that a search leaves, from its records alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from mydyno.advisor.advice import read_advice
from mydyno.apply.change import SetVariable
from mydyno.core.errors import LabError
from mydyno.lab import spec
from mydyno.tune import table, views
from mydyno.tune.confirm import ranking
from mydyno.tune.experiment import Base, laid_over, text
from mydyno.tune.history import Began, Candidate, Heat, HeatEnd, Score
from mydyno.tune.journal import FILE, Journal
from mydyno.tune.page import page
from mydyno.tune.result import advice_of, from_json, option_file, to_json
from mydyno.tune.screening import Screening
from mydyno.tune.space import Dimension, Space
from tune.builders import METHOD, POOL, candidate, found, round_of

pytestmark = pytest.mark.usefixtures("checked_charts")

WORKLOAD = {
    "oltp-point-select": {"tables": 1, "table_size": 10},
    "connections": 2,
    "each": {"measure": "1s"},
}


def test_the_option_file_has_the_settings_that_are_left_and_their_confirmed_gain() -> None:
    lines = option_file(found()).splitlines()
    assert lines[lines.index("[mysqld]") + 1 :] == ["innodb_buffer_pool_size = 128M"]
    assert "# 1.35 (1.28 to 1.42) times the start in throughput, confirmed on other data." in lines
    assert "# not a server variable: storage.data.scheduler: none" in lines


@pytest.mark.parametrize("confirmed", [True, False])
def test_the_record_of_a_search_has_all_that_its_page_shows(confirmed: bool) -> None:
    made = found(confirmed)
    assert from_json(to_json(made)) == made
    assert page(from_json(to_json(made))) == page(made)


def test_the_advice_is_read_as_that_of_mydyno_advise() -> None:
    made = advice_of(
        found(), {"innodb_buffer_pool_size": "134217728"}, frozenset({"innodb_buffer_pool_size"})
    )
    [finding] = read_advice(made.to_json(), "advice.json").findings
    assert finding.rule == "tuned-innodb-buffer-pool-size"
    assert finding.changes == (
        SetVariable(name="innodb_buffer_pool_size", value="128M", was="134217728", restart=False),
    )
    assert finding.durability == "keeps"


def test_what_the_server_does_not_let_be_set_needs_a_restart() -> None:
    [finding] = advice_of(found(), {}, frozenset()).findings
    assert finding.restart


def test_the_page_has_every_chart_and_the_option_file() -> None:
    html = page(found())
    for name in ("progress", "gain", "worth", "importance", "slices", "parallel"):
        assert f'id="{name}"' in html
        assert f'id="chart-{name}"' in html
    assert "innodb_buffer_pool_size = 128M" in html
    assert "trial 8 did not hold: it is not shown." in html


def test_the_report_says_that_servers_disturbed_each_other() -> None:
    calm = found()
    [*first, last] = calm.rounds
    disturbed = replace(calm, rounds=(*first, last.model_copy(update={"blocked": True})))
    *others, held = calm.confirmations
    afterwards = replace(calm, confirmations=(*others, replace(held, blocked=True)))
    for search, says in (
        (disturbed, "easured in blocks from heat 8 on, since servers disturbed each other in slices"),
        (afterwards, "onfirmed in blocks, since servers disturbed each other in slices"),
    ):
        assert [says in each for each in (page(search), table.markdown(search))] == [True, True]
    assert ["since servers disturbed" in each for each in (page(calm), table.markdown(calm))] == [False] * 2


def test_without_a_confirmation_nothing_is_said_to_be_found() -> None:
    nothing = found(confirmed=False)
    assert table.headline(nothing) == "Nothing that example has found holds on other data"
    assert "[mysqld]" not in page(nothing)
    assert any("does not hold" in line for line in table.text(nothing))


def test_the_best_of_a_search_without_confirmation_is_named_as_not_confirmed() -> None:
    alone = replace(found(), confirmations=(), reduced=None)
    assert table.headline(alone) == (
        "example: trial 2 measured best, 1.20 (1.09 to 1.32) times the start in throughput; not confirmed"
    )
    nothing = replace(alone, scores=alone.scores[:1])
    assert table.headline(nothing) == "example: no trial was better than the start"


def test_importance_is_that_of_the_setting_that_varies_with_the_result() -> None:
    shares = views.importance(found())
    assert shares[0][0] == "innodb_buffer_pool_size"
    assert shares[0][1] > 0.9


def test_failed_trials_are_reported_and_never_best() -> None:
    rows = {row[0]: row for row in views.trials_table(found()).rows}
    assert rows["trial 5"][-1] == "it ended with exit code 1"
    assert [rows[name][2] for name in ("start", "trial 2", "trial 5")] == [
        "1.00",
        "1.20 (1.09 to 1.32)",
        "—",
    ]
    numbers = [each.candidate.number for each in ranking(found().scores, "throughput")]
    assert 5 not in numbers
    assert 0 not in numbers


def test_a_journal_goes_on_after_a_torn_last_line(tmp_path: Path) -> None:
    journal = Journal(tmp_path, "example")
    began = Began(mydyno="1", name="example", release="MariaDB", fingerprint="f", at="now")
    journal.append(began)
    journal.append(round_of(1, 1, 0, t0=1000.0))
    file = tmp_path / "searches" / "example" / FILE
    with file.open("ab") as torn:
        torn.write(b'{"kind": "round", "he')
    again = Journal(tmp_path, "example")
    assert again.events == [began, round_of(1, 1, 0, t0=1000.0)]
    again.append(round_of(1, 2, 0, t0=1100.0))
    assert len(Journal(tmp_path, "example").events) == 3


def test_a_damaged_journal_is_refused_by_its_line(tmp_path: Path) -> None:
    journal = Journal(tmp_path, "example")
    journal.append(round_of(1, 1, 0, t0=1000.0))
    (tmp_path / "searches" / "example" / FILE).write_bytes(b'{"kind": "nonsense"}\n')
    with pytest.raises(LabError, match=r"journal\.jsonl:1 is damaged"):
        Journal(tmp_path, "example")


def test_candidates_have_the_nearest_point_of_the_space() -> None:
    assert candidate(1, innodb_buffer_pool_size="100M").point[POOL] == "128M"


def test_a_point_takes_the_place_of_the_leader_s_values_and_of_nothing_else() -> None:
    point = {POOL: "128M", "storage.scheduler": "none"}
    sheet = {"server.config": {"innodb_buffer_pool_size": "64M", "innodb_log_files_in_group": 2}}
    assert laid_over(sheet, point) == {
        "server.config": {"innodb_buffer_pool_size": "128M", "innodb_log_files_in_group": 2},
        "storage.scheduler": "none",
    }
    assert laid_over({POOL: "64M", METHOD: "fsync"}, point) == {METHOD: "fsync", **point}


def test_a_screening_is_reported_with_what_each_change_is_worth() -> None:
    """v0 adds 0.4 to the logarithm, the others nothing; the standard error of one trial is 0.05."""
    paths = [f"server.config.v{at}" for at in range(11)]
    space = Space(tuple(Dimension(path, (0, 1), True) for path in paths))
    start = Candidate(number=0, origin="start", settings={}, point=dict.fromkeys(paths, 0))
    scores = [Score(start, "measured", {"throughput": 0.0}, 1, 0.0)]
    for number, point in enumerate(Screening(space, start, {}).points, start=1):
        own = Candidate(number=number, origin="screening", settings={}, point=dict(point))
        scores.append(Score(own, "measured", {"throughput": 0.4 * float(point[paths[0]])}, 1, 0.05))
    tried = tuple(each.candidate for each in scores[1:])
    heat = Heat(number=1, leader=0, candidates=tried, screening=True)
    end = HeatEnd(number=1, leader=0, dropped=tuple(paths[6:]))
    screened = replace(found(), space=space, scores=tuple(scores), heats=(heat,), ends=(end,))
    rows = views.screening_table(screened).rows
    assert len(rows) == len(paths)
    # exp(0.4), with 1.96 x 2 x 0.05 / sqrt(12) on both sides.
    assert rows[0] == ("v0", "0", "1", "1.49 (1.41 to 1.58)", "varied")
    assert {row[0] for row in rows if row[4] == "as the leader has it"} == {f"v{at}" for at in range(6, 11)}
    assert "Screening" in table.markdown(screened)
    assert views.screening_table(found()).rows == ()


def test_what_is_measured_without_slices_has_no_key_of_them() -> None:
    loaded = spec.loads(
        text(
            Base("n", "n.yaml", {"workload": WORKLOAD}, {"order": "slices", "slice": "1s"}, {}, 1),
            "confirm",
            [candidate(0, "start"), candidate(1, innodb_flush_method="fsync")],
            question="?",
            repeats=5,
            seed=2,
            blocked=True,
        ),
        "n.yaml",
    )
    assert (loaded.design.order, loaded.design.slice, loaded.design.seed) == ("blocked", None, 2)
