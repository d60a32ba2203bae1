"""Both sides of the engine's protocol are held to the same files: crates/engine/tests reads them too."""

import json
from pathlib import Path
from typing import get_args

import pytest
from pydantic import ValidationError

from mydyno.core.secrets import Secret
from mydyno.lab.load import messages
from mydyno.lab.load.job import (
    Job,
    Phase,
    Sampling,
    Target,
    closed_loop,
    events,
    open_loop,
    rounds,
    split,
    think,
    timed,
)

FIXTURES = Path(__file__).parents[2] / "fixtures" / "engine"
MESSAGES = sorted((FIXTURES / "messages").glob("*.json"))
GOOD_JOBS = sorted((FIXTURES / "jobs" / "good").glob("*.json"))

TARGET = Target(user="root", password=Secret("example"), database="mydyno", socket=Path("/run/s.sock"))


@pytest.mark.parametrize("path", MESSAGES, ids=lambda path: path.stem)
def test_every_message_of_the_engine_is_understood_whole(path: Path) -> None:
    text = path.read_text()
    message = messages.parse(text)
    assert json.loads(message.model_dump_json()) == json.loads(text)


def test_there_is_a_fixture_for_every_kind_of_message() -> None:
    kinds = get_args(get_args(messages.Message)[0])
    known = {get_args(kind.model_fields["type"].annotation)[0] for kind in kinds}
    known -= {"remark", "share"}  # Only drivers of other programs, or of several engines, make these.
    assert {json.loads(path.read_text())["type"] for path in MESSAGES} == known


@pytest.mark.parametrize(
    "text", ["", "not json", "{}", '{"type": "hello"}', '{"type": "nonsense", "t_ns": 1}']
)
def test_what_is_not_a_message_is_refused(text: str) -> None:
    with pytest.raises(ValidationError):
        messages.parse(text)


def sent(job: Job) -> dict[str, object]:
    wire: dict[str, object] = json.loads(job.to_wire())
    return wire


def keys(document: object, prefix: str = "") -> set[str]:
    """Every dotted key of a JSON document."""
    if isinstance(document, dict):
        return {f"{prefix}{key}" for key in document} | {
            deeper for key, value in document.items() for deeper in keys(value, f"{prefix}{key}.")
        }
    if isinstance(document, list):
        return {deeper for value in document for deeper in keys(value, prefix)}
    return set()


def test_a_job_uses_only_keys_that_the_engine_reads() -> None:
    job = Job(
        target=TARGET,
        seed=7,
        workload={"program": {"name": "tables"}},
        prepare="if-missing",
        phases=(
            Phase(10, closed_loop(), rounds(100), 0.5),
            Phase(10, open_loop("poisson", 1000.0), timed(1.0, 5.0)),
            Phase(10, closed_loop(), events(50), active=5, think=think("uniform", 0.1), ramp_s=1.0),
            Phase(10, closed_loop(), split(50)),
        ),
        sampling=Sampling(1.0, 1234),
    )
    known = set().union(*(keys(json.loads(path.read_text())) for path in GOOD_JOBS))
    assert keys(sent(job)) <= known


def test_the_password_is_in_what_is_sent_and_nowhere_else() -> None:
    job = Job(target=TARGET, seed=1, workload={"program": {"name": "tables"}})
    assert sent(job)["target"]["password"] == "example"  # type: ignore[index]
    assert "example" not in repr(job)
