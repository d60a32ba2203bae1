"""Which systemd unit a process belongs to, by its control group; machines without systemd."""

from pathlib import Path

import pytest

from mydyno.apply.acts.read_unit import same_line
from mydyno.apply.acts.systemd import properties, unit_of
from mydyno.core.errors import ApplyError


@pytest.mark.parametrize(
    ("cgroup", "unit"),
    [
        ("0::/system.slice/mariadb.service\n", "mariadb.service"),
        ("12:pids:/x\n1:name=systemd:/system.slice/mysql.service\n0::/\n", "mysql.service"),
        ("0::/system.slice/system-mariadb.slice/mariadb@second.service\n", "mariadb@second.service"),
        ("0::/system.slice/docker-0123456789ab.scope\n", None),
        ("0::/user.slice/user-1000.slice/user@1000.service/app.slice/mine.service\n", None),
        ("0::/\n", None),
    ],
)
def test_only_a_service_of_the_system_is_restarted(cgroup: str, unit: str | None) -> None:
    assert unit_of(cgroup) == unit


def test_a_machine_without_systemd_is_reported_as_a_reason_to_leave_a_finding_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ApplyError, match="there is no systemd here"):
        properties("mariadb.service", ("LimitNOFILE",))


@pytest.mark.parametrize(
    ("shown", "written"),
    [
        ("65535", "65535"),
        ("68719476736", "64G"),
        ("15min", "900"),
        ("1min 30s", "90"),
        ("infinity", "infinity"),
        ("no", "no"),
        ("-600", "-600"),
    ],
)
def test_what_systemd_shows_is_known_again_as_what_a_drop_in_says(shown: str, written: str) -> None:
    assert same_line(shown, written)
    assert not same_line(shown, "1234")
