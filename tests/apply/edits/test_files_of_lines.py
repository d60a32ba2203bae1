"""sysctl.d, tmpfiles.d, udev rules and drop-ins of units."""

from __future__ import annotations

import pytest

from apply.edits.builders import new_text, texts
from mydyno.apply.change import SetArray, SetQueue, SetSysctl, SetSysfs, SetUnit
from mydyno.apply.edits import sysctl, tmpfiles, udev
from mydyno.apply.edits.sysctl import set_sysctl
from mydyno.apply.edits.texts import HEADER, RefusedError
from mydyno.apply.edits.tmpfiles import set_sysfs
from mydyno.apply.edits.udev import set_block_device
from mydyno.apply.edits.unit import set_unit

SWAPPINESS = SetSysctl(name="vm.swappiness", value="1", was="60")
HUGE_PAGES = SetSysfs(path="/sys/kernel/mm/transparent_hugepage/enabled", value="madvise", was="always")
SCHEDULER = SetQueue(disk="sda", attribute="scheduler", value="none", was="bfq")
FILES = SetUnit(unit="mariadb.service", name="LimitNOFILE", value="65535", was="1024")
DROP_IN = "/etc/systemd/system/mariadb.service.d/zz-mydyno.conf"


def test_a_sysctl_goes_into_a_file_of_mydyno_and_a_second_one_joins_it() -> None:
    system = texts({})
    set_sysctl(system, SWAPPINESS)
    set_sysctl(system, SetSysctl(name="vm.dirty_ratio", value="10", was="20"))
    set_sysctl(system, SetSysctl(name="vm.swappiness", value="5", was="60"))
    assert new_text(system, sysctl.PATH) == f"{HEADER}vm.swappiness = 5\nvm.dirty_ratio = 10\n"


def test_the_same_sysctl_twice_changes_nothing() -> None:
    once = texts({sysctl.PATH: f"{HEADER}vm.swappiness = 1\n"})
    set_sysctl(once, SWAPPINESS)
    assert once.changed() == {}


def test_a_later_line_for_the_same_sysctl_becomes_a_comment_and_an_earlier_one_stays() -> None:
    system = texts(
        {
            "/etc/sysctl.conf": "# main\nvm.swappiness=60\nkernel.sysrq = 1\n",
            "/etc/sysctl.d/10-early.conf": "vm.swappiness = 10\n",
            "/etc/sysctl.d/99-tuned.conf": "-vm/swappiness = 30\n",
        },
        {"/etc/sysctl.d/99-sysctl.conf": "/etc/sysctl.conf"},
    )
    set_sysctl(system, SWAPPINESS)
    said = f"# mydyno: vm.swappiness is set in {sysctl.PATH}\n"
    assert new_text(system, "/etc/sysctl.conf") == f"# main\n{said}#vm.swappiness=60\nkernel.sysrq = 1\n"
    assert new_text(system, "/etc/sysctl.d/99-tuned.conf") == f"{said}#-vm/swappiness = 30\n"
    assert set(system.changed()) == {sysctl.PATH, "/etc/sysctl.conf", "/etc/sysctl.d/99-tuned.conf"}


def test_a_packages_file_that_would_win_is_left_alone_and_named() -> None:
    system = texts({"/usr/lib/sysctl.d/99-vendor.conf": "vm.swappiness = 30\n"})
    with pytest.raises(RefusedError, match=r"/usr/lib/sysctl.d/99-vendor.conf:1 sets vm.swappiness after"):
        set_sysctl(system, SWAPPINESS)


def test_a_switch_of_the_kernel_is_a_line_for_tmpfiles() -> None:
    system = texts({})
    set_sysfs(system, HUGE_PAGES)
    assert new_text(system, tmpfiles.PATH) == f"{HEADER}w {HUGE_PAGES.path} - - - - madvise\n"
    set_sysfs(system, HUGE_PAGES.model_copy(update={"value": "never"}))
    assert new_text(system, tmpfiles.PATH).endswith(" - - - - never\n")


