"""Test settings for everything below."""

import os
import signal
from collections.abc import Iterator
from functools import cache

import pytest
import typer.main
import typer.testing
from hypothesis import Phase, settings

# The machines that run this are shared: how long an example takes says nothing about the code. What of a
# failing example matters is not looked for: that takes minutes.
settings.register_profile("mydyno", deadline=None, phases=tuple(set(Phase) - {Phase.explain}))
settings.load_profile("mydyno")

# A shell starts what runs in the background with Ctrl-C ignored, nohup what it starts with SIGHUP: programs
# that tests start would inherit that, and those are tested to hear them.
for number, usual in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, usual)

# For each call typer builds the whole tree of commands again, which takes longer than most calls.
typer.main.get_command = typer.testing._get_command = cache(typer.main.get_command)


@pytest.hookimpl(tryfirst=True)  # Before xdist reads the groups.
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Under `-n N --dist loadgroup`: what the tests of a file share is started by one worker only.

    Tests that share nothing are handed out one by one, so that no worker is left with a long file. Those of
    loop devices run on one worker: a device that one test releases would be the next one's of another.
    """
    if not config.pluginmanager.hasplugin("xdist"):
        return
    for item in items:
        if not isinstance(item, pytest.Function) or item.get_closest_marker("xdist_group"):
            continue
        if hasattr(item.module, "needs_loops"):
            item.add_marker(pytest.mark.xdist_group("loops"))
        elif _shares(item):
            item.add_marker(pytest.mark.xdist_group(item.path.stem))


def _shares(item: pytest.Function) -> bool:
    """Whether a fixture of its module or its class is wanted."""
    definitions = item._fixtureinfo.name2fixturedefs.values()
    return any(one.scope in ("module", "class") for wanted in definitions for one in wanted)


@pytest.fixture(autouse=True, scope="session")
def state_of_its_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What tests change, and must be able to restore, is not written into this user's own state folder."""
    before = os.environ.get("MYDYNO_STATE")
    os.environ["MYDYNO_STATE"] = str(tmp_path_factory.mktemp("state"))
    yield
    if before is None:
        del os.environ["MYDYNO_STATE"]
    else:
        os.environ["MYDYNO_STATE"] = before


@pytest.fixture(scope="module")
def checked_charts() -> Iterator[None]:
    """Altair checks every mark against Vega-Lite's schema, which a report does without."""
    from altair.utils.schemapi import debug_mode

    with debug_mode(True):
        yield
