"""The user data: YAML that says what it is to say, and a script in which every word stays the word it was."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from ruamel.yaml import YAML

from lab.cloud.builders import KEY, choices, fixed, machine
from mydyno.lab.cloud.catalogue import PROVIDERS, ProviderName
from mydyno.lab.cloud.cloud_init import cloud_init, packages_of
from mydyno.lab.cloud.folder import machine_for
from mydyno.lab.cloud.machine import CloudDisk, CloudVolume
from mydyno.lab.cloud.providers import PROVIDER_WORDS
from mydyno.lab.cloud.storage_script import storage_script
from mydyno.lab.spec import Volume

STUBBED = ("blkid", "chown", "mdadm", "mkdir", "mkfs.ext4", "mount", "mountpoint", "wipefs")
_STUB = """#!/bin/sh
{ printf '%s\\0' "${0##*/}" "$@"; printf '\\n\\0'; } >>"$RECORD"
case "${0##*/} $1" in "mountpoint "*|"mdadm --examine") exit 1;; esac
"""


def parsed(text: str) -> dict[str, Any]:
    value: dict[str, Any] = YAML(typ="safe").load(text)
    return value


def user_data(storage: str, provider: ProviderName = "gcp", **more: Any) -> str:
    return cloud_init(machine(storage, provider, **more), PROVIDER_WORDS[provider].disk_names)


def contents(text: str) -> dict[str, str]:
    return {file["path"]: file["content"] for file in parsed(text)["write_files"]}


def volume(**keys: Any) -> Volume:
    return Volume.model_validate({"disks": {"count": 1, "size": "1G"}, **keys})


def run_with_stubs(script: str, folder: Path) -> list[list[str]]:
    """What the script would run, a list of words each, where programs only record their words."""
    programs, record = folder / "bin", folder / "record"
    programs.mkdir()
    for name in STUBBED:
        (programs / name).write_text(_STUB)
        (programs / name).chmod(0o755)
    script = script.replace("PATH=/usr/sbin:", f"PATH={programs}:/usr/sbin:").replace("[ -b ", "[ -e ")
    done = subprocess.run(
        ["/bin/sh"], input=script, env={"RECORD": str(record)}, cwd=folder, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return [call.split("\0")[:-1] for call in record.read_text().split("\n\0")[:-1]]


def script_of(wanted: Volume, link: Path) -> str:
    disks = tuple(CloudDisk("data", 0, index, 1, 1, "none") for index in range(wanted.disks.count))
    names: Sequence[str] = (str(link),)
    return storage_script([CloudVolume("data", wanted, disks)], lambda _: names)


WORDS = st.text(st.sampled_from("\"'$`{}%\\;&|<>()*?[]!#~ =ae\u00e9-"), min_size=1, max_size=12)


@settings(max_examples=40)
@given(label=WORDS, option=WORDS)
def test_a_word_of_the_experiment_is_one_word_of_one_command_whatever_it_holds(
    label: str, option: str
) -> None:
    try:
        wanted = volume(filesystem="ext4", mkfs=["-L", label], mount=[f"commit={option}"])
    except ValidationError:
        assume(False)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        link = folder / "a disk with 'quotes' and $(spaces)"
        link.touch()
        calls = run_with_stubs(script_of(wanted, link), folder)
        assert sorted(path.name for path in folder.iterdir()) == sorted(["bin", "record", link.name])
    by_name = {call[0]: call[1:] for call in calls}
    assert by_name["mkfs.ext4"][-3:] == ["-L", label, str(link)]
    assert by_name["mount"] == [
        "-t", "ext4", "-o", f"commit={option}", str(link), "/srv/mydyno/data",
    ]  # fmt: skip
    assert by_name["chown"] == ["mydyno:", "/srv/mydyno/data"]


@given(label=WORDS | st.text(st.characters(exclude_categories=("Cs",)), max_size=12))
def test_yaml_gives_back_every_script_as_it_was(label: str) -> None:
    try:
        wanted = volume(filesystem="ext4", mkfs=["-L", label])
    except ValidationError:
        assume(False)
    built = machine("{data: {disks: {size: 10G}, filesystem: ext4}}", "gcp")
    volumes = (replace(built.volumes[0], wanted=wanted),)
    names = PROVIDER_WORDS["gcp"].disk_names
    text = cloud_init(replace(built, volumes=volumes), names)
    assert contents(text)["/usr/local/sbin/mydyno-storage"] == storage_script(volumes, names)


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(
    "storage",
    [
        "{data: {disks: {count: 4, size: 64G}, raid: 10, layout: f2, chunk: 64K, filesystem: xfs}}",
        "{data: {disks: {count: 4, size: 64G}, raid: 5, bitmap: internal, initial_sync: await,"
        " scheduler: bfq, queue_depth: 64, readahead: 128K, filesystem: ext4}}",
        "{data: {disks: {count: 2, size: 64G}, filesystem: btrfs, data_profile: raid0, readahead: 128K}}",
        "{data: {disks: {size: 64G}, filesystem: f2fs}, log: {disks: {count: 2}, raid: linear}}",
    ],
)
def test_every_script_is_valid_shell_and_names_no_disk_by_its_place(
    provider: ProviderName, storage: str
) -> None:
    for path, content in contents(user_data(storage, provider)).items():
        if path.startswith("/usr/local/sbin"):
            checked = subprocess.run(["/bin/sh", "-n"], input=content, capture_output=True, text=True)
            assert (checked.returncode, checked.stderr) == (0, "")
            for place in ("/dev/sd", "/dev/nvme", "/dev/xvd", "/dev/vd"):
                assert place not in content


def test_the_array_is_built_as_elsewhere_and_only_on_blank_disks(tmp_path: Path) -> None:
    wanted = volume(
        disks={"count": 4, "size": "1G"}, raid=10, chunk="64K", filesystem="ext4", mount=["noatime"]
    )
    link = tmp_path / "disk"
    link.touch()
    calls = run_with_stubs(script_of(wanted, link), tmp_path)
    programs = [call[0] for call in calls]
    assert programs == [
        "mdadm", "wipefs", "wipefs", "wipefs", "wipefs", "mdadm", "blkid", "wipefs", "mkfs.ext4", "mkdir",
        "mountpoint", "mount", "chown",
    ]  # fmt: skip
    assert calls[5] == [
        *("mdadm", "--create", "/dev/md/mydyno-data", "--run", "--metadata=1.2", "--homehost=none"),
        *("--level=10", "--raid-devices=4", "--chunk=64K", "--bitmap=none", "--assume-clean"),
        *[str(link)] * 4,
    ]
    assert "stride=16,stripe_width=32" in ",".join(calls[8])


def test_a_disk_that_carries_something_is_left_alone(tmp_path: Path) -> None:
    link = tmp_path / "disk"
    link.touch()
    script = script_of(volume(filesystem="ext4"), link)
    signed = script.replace('$(wipefs --no-act --noheadings "$each")', "$(echo ext4)")
    assert signed != script
    with pytest.raises(AssertionError, match=f"{link} carries something: it is not formatted"):
        run_with_stubs(signed, tmp_path)


def test_a_disk_that_never_comes_is_an_error(tmp_path: Path) -> None:
    script = script_of(volume(filesystem="ext4"), tmp_path / "missing").replace("-lt 600", "-lt 1")
    with pytest.raises(AssertionError, match=f"no disk {tmp_path}/missing after 600 s"):
        run_with_stubs(script, tmp_path)


def test_the_user_has_the_given_key_alone_and_no_password() -> None:
    config = parsed(user_data("{data: {disks: {size: 10G}}}"))
    (user,) = config["users"]
    assert (user["name"], user["ssh_authorized_keys"], user["lock_passwd"]) == ("mydyno", [KEY], True)
    assert (config["ssh_pwauth"], config["disable_root"]) == (False, True)


def test_limits_are_those_of_the_session_and_the_kernel_allows_them() -> None:
    limits = "/etc/security/limits.d/90-mydyno.conf"
    assert contents(user_data("{data: {disks: {size: 10G}}}"))[limits] == "mydyno - nofile 65536\n"
    many = machine_for(fixed(setup="  limits: {nofile: 2000000, nproc: 5000}\n"), choices())
    text = cloud_init(many, PROVIDER_WORDS["azure"].disk_names)
    assert contents(text)[limits] == "mydyno - nofile 2000000\nmydyno - nproc 5000\n"
    assert contents(text)["/etc/sysctl.d/90-mydyno.conf"] == "fs.nr_open = 2000000\n"
    assert parsed(text)["runcmd"][0] == ["sysctl", "--load=/etc/sysctl.d/90-mydyno.conf"]


def test_packages_are_those_of_the_server_and_of_what_is_built() -> None:
    data = "data: {disks: {count: 2, size: 10G}, raid: 1, filesystem: xfs}"
    storage = f"{{{data}, log: {{disks: {{}}, filesystem: ext4}}}}"
    assert packages_of(machine(storage)) == ("mariadb-server-core", "mdadm", "xfsprogs", "e2fsprogs")
    single = machine("{data: {disks: {size: 10G}}}", "aws", server="mysql", image="ubuntu-24.04")
    assert packages_of(single) == ("mysql-server-core-8.0", "e2fsprogs")


def test_azure_disks_are_found_by_lun_and_the_others_by_identity() -> None:
    storage = "{data: {disks: {size: 10G}}, log: {disks: {}}}"
    found = {
        provider: contents(user_data(storage, provider))["/usr/local/sbin/mydyno-storage"]
        for provider in PROVIDERS
    }
    assert "log_0=$(disk /dev/disk/azure/data/by-lun/1 /dev/disk/azure/scsi1/lun1)" in found["azure"]
    assert "log_0=$(disk /dev/disk/by-id/nvme-Amazon_Elastic_Block_Store_@log-0@)" in found["aws"]
    google = "/dev/disk/by-id/google-log-0 /dev/disk/by-id/scsi-0Google_PersistentDisk_log-0"
    assert f"log_0=$(disk {google})" in found["gcp"]
