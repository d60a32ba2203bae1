"""Test settings for everything below."""

import os
import signal
from collections.abc import Iterator

import pytest
from hypothesis import settings

# The machines that run this are shared: how long an example takes says nothing about the code.
settings.register_profile("mydyno", deadline=None)
settings.load_profile("mydyno")

# A shell starts what runs in the background with Ctrl-C ignored, nohup what it starts with SIGHUP: programs
# that tests start would inherit that, and those are tested to hear them.
for number, usual in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, usual)


@pytest.fixture(autouse=True, scope="session")
def state_of_its_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What tests change, and must be able to put back, is not written into this user's own state folder."""
    before = os.environ.get("MYDYNO_STATE")
    os.environ["MYDYNO_STATE"] = str(tmp_path_factory.mktemp("state"))
    yield
    if before is None:
        del os.environ["MYDYNO_STATE"]
    else:
        os.environ["MYDYNO_STATE"] = before
