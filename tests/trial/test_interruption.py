import os
import signal

import pytest

from mydyno.trial.interruption import interruptible, uninterrupted


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_each_request_to_stop_ends_the_run_as_ctrl_c_does(number: signal.Signals) -> None:
    with pytest.raises(KeyboardInterrupt), interruptible():
        os.kill(os.getpid(), number)


def test_handlers_are_as_before_after_the_run() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with interruptible():
        assert signal.getsignal(signal.SIGTERM) is not before
    assert signal.getsignal(signal.SIGTERM) is before


def test_a_stop_during_a_whole_stretch_arrives_at_its_end() -> None:
    steps = []

    def whole_stretch() -> None:
        with interruptible(), uninterrupted():
            os.kill(os.getpid(), signal.SIGINT)
            steps.append("the end")

    with pytest.raises(KeyboardInterrupt):
        whole_stretch()
    assert steps == ["the end"]
