"""order-entry against the numbers of the TPC-C Standard Specification 5.11.

Transactions are from clause 2, the population from 4.3, the mix from 5.2.3.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest

from lab.workload.population import Row, rows
from mydyno.core.document.problems import SpecErrors
from mydyno.lab import workload
from mydyno.lab.workload.estimate import statement_counts

TOY = {"warehouses": 2, "districts": 3, "customers": 1010, "orders": 51, "items": 70}
DELIVERED = 51 - 15


def resolve(**options: Any) -> workload.Resolved:
    return workload.read("order-entry").resolve(options)


@pytest.fixture(scope="module")
def toy() -> dict[str, list[Row]]:
    """Every table's rows at a small size with odd numbers."""
    program = resolve(**TOY).program
    return {table["name"]: list(rows(program, table["name"])) for table in program["tables"]}


def table_rows(resolved: workload.Resolved) -> dict[str, int]:
    return {table["name"]: table["rows"] for table in resolved.program["tables"]}


def test_the_default_size_is_one_warehouse_of_the_specification() -> None:
    assert table_rows(resolve()) == {
        "warehouse": 1,
        "district": 10,
        "customer": 30_000,
        "history": 30_000,
        "orders": 30_000,
        "new_order": 9_000,
        "order_line": 300_000,
        "item": 100_000,
        "stock": 100_000,
    }


def test_every_table_but_the_items_grows_with_the_warehouses() -> None:
    one, seven = table_rows(resolve()), table_rows(resolve(warehouses=7))
    assert {table: seven[table] / one[table] for table in one} == {
        table: 1 if table == "item" else 7 for table in one
    }


