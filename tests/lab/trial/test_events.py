import json
from pathlib import Path

from mydyno.lab.trial import events


def test_every_event_is_a_line_of_json_and_is_heard(tmp_path: Path) -> None:
    heard: list[events.Event] = []
    log = events.EventLog(tmp_path / "events.jsonl", (heard.append,))
    story = [
        events.PhaseStarted(0, 40),
        events.TrialFinished(trial="t001", status="invalid", reasons=("errör",), seconds=1.5),
    ]
    for event in story:
        log(event)
    lines = [json.loads(line) for line in (tmp_path / "events.jsonl").read_text().splitlines()]
    assert heard == story
    assert [line["type"] for line in lines] == ["phase-started", "trial-finished"]
    assert lines[0] | {"at": 0} == {
        "type": "phase-started",
        "at": 0,
        "phase": 0,
        "connections": 40,
        "label": None,
        "work": "queries",
    }
    assert lines[1]["reasons"] == ["errör"]


def test_every_event_has_a_type_of_its_own() -> None:
    types = [cls.type for cls in events.Event.__subclasses__()]
    assert len(set(types)) == len(types)