def test_a_switch_that_another_file_writes_is_refused_and_the_file_named() -> None:
    system = texts({"/etc/tmpfiles.d/thp.conf": f"# by hand\nw {HUGE_PAGES.path} - - - - never\n"})
    with pytest.raises(RefusedError, match=r"/etc/tmpfiles.d/thp.conf:2 writes"):
        set_sysfs(system, HUGE_PAGES)


def test_a_disk_is_matched_by_its_serial_where_that_is_known_and_else_by_its_name() -> None:
    system = texts({})
    set_block_device(system, SCHEDULER, {"sda": ("ID_SERIAL", "WDC_WD40-68_WX1")})
    set_block_device(system, SCHEDULER.model_copy(update={"disk": "vdb"}), {})
    assert new_text(system, udev.PATH) == (
        f'{HEADER}ACTION=="add|change", SUBSYSTEM=="block", ENV{{DEVTYPE}}=="disk", '
        'ENV{ID_SERIAL}=="WDC_WD40-68_WX1", ATTR{queue/scheduler}="none"\n'
        'ACTION=="add|change", SUBSYSTEM=="block", ENV{DEVTYPE}=="disk", '
        'KERNEL=="vdb", ATTR{queue/scheduler}="none"\n'
    )


def test_two_attributes_of_a_disk_and_an_array_are_three_rules_each_written_once() -> None:
    system = texts({})
    for value in ("128", "64"):
        set_block_device(system, SetQueue(disk="sda", attribute="read_ahead_kb", value=value, was="4096"), {})
        set_block_device(system, SCHEDULER, {})
        set_block_device(
            system, SetArray(array="md0", attribute="stripe_cache_size", value="4096", was="256"), {}
        )
    rules = new_text(system, udev.PATH).removeprefix(HEADER).splitlines()
    assert [rule.rpartition(", ")[2] for rule in rules] == [
        'ATTR{queue/read_ahead_kb}="64"',
        'ATTR{queue/scheduler}="none"',
        'ATTR{md/stripe_cache_size}="4096"',
    ]


def test_a_serial_that_a_rule_could_take_for_something_else_is_not_used() -> None:
    system = texts({})
    set_block_device(system, SCHEDULER, {"sda": ("ID_SERIAL", 'x", RUN+="/bin/sh')})
    set_block_device(system, SCHEDULER.model_copy(update={"disk": "sdb"}), {"sdb": ("ID_SERIAL", "every*")})
    assert "RUN" not in new_text(system, udev.PATH)
    assert [line.split(", ")[3] for line in new_text(system, udev.PATH).splitlines()[1:]] == [
        'KERNEL=="sda"',
        'KERNEL=="sdb"',
    ]


def test_a_value_with_a_quote_in_it_is_refused() -> None:
    with pytest.raises(RefusedError, match="characters that a udev rule cannot match"):
        set_block_device(texts({}), SCHEDULER.model_copy(update={"value": 'none", RUN+="x'}), {})


def test_properties_of_a_unit_go_into_one_drop_in() -> None:
    system = texts({})
    set_unit(system, FILES)
    set_unit(system, FILES.model_copy(update={"name": "TasksMax", "value": "infinity"}))
    set_unit(system, FILES)
    assert new_text(system, DROP_IN) == f"{HEADER}[Service]\nLimitNOFILE=65535\nTasksMax=infinity\n"


def test_a_drop_in_that_is_read_later_and_says_the_same_property_is_named() -> None:
    system = texts({"/etc/systemd/system/mariadb.service.d/zzz.conf": "[Service]\nLimitNOFILE=1\n"})
    with pytest.raises(RefusedError, match=r"zzz.conf:2 says LimitNOFILE"):
        set_unit(system, FILES)


def test_what_is_no_name_of_a_service_is_refused() -> None:
    with pytest.raises(RefusedError, match="not a systemd service"):
        set_unit(texts({}), FILES.model_copy(update={"unit": "../../passwd"}))
