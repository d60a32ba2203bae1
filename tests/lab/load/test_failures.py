"""What the errors of a phase say of the whole of it."""

import json
from pathlib import Path
from typing import Any

from mydyno.lab.load import messages
from mydyno.lab.load.failures import hint_of, nothing_succeeded, some_failed

END = Path(__file__).parents[2] / "fixtures" / "engine" / "messages" / "phase_end.json"


def phase_end(transactions: int, errors: dict[str, int], **more: Any) -> messages.PhaseEnd:
    values = json.loads(END.read_text()) | {"errors": errors, "error_examples": {}, "retries": 0} | more
    values["transactions"]["count"] = transactions
    end = messages.parse(json.dumps(values))
    assert isinstance(end, messages.PhaseEnd)
    return end


def test_a_phase_whose_every_transaction_failed_says_which_error_how_often() -> None:
    end = phase_end(0, {"1213": 3, "1142": 500}, error_examples={"1142": "INSERT command denied"})
    assert nothing_succeeded(end) == (
        "every transaction failed: error 1142 (INSERT command denied), 500 times, and 1 other code"
    )


def test_one_transaction_that_succeeded_is_enough_and_none_that_was_tried_is_no_failure() -> None:
    assert nothing_succeeded(phase_end(1, {"1142": 500})) is None
    assert nothing_succeeded(phase_end(0, {})) is None


def test_what_no_retry_made_good_is_reported_as_a_share() -> None:
    assert some_failed(phase_end(90, {"1205": 15}, retries=5)) == (
        "10 errors on 90 transactions (10.00% failed): error 1205, 15 times"
    )
    assert some_failed(phase_end(90, {"1213": 5}, retries=5)) is None
    assert some_failed(phase_end(90, {"1213/1020/1205": 5})) is None


def test_a_machine_without_free_ports_is_shown_what_helps() -> None:
    hint = hint_of({"2004": 100, "1213": 1})
    assert hint is not None
    assert "ip_local_port_range" in hint
    assert hint_of({"1142": 2}) is None
    assert hint_of({}) is None
