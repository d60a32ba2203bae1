"""order-entry on a real server: what is loaded, what is sent, and that the data stay consistent."""

from __future__ import annotations

import math
from typing import Any

import pytest

from live.engine import Record, Run, job, phase, run, timed
from mydyno.lab import workload
from mydyno.lab.stack import RunningServer

pytestmark = pytest.mark.live

TOY = {"warehouses": 2, "districts": 3, "customers": 1010, "orders": 51, "items": 70}
EVENTS = 4000
WEIGHTS = {"new_order": 45, "payment": 43, "order_status": 4, "delivery": 4, "stock_level": 4}


def program(**options: Any) -> Record:
    return workload.read("order-entry").resolve({**TOY, **options}).program


def ask(server: RunningServer, sql: str, database: str = "after_load") -> list[tuple[Any, ...]]:
    with server.connect() as connection, connection.cursor() as cursor:
        cursor.execute(f"USE {database}")
        cursor.execute(sql)
        return list(cursor.fetchall())


def number(server: RunningServer, sql: str) -> int:
    [(answer,)] = ask(server, sql)
    return int(answer)


def load(
    server: RunningServer, wanted: Record, *phases: Record, database: str = "scratch", **more: Any
) -> Run:
    """Makes the tables anew, unless told otherwise, and drives the phases."""
    one = job(server, {"program": wanted}, *phases, **{"prepare": "create", **more})
    one["target"]["database"] = database
    return run(one)


def events(count: int) -> Record:
    return {"kind": "events", "events": count}


def counts(done: Run) -> dict[str, int]:
    return {name: sent["count"] for name, sent in done.the("phase_end")["statements"].items()}


def assert_consistent(done: Run) -> None:
    assert done.exit_code == 0, done.text
    assert done.the("phase_end")["aborted"] is None
    checks = done.of("check")
    assert len(checks) == 11
    assert [check for check in checks if not check["holds"]] == []


def assert_share(part: int, whole: int, expected: float) -> None:
    """Within five standard deviations of a binomial distribution."""
    assert part == pytest.approx(whole * expected, abs=5 * math.sqrt(whole * expected * (1 - expected)))


@pytest.fixture(scope="module")
def toy(server: RunningServer) -> Run:
    """Two warehouses after some thousand events of eight connections."""
    return load(server, program(), phase(8, events(EVENTS)), database="after_load")


def test_the_initial_rows_are_those_of_the_specification(server: RunningServer) -> None:
    done = load(server, program(), database="before_load")
    assert done.exit_code == 0, done.text
    assert {table["name"]: table["rows"] for table in done.the("prepared")["tables"]} == {
        "warehouse": 2,
        "district": 6,
        "customer": 6060,
        "history": 6060,
        "orders": 306,
        "new_order": 90,
        "order_line": 3060,
        "item": 70,
        "stock": 140,
    }
    named = "SELECT c_last FROM customer WHERE c_id IN (1, 372, 1000) AND c_w_id = 2 AND c_d_id = 3"
    names = ask(server, named, "before_load")
    assert names == [("BARBARBAR",), ("PRICALLYOUGHT",), ("EINGEINGEING",)]
    for check in program()["checks"]:
        assert ask(server, check["sql"], "before_load") == [], check["name"]
    # Condition 11 holds before any load only.
    counted = "SELECT COUNT(o_carrier_id) FROM orders GROUP BY o_w_id, o_d_id"
    assert set(ask(server, counted, "before_load")) == {(51 - 15,)}


def test_all_conditions_hold_after_a_load_with_deadlocks(toy: Run) -> None:
    assert_consistent(toy)
    end = toy.the("phase_end")
    assert end["transactions"]["count"] == EVENTS
    assert set(end["errors"]) == {"1213"}, "other errors than deadlocks"
    assert end["retries"] == end["errors"]["1213"] > 0