def test_a_toy_size_has_tables_of_hundreds_of_rows(toy: dict[str, list[Row]]) -> None:
    assert {name: len(made) for name, made in toy.items()} == {
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


def test_the_smallest_size_of_all_is_still_a_workload() -> None:
    smallest = resolve(districts=1, customers=1, orders=1, items=1)
    assert smallest.rows == 1 + 1 + 1 + 1 + 1 + 0 + 10 + 1 + 1
    assert [row["o_ol_cnt"] for row in rows(smallest.program, "orders")] == [10]


def test_more_districts_than_stock_has_columns_for_are_refused() -> None:
    with pytest.raises(SpecErrors, match="districts"):
        resolve(districts=11)


def test_the_mix_is_the_standard_one() -> None:
    weights = {each["name"]: each["weight"] for each in resolve().program["transactions"]}
    assert weights == {"new_order": 45, "payment": 43, "order_status": 4, "delivery": 4, "stock_level": 4}


def test_each_transaction_sends_what_its_profile_needs() -> None:
    counts = statement_counts(resolve().program)
    totals = {name: sum(sent.values()) for name, sent in counts.items()}
    assert totals == {
        # 10 lines on average; one order in a hundred has a SELECT for its last one, and a ROLLBACK.
        "new_order": pytest.approx(8 + 4 * (10 - 0.01) + 0.02),
        # 60 in a hundred are looked up by name.
        "payment": pytest.approx(9 + 0.6),
        "order_status": pytest.approx(5 + 0.6),
        "delivery": 2 + 7 * 10,
        "stock_level": 4,
    }
    assert counts["new_order"]["rollback"] == pytest.approx(0.01)
    assert counts["delivery"]["delivery_oldest"] == 10


def test_fewer_districts_are_fewer_deliveries() -> None:
    assert statement_counts(resolve(districts=3).program)["delivery"]["delivery_oldest"] == 3


def steps_of(found: Any) -> Iterator[dict[str, Any]]:
    """Every step at any depth."""
    if isinstance(found, dict):
        if len(found) == 1:
            yield found
        for inner in found.values():
            yield from steps_of(inner)
    elif isinstance(found, list):
        for inner in found:
            yield from steps_of(inner)


def test_what_is_read_to_be_written_back_is_read_with_a_lock() -> None:
    sent = {
        step["send"]["name"]: "".join(part if isinstance(part, str) else "?" for part in step["send"]["sql"])
        for step in steps_of(resolve().program["transactions"])
        if "send" in step
    }
    locking = {name for name, sql in sent.items() if sql.endswith("FOR UPDATE")}
    # Their values go into a later UPDATE, or say which rows that one changes.
    assert locking == {
        *("new_order_district", "new_order_stock", "payment_customer"),
        *("delivery_oldest", "delivery_order", "delivery_sum"),
    }


def test_every_statement_can_be_prepared() -> None:
    assert resolve(prepared=True).program["prepared"] is True


def test_one_warehouse_has_no_remote_lines() -> None:
    [transaction] = [each for each in resolve().program["transactions"] if each["name"] == "new_order"]
    assert ["+", ["*", ["var", "remote"], 2], 0] in [
        step["let"][1] for step in steps_of(transaction["steps"]) if "let" in step
    ]


def test_each_connection_has_a_home_unless_homes_are_drawn() -> None:
    fixed = resolve(warehouses=4).program["values"]
    assert fixed["home_warehouse"] == ["+", ["%", ["-", ["connection"], 1], 4], 1]
    assert resolve(warehouses=4, home="random").program["values"]["home_warehouse"] == ["uniform", 1, 4]


def test_the_constants_of_last_names_are_as_far_apart_as_clause_2_1_6_1_wants() -> None:
    program = resolve().program
    [customer] = [table for table in program["tables"] if table["name"] == "customer"]
    drawn_when_loading = dict(customer["let"])["name_number"][3]
    assert drawn_when_loading[:4] == ["nurand", 255, 0, 999]
    drawn_when_running = program["values"]["name_number"]
    assert drawn_when_running[:4] == ["nurand", 255, 0, 999]
    delta = abs(drawn_when_running[4] - drawn_when_loading[4])
    assert 65 <= delta <= 119
    assert delta not in (96, 112)


def test_customers_and_items_are_drawn_with_the_constants_of_the_specification() -> None:
    values = resolve().program["values"]
    assert values["customer_number"][:4] == ["nurand", 1023, 1, 3000]
    assert values["item_number"][:4] == ["nurand", 8191, 1, 100_000]
    assert 0 <= values["customer_number"][4] <= 1023
    assert 0 <= values["item_number"][4] <= 8191


def test_last_names_are_made_of_three_syllables(toy: dict[str, list[Row]]) -> None:
    names = [row["c_last"] for row in toy["customer"][:1000]]
    assert names[0] == "BARBARBAR"
    assert names[371] == "PRICALLYOUGHT"
    assert names[999] == "EINGEINGEING"
    assert len(set(names)) == 1000


def test_a_small_district_has_the_first_names_only() -> None:
    program = resolve(customers=30).program
    names = [row["c_last"] for row in rows(program, "customer")]
    assert names[:2] == ["BARBARBAR", "BARBAROUGHT"]
    assert program["values"]["name_number"][:4] == ["nurand", 255, 0, 29]


def test_keys_are_unique(toy: dict[str, list[Row]]) -> None:
    keys = {
        "warehouse": ("w_id",),
        "district": ("d_w_id", "d_id"),
        "customer": ("c_w_id", "c_d_id", "c_id"),
        "orders": ("o_w_id", "o_d_id", "o_id"),
        "new_order": ("no_w_id", "no_d_id", "no_o_id"),
        "order_line": ("ol_w_id", "ol_d_id", "ol_o_id", "ol_number"),
        "item": ("i_id",),
        "stock": ("s_w_id", "s_i_id"),
    }
    for table, columns in keys.items():
        made = [tuple(row[column] for column in columns) for row in toy[table]]
        assert len(set(made)) == len(made), table
        assert made == sorted(made), f"{table} is not loaded in the order of its primary key"


def test_orders_have_5_to_15_lines_that_are_all_there(toy: dict[str, list[Row]]) -> None:
    lines: dict[tuple[int, int, int], list[int]] = defaultdict(list)
    for row in toy["order_line"]:
        lines[row["ol_w_id"], row["ol_d_id"], row["ol_o_id"]].append(row["ol_number"])
    for row in toy["orders"]:
        assert 5 <= row["o_ol_cnt"] <= 15
        assert lines.pop((row["o_w_id"], row["o_d_id"], row["o_id"])) == list(range(1, row["o_ol_cnt"] + 1))
    assert not lines


def test_each_number_of_lines_is_as_likely() -> None:
    program = resolve(customers=1, items=1, orders=2200, districts=1).program
    counted = Counter(row["o_ol_cnt"] for row in rows(program, "orders"))
    assert set(counted) == set(range(5, 16))
    # One draw decides two orders, one of 5 to 9 lines and one of 15 to 11, or twice 10: 5 degrees of freedom,
    # with which 20.5 is exceeded once in a thousand times.
    assert sum((count - 200) ** 2 / 200 for count in counted.values()) / 2 < 20.5


def test_orders_without_a_last_partner_have_their_lines_too() -> None:
    program = resolve(districts=1, customers=1, orders=3, items=1).program
    counts = [row["o_ol_cnt"] for row in rows(program, "orders")]
    assert counts[0] + counts[1] == 20
    assert counts[2] == 10
    lines = Counter(row["ol_o_id"] for row in rows(program, "order_line"))
    assert [lines[order] for order in (1, 2, 3)] == counts


def test_the_last_three_of_ten_orders_are_not_delivered(toy: dict[str, list[Row]]) -> None:
    waiting = {(row["no_w_id"], row["no_d_id"], row["no_o_id"]) for row in toy["new_order"]}
    for row in toy["orders"]:
        is_delivered = row["o_id"] <= DELIVERED
        assert (row["o_carrier_id"] in range(1, 11)) == is_delivered
        assert ((row["o_w_id"], row["o_d_id"], row["o_id"]) not in waiting) == is_delivered
        assert row["o_all_local"] == 1
    for row in toy["order_line"]:
        is_delivered = row["ol_o_id"] <= DELIVERED
        assert (row["ol_delivery_d"] is not None) == is_delivered
        assert (row["ol_amount"] == 0) == is_delivered
        assert Decimal("0.00") <= row["ol_amount"] <= Decimal("9999.99")
        assert row["ol_supply_w_id"] == row["ol_w_id"]
        assert row["ol_quantity"] == 5


def test_the_customers_of_each_district_order_in_a_different_order() -> None:
    program = resolve(districts=2, customers=300, orders=300, items=1).program
    ordered: dict[int, list[int]] = defaultdict(list)
    for row in rows(program, "orders"):
        ordered[row["o_d_id"]].append(row["o_c_id"])
    assert sorted(ordered[1]) == sorted(ordered[2]) == list(range(1, 301))
    assert ordered[1] != ordered[2] != sorted(ordered[2])


def test_sums_of_the_initial_payments_agree(toy: dict[str, list[Row]]) -> None:
    paid = sum(row["h_amount"] for row in toy["history"])
    assert (
        paid == sum(row["w_ytd"] for row in toy["warehouse"]) == sum(row["d_ytd"] for row in toy["district"])
    )
    assert {row["d_ytd"] for row in toy["district"]} == {Decimal("10100.00")}
    [warehouse] = rows(resolve().program, "warehouse")
    assert warehouse["w_ytd"] == Decimal("300000.00")


def test_districts_continue_where_their_orders_end(toy: dict[str, list[Row]]) -> None:
    assert {row["d_next_o_id"] for row in toy["district"]} == {52}


def test_texts_and_numbers_are_within_the_bounds_of_clause_4_3_3_1(toy: dict[str, list[Row]]) -> None:
    for row in toy["customer"]:
        assert re.fullmatch(r"[0-9A-Za-z]{8,16}", row["c_first"])
        assert re.fullmatch(r"[0-9A-Za-z]{10,20}", row["c_street_1"])
        assert re.fullmatch(r"[A-Z]{2}", row["c_state"])
        assert re.fullmatch(r"\d{4}11111", row["c_zip"])
        assert re.fullmatch(r"\d{16}", row["c_phone"])
        assert 300 <= len(row["c_data"]) <= 500
        assert 0 <= row["c_discount"] <= Decimal("0.5")
        assert (row["c_middle"], row["c_balance"], row["c_ytd_payment"]) == ("OE", -10, 10)
        assert (row["c_credit_lim"], row["c_payment_cnt"], row["c_delivery_cnt"]) == (50_000, 1, 0)
    for row in [*toy["warehouse"], *toy["district"]]:
        prefix = "w" if "w_id" in row else "d"
        assert 6 <= len(row[f"{prefix}_name"]) <= 10
        assert 0 <= row[f"{prefix}_tax"] <= Decimal("0.2")
    for row in toy["item"]:
        assert 1 <= row["i_im_id"] <= 10_000
        assert 14 <= len(row["i_name"]) <= 24
        assert 1 <= row["i_price"] <= 100
        assert 26 <= len(row["i_data"]) <= 50
    for row in toy["stock"]:
        assert 10 <= row["s_quantity"] <= 100
        assert all(len(row[f"s_dist_{number:02}"]) == 24 for number in range(1, 11))
        assert 26 <= len(row["s_data"]) <= 50
        assert row["s_ytd"] == row["s_order_cnt"] == row["s_remote_cnt"] == 0
    for row in toy["history"]:
        assert 12 <= len(row["h_data"]) <= 24


def test_one_in_ten_has_bad_credit_and_one_in_ten_is_original() -> None:
    program = resolve(districts=1, customers=4000, orders=1, items=4000).program
    bad = sum(row["c_credit"] == "BC" for row in rows(program, "customer"))
    original = sum("ORIGINAL" in row["s_data"] for row in rows(program, "stock"))
    # Five standard deviations of a binomial distribution.
    assert bad == pytest.approx(400, abs=95)
    assert original == pytest.approx(400, abs=95)


def test_conditions_are_checked_in_as_many_warehouses_as_wanted() -> None:
    checks = {check["name"]: check["sql"] for check in resolve(checked_warehouses=3).program["checks"]}
    numbers = [int(name.split()[1].rstrip(",")) for name in checks]
    assert numbers == [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12]
    limited = {number for number, sql in zip(numbers, checks.values(), strict=True) if "w_id <= 3" in sql}
    assert limited == {5, 6, 7, 10, 12}
