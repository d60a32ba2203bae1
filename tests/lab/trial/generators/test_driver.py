"""What a generator did of a phase, by its own clock; how well that clock has to be known."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest

from mydyno.core.errors import HostError
from mydyno.lab.load.engine import Engine
from mydyno.lab.load.job import Phase, closed_loop, rounds, timed
from mydyno.lab.load.messages import Hello, PhaseEnd, parse
from mydyno.lab.trial.generators.driver import Generator, _Voice, refuse_vague, share_of
from mydyno.machine.hosts.clock import ClockOffset
from mydyno.machine.local import LocalHost

FIXTURES = Path(__file__).parents[3] / "fixtures" / "engine" / "messages"
HOST = LocalHost()


def voice(start_ns: int) -> _Voice:
    """An engine that was to start then; its messages are read already."""
    hello = parse((FIXTURES / "hello.json").read_text())
    assert isinstance(hello, Hello)
    generator = Generator("c1", HOST, beside_server=False)
    offset = ClockOffset(2.5, 0.0003)
    return _Voice(cast(Engine, None), HOST, generator, hello, offset, start_ns)


def end(**changes: object) -> PhaseEnd:
    found = parse((FIXTURES / "phase_end.json").read_text())
    assert isinstance(found, PhaseEnd)
    return found.model_copy(update=changes)


def test_an_offset_is_where_the_clock_of_this_machine_was_at_the_engines_zero() -> None:
    one = voice(0)
    assert one.hello is not None
    assert one.hello.started_unix_ns - one.zero_ns() == 2_500_000_000


def test_how_late_and_how_short_is_counted_from_the_start_that_was_given() -> None:
    # The fixture measures from 0.5 s to 0.7 s of the engine's clock.
    one = voice(390_000_000)
    generator = Generator("c1", HOST, beside_server=False)
    phase = Phase(2, closed_loop(), timed(0.06, 0.25), ramp_s=0.04)
    share = share_of(generator, one, end(), phase)
    assert (share.host, share.phase, share.connections, share.queries) == ("c1", 0, 2, 4)
    assert share.late_s == pytest.approx(0.01)
    assert share.short_s == pytest.approx(0.05)
    assert share.cpu_s == pytest.approx(0.016)
    assert (share.machine_busy, share.clock_error_s) == (0.25, 0.0003)
    counted = share_of(generator, one, end(), Phase(2, closed_loop(), rounds(5), ramp_s=0.04))
    assert counted.late_s == pytest.approx(0.11)
    assert counted.short_s is None


def test_on_the_servers_machine_its_load_keeps_cpus_busy_and_an_unmeasured_phase_has_no_start() -> None:
    beside = Generator("c1", HOST, beside_server=True)
    unmeasured = end(measured_from_ns=None, measured_to_ns=None, measured_s=None)
    share = share_of(beside, voice(0), unmeasured, Phase(2, closed_loop(), timed(0.0, 1.0)))
    assert (share.machine_busy, share.late_s, share.short_s) == (None, None, 1.0)


def test_a_clock_that_is_known_too_badly_is_refused_with_the_name_of_its_host() -> None:
    refuse_vague(ClockOffset(3600.0, 0.05), "ssh:c1")
    with pytest.raises(HostError, match="the clock of ssh:c1 is known within 80ms only") as refused:
        refuse_vague(ClockOffset(0.0, 0.08), "ssh:c1")
    assert "mydyno hosts check" in str(refused.value.hint)
