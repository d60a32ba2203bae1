"""The Query Barrel Report, corrected and as the original prints it."""

from __future__ import annotations

from lab.load.smack.fake import phase_end
from mydyno.lab.load.smack.report import as_text, gather


def test_the_corrected_report_has_true_times_with_decimals_and_both_rates() -> None:
    report = gather("smacker", 2, [phase_end({"update_index": 30, "select_index": 60})])
    assert as_text(report, strict=False) == (
        "Query Barrel Report for client smacker\n"
        "connect: max=0.270ms  min=0.250ms avg= 0.260ms from 2 clients \n"
        "Query_type\tnum_queries\tmax_time(corrected)\tmin_time(corrected)\tq_per_s(compat)"
        "\tq_per_s(steady)\tp95_time\terrors\n"
        "select_index\t60\t0.210\t0.150\t200.00\t300.00\t0.210\t0\n"
        "update_index\t30\t0.210\t0.150\t100.00\t150.00\t0.210\t0"
    )


def test_the_strict_report_is_that_of_super_smack_in_whole_milliseconds() -> None:
    report = gather("smacker", 2, [phase_end({"select_index": 60})])
    assert as_text(report, strict=True) == (
        "Query Barrel Report for client smacker\n"
        "connect: max=0ms  min=0ms avg= 0ms from 2 clients \n"
        "Query_type\tnum_queries\tmax_time\tmin_time\tq_per_s\n"
        "select_index\t60\t0\t0\t200.00"
    )


def test_the_strict_report_of_one_client_has_the_odd_minimum_of_the_original() -> None:
    report = gather("smacker", 1, [phase_end({"select_index": 60}, 1)])
    assert "max=0ms  min=-1ms avg= 0ms from 1 clients " in as_text(report, strict=True)


def test_connections_that_the_first_round_opens_are_no_query_type() -> None:
    report = gather("c", 2, [phase_end({"select_index": 60, "connect": 2})])
    assert [one.type for one in report.types] == ["select_index"]
    assert report.connect.count == 2


def test_several_barrels_are_one_report_and_sleeps_between_them_count() -> None:
    ends = [phase_end({"a": 30}), phase_end({"a": 30, "b": 30})]
    report = gather("c", 2, ends, slept_s=0.4)
    a, b = report.types
    assert (a.count, b.count) == (60, 30)
    assert report.run_s == 1.0
    assert a.q_per_s == 60.0
    assert a.steady_q_per_s == 150.0


def test_errors_are_reported_by_code() -> None:
    report = gather("c", 2, [phase_end({"a": 30}, errors={"1213": 2, "1205": 1})])
    assert as_text(report, strict=False).endswith("errors by code: 1205: 1, 1213: 2")


def test_a_report_without_a_barrel_has_no_types() -> None:
    report = gather("c", 1, [])
    assert as_text(report, strict=False).splitlines()[1] == (
        "connect: max=n/ams  min=n/ams avg= n/ams from 0 clients "
    )
    assert report.types == ()
