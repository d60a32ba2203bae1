from pathlib import Path

import pytest

from mydyno.core.errors import LabError
from mydyno.machine.identity import Identity
from mydyno.machine.local import LocalHost
from mydyno.machine.process_limits import Limits
from mydyno.server.program.command import refuse_covered, server_command

SERVER = Path("/usr/sbin/mariadbd")
ROOT = Path("/home/dba/.cache/mydyno/servers/mariadb-10.5/root")
NOBODY = Identity("nobody", 65534, 65534)


class Elsewhere(LocalHost):
    """This machine, with an agent at a known place."""

    def __init__(self, identity: Identity | None) -> None:
        super().__init__()
        self.server_identity = identity

    def program(self, name: str) -> Path:
        return Path("/opt/mydyno") / name


ROOTS, ORDINARY = Elsewhere(NOBODY), Elsewhere(None)


def test_a_program_of_the_machine_is_started_as_it_is_and_the_host_changes_the_user() -> None:
    command = server_command(ROOTS, SERVER, ["--version"], root=None)
    assert command.argv == ("/usr/sbin/mariadbd", "--version")
    assert command.identity is NOBODY


def test_in_a_private_root_the_agent_changes_the_user_when_it_has_covered_the_machines_folders() -> None:
    command = server_command(ROOTS, SERVER, ["--version"], root=ROOT)
    assert command.argv == (
        *("/opt/mydyno/mydyno-agent", "within", str(ROOT), "--user", "65534:65534", "--"),
        *("/usr/sbin/mariadbd", "--version"),
    )
    assert command.identity is None


def test_an_ordinary_user_enters_a_private_root_as_who_it_is() -> None:
    command = server_command(ORDINARY, SERVER, [], root=ROOT)
    assert "--user" not in command.argv
    assert command.identity is None


def test_limits_are_set_on_the_very_process_that_enters_the_root() -> None:
    argv = list(server_command(ROOTS, SERVER, [], root=ROOT, limits=Limits(nofile=512)).argv)
    assert argv[:3] == ["prlimit", "--nofile=512:512", "--"]
    assert argv[3:5] == ["/opt/mydyno/mydyno-agent", "within"]
    assert "setpriv" not in argv


def test_limits_without_a_root_are_set_before_the_change_of_user() -> None:
    command = server_command(ROOTS, SERVER, [], root=None, limits=Limits(nofile=512))
    assert command.identity is None
    assert command.argv.index("prlimit") < command.argv.index("setpriv") < command.argv.index(str(SERVER))


@pytest.mark.parametrize("place", ["/usr/local/lab", "/etc/lab", "/usr"])
def test_a_lab_that_a_private_root_would_cover_is_refused(place: str) -> None:
    refuse_covered(None, [Path(place)])
    with pytest.raises(LabError, match=rf"{place} lies below /(usr|etc)") as raised:
        refuse_covered(ROOT, [Path("/home/dba/lab"), Path(place)])
    assert "--lab" in str(raised.value)


def test_a_link_does_not_hide_where_a_lab_is(tmp_path: Path) -> None:
    (tmp_path / "lab").symlink_to("/usr/share")
    with pytest.raises(LabError, match="lies below /usr"):
        refuse_covered(ROOT, [tmp_path / "lab" / "run"])


def test_a_place_whose_name_only_begins_alike_is_taken(tmp_path: Path) -> None:
    refuse_covered(ROOT, [Path("/usrlocal/lab"), Path("/home/usr/lab"), tmp_path])
