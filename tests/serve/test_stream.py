"""The events of a run, with their numbers: none is lost and none comes twice, however slow a reader is."""

from __future__ import annotations

import json
import socket
import threading
import time
import tracemalloc
from pathlib import Path

import pytest

from mydyno.lab.results.store import Lab
from mydyno.lab.trial.events import EventLog, Measured, RunFinished, RunStarted
from mydyno.serve.events_file import EventsFile, Followed, Place
from mydyno.serve.stream import number_of
from serve.made import begin, make_run, story
from serve.site import Site, process, site


@pytest.fixture
def run(tmp_path: Path) -> Path:
    with Lab.open(tmp_path / "lab", write=True) as lab:
        folder = make_run(lab, 0, 8, 4)
    log = EventLog(folder / "events.jsonl")
    log(RunStarted("oltp-0", str(folder), 8, 0, 60.0))
    for place in range(4):
        story(log, place, 8)
    return folder


def lines(run: Path) -> list[str]:
    return (run / "events.jsonl").read_text().splitlines()


def read(
    made: Site, run: Path, count: int, after: int | None = None, **headers: str
) -> list[tuple[int | None, str]]:
    address = f"/runs/{run.name}/events" + ("" if after is None else f"?after={after}")
    with made.listening(address, **headers) as stream:
        return [(number, data) for number, _, data in (stream.next() for _ in range(count))]


def test_every_event_comes_with_its_number(run):
    with site(run.parents[1]) as made:
        found = read(made, run, len(lines(run)))
    assert [number for number, _ in found] == list(range(1, len(lines(run)) + 1))
    assert [data for _, data in found] == lines(run)


def test_a_reader_goes_on_behind_the_last_event_that_it_has(run):
    with site(run.parents[1]) as made:
        (first, *_) = read(made, run, 1, after=7)
        assert first == (8, lines(run)[7])
        (first, *_) = read(made, run, 1, after=2, Last_Event_ID="11")
        assert first[0] == 12, "the browser knows better than the address"


def test_what_happens_now_comes_now(run):
    with (
        site(run.parents[1]) as made,
        made.listening(f"/runs/{run.name}/events?after={len(lines(run))}") as stream,
    ):
        began = time.monotonic()
        EventLog(run / "events.jsonl")(RunFinished(4, 0))
        number, _, data = stream.next()
        assert number == len(lines(run))
        assert json.loads(data)["type"] == "run-finished"
        assert time.monotonic() - began < 10


def test_half_a_line_waits_for_its_end(run):
    with (
        site(run.parents[1]) as made,
        made.listening(f"/runs/{run.name}/events?after={len(lines(run))}") as stream,
    ):
        with (run / "events.jsonl").open("a") as file:
            file.write('{"type": "st')
            file.flush()
            time.sleep(1.2)
            file.write('ep", "at": 1, "text": "x"}\n')
        assert json.loads(stream.next()[2])["text"] == "x"


def test_events_that_are_gone_make_the_page_begin_again(run):
    with site(run.parents[1]) as made, made.listening(f"/runs/{run.name}/events?after=100000") as stream:
        assert stream.next()[1] == "reset"


def test_a_server_that_was_killed_and_started_again_goes_on_without_a_gap(run, tmp_path):
    state = {"MYDYNO_STATE": str(tmp_path / "state")}
    with process(run.parents[1], environment=state) as (first, made):
        seen = read(made, run, 10)
        first.kill()
        first.wait()
    EventLog(run / "events.jsonl")(RunFinished(4, 0))
    with process(run.parents[1], made.port, environment=state) as (_, again):
        again.cookie = made.cookie  # The page was open all the while.
        seen += read(again, run, len(lines(run)) - 10, Last_Event_ID=str(seen[-1][0]))
    assert [number for number, _ in seen] == list(range(1, len(lines(run)) + 1))
    assert [data for _, data in seen] == lines(run)


def test_a_hundred_watchers_get_every_event(run):
    count = len(lines(run))
    wrong: list[object] = []

    def watch(made: Site) -> None:
        try:
            found = read(made, run, count + 1)
            if [number for number, _ in found] != list(range(1, count + 2)):
                wrong.append(found)
        except Exception as error:
            wrong.append(error)

    with site(run.parents[1]) as made:
        watchers = [threading.Thread(target=watch, args=(made,)) for _ in range(100)]
        for each in watchers:
            each.start()
        EventLog(run / "events.jsonl")(RunFinished(4, 0))
        assert made.ask("/").status == 200
        for each in watchers:
            each.join(60)
        assert not any(each.is_alive() for each in watchers)
    assert wrong == []


def test_a_reader_that_takes_nothing_keeps_nobody_else_from_reading(run):
    log = EventLog(run / "events.jsonl")
    with (run / "events.jsonl").open("a") as file:
        file.write(('{"type": "step", "at": 1, "text": "' + "x" * 1000 + '"}\n') * 20_000)
    with site(run.parents[1]) as made, socket.create_connection(("127.0.0.1", made.port)) as slow:
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        host = f"127.0.0.1:{made.port}"
        request = f"GET /runs/{run.name}/events HTTP/1.1\r\nHost: {host}\r\nCookie: {made.cookie}\r\n\r\n"
        last = len(lines(run))
        tracemalloc.start()
        slow.sendall(request.encode())
        time.sleep(1)
        log(RunFinished(4, 0))
        assert read(made, run, 1, after=last)[0][0] == last + 1
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert peak < 64 * 1024 * 1024, "it waits in the file, not in memory"


def test_a_day_of_events_is_followed_in_flat_memory(tmp_path):
    """86,400 seconds with an interval and a sample in each, as a run writes them."""
    file = tmp_path / "events.jsonl"
    log = EventLog(file)
    log(RunStarted("long", "x", 10, 0, 86_400.0))
    begin(log, 0, 10)
    log(Measured(0, 8, 1000.0, 1, 0))
    last = file.read_text().splitlines()[-1] + "\n"
    hour = last * 7200
    followed, place = Followed(EventsFile(file)), Place()
    grown = []
    tracemalloc.start()
    try:
        for _ in range(24):
            with file.open("a") as more:
                more.write(hour)
            followed.look()
            while followed.file.lines(place, 64 * 1024):
                pass
            grown.append(tracemalloc.get_traced_memory()[0])
    finally:
        tracemalloc.stop()
    assert place.number == followed.progress.heard == 5 + 24 * 7200
    assert grown[-1] - grown[0] < 64 * 1024
    assert followed.progress.stream_after == 1
    assert followed.file.after(100_000).number == 100_000


@pytest.mark.parametrize(
    ("last", "after", "number"),
    [
        (None, None, 0),
        ("5", "3", 5),
        (None, "3", 3),
        ("x", "3", 3),
        ("-1", None, 0),
        ("9" * 40, "2", 2),
        ("٣", None, 0),
    ],
)
def test_what_is_no_number_begins_at_the_beginning(last, after, number):
    assert number_of(last, after) == number
