"""How Azure's host caches the disks of a virtual machine."""

from __future__ import annotations

from pathlib import Path

from mydyno.survey.facts import Disk, Unread
from mydyno.survey.host.disks import is_azure, parse_profile, with_host_caching
from survey.host.machines import machine

ANSWER = """{
  "osDisk": {"caching": "ReadWrite", "name": "vm1_os"},
  "dataDisks": [{"lun": "0", "caching": "None"}, {"lun": "1", "caching": "ReadOnly"}, {"lun": "2"}]
}"""
TAG = {"/sys/class/dmi/id/chassis_asset_tag": "7783-7084-3265-9085-8269-3286-77\n"}


def test_caching_is_known_by_the_number_of_the_disk() -> None:
    assert parse_profile(ANSWER) == {"os": "ReadWrite", "0": "None", "1": "ReadOnly"}


def test_another_answer_is_none() -> None:
    for text in ("", "<html>", "[]", '{"dataDisks": [{"caching": "None"}]}'):
        assert parse_profile(text) is None


def test_a_machine_elsewhere_is_not_asked(tmp_path: Path) -> None:
    unread: list[Unread] = []
    here = machine(tmp_path, {"/sys/class/dmi/id/chassis_asset_tag": "No Asset Tag\n"})
    assert not is_azure(here)
    assert with_host_caching(here, (Disk(name="sda"),), unread) == (Disk(name="sda"),)
    assert unread == []


def test_without_an_answer_of_azure_it_is_said_what_is_missing(tmp_path: Path) -> None:
    unread: list[Unread] = []
    here = machine(tmp_path, TAG)
    assert is_azure(here)
    assert with_host_caching(here, (Disk(name="sda"),), unread) == (Disk(name="sda"),)
    assert [each.what for each in unread] == ["how the host caches the disks"]