def test_the_transactions_come_in_the_standard_mix(toy: Run, server: RunningServer) -> None:
    sent = counts(toy)
    done = {
        "new_order": number(server, "SELECT COUNT(*) FROM orders") - 306 + sent["rollback"],
        "payment": number(server, "SELECT COUNT(*) FROM history") - 6060,
        "order_status": sent["order_status_lines"],
        "stock_level": sent["stock_level_count"],
    }
    done["delivery"] = EVENTS - sum(done.values())
    expected = {name: EVENTS * weight / 100 for name, weight in WEIGHTS.items()}
    chi_square = sum((done[name] - expected[name]) ** 2 / expected[name] for name in WEIGHTS)
    # Exceeded once in ten thousand times with 4 degrees of freedom.
    assert chi_square < 23.5, done


def test_choices_within_the_transactions_have_the_shares_of_the_specification(
    toy: Run, server: RunningServer
) -> None:
    sent = counts(toy)
    assert_share(sent["rollback"], round(EVENTS * 0.45), 0.01)
    by_name = sent["customer_by_name"]
    assert_share(by_name, sent["payment_customer"] + sent["order_status_customer"], 0.6)
    payments = number(server, "SELECT COUNT(*) FROM history WHERE h_date > '2020-01-01'")
    away = "SELECT COUNT(*) FROM history WHERE h_date > '2020-01-01' AND h_c_w_id <> h_w_id"
    assert_share(number(server, away), payments, 0.15)
    lines = number(server, "SELECT COUNT(*) FROM order_line WHERE ol_o_id > 51")
    remote = number(
        server, "SELECT COUNT(*) FROM order_line WHERE ol_o_id > 51 AND ol_supply_w_id <> ol_w_id"
    )
    assert_share(remote, lines, 0.01)


def test_stock_and_orders_report_the_same_lines(toy: Run, server: RunningServer) -> None:
    taken = ask(server, "SELECT SUM(s_ytd), SUM(s_order_cnt), SUM(s_remote_cnt) FROM stock")
    sums = "SELECT SUM(ol_quantity), COUNT(*), SUM(ol_supply_w_id <> ol_w_id) FROM order_line"
    listed = ask(server, f"{sums} WHERE ol_o_id > 51")
    assert taken == listed
    assert number(server, "SELECT MIN(s_quantity) FROM stock") >= 10
    wrong_amounts = "SELECT COUNT(*) FROM order_line JOIN item ON i_id = ol_i_id"
    assert number(server, f"{wrong_amounts} WHERE ol_o_id > 51 AND ol_amount <> ol_quantity * i_price") == 0
    local = "SELECT MIN(ol_supply_w_id = ol_w_id) FROM order_line"
    of_order = "WHERE ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id"
    assert number(server, f"SELECT COUNT(*) FROM orders WHERE o_all_local <> ({local} {of_order})") == 0


def test_statements_that_are_prepared_keep_the_data_as_consistent(server: RunningServer) -> None:
    done = load(server, program(prepared=True, home="random"), phase(8, events(500)))
    assert_consistent(done)
    assert set(done.the("phase_end")["errors"]) <= {"1213"}


def test_the_end_of_the_time_cuts_transactions_without_a_trace(server: RunningServer) -> None:
    done = load(server, program(items=10), phase(8, timed(1.0)))
    assert_consistent(done)
    assert done.the("phase_end")["unanswered"] == 0


def test_one_customer_with_one_order_in_one_district_will_do(server: RunningServer) -> None:
    smallest = program(warehouses=1, districts=1, customers=1, orders=1, items=1)
    assert_consistent(load(server, smallest, phase(4, events(200))))


def test_tables_that_a_load_has_changed_are_all_made_anew_for_the_next(server: RunningServer) -> None:
    for _ in range(2):
        done = load(server, program(), phase(4, events(100)), database="twice", prepare="if-missing")
        assert_consistent(done)


def test_money_that_nobody_paid_is_found(server: RunningServer) -> None:
    assert_consistent(load(server, program(), phase(1, events(1)), database="wrong_sum"))
    ask(server, "UPDATE warehouse SET w_ytd = w_ytd + 0.01 WHERE w_id = 2", "wrong_sum")
    done = load(server, program(), phase(1, events(1)), database="wrong_sum", prepare="none")
    broken = {check["name"]: check["detail"] for check in done.of("check") if not check["holds"]}
    assert {name.split(",")[0] for name in broken} == {"condition 1", "condition 8"}
    assert all(broken.values())
