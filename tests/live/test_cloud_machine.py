"""What `mydyno cloud export` writes, on a machine: a QEMU guest that boots from the user data as it is.

Not tested here, because it needs an account, is what makes the machine: docs/how-to/cloud-disks.md.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import jsonschema_rs
import pytest
from lab.cloud.builders import choices, fixed
from ruamel.yaml import YAML
from typer.testing import CliRunner

from live.cloud_guest import CloudGuest, build_cloud_image
from live.mydyno_process import MEASURED, Workplace, faults
from live.packages import unpacked
from mydyno.cli.main import app
from mydyno.core.errors import HostError, MissingToolError
from mydyno.lab.cloud.catalogue import PROVIDERS, ProviderName
from mydyno.lab.cloud.folder import files, machine_for
from mydyno.lab.results.store import Lab
from mydyno.machine.hosts.entry import read_hosts
from mydyno.machine.images.suites import machine_suite
from mydyno.machine.local import LocalHost

pytestmark = [pytest.mark.live, pytest.mark.timeout(7200)]

LOAD = """\
  server: {config: {innodb_buffer_pool_size: 16M}}
workload:
  oltp04: {table_size: 1000}
  connections: [2]
  think: 5ms
  each: {warmup: 200ms, measure: 5s}
design: {repeats: 1}
"""
EXPERIMENT = (
    """experiment: array
setup:
  host: vm
  storage:
    data:
      disks: {count: 4, size: 1G, iops: 500}
      raid: 10
      chunk: 64K
      filesystem: xfs
      mkfs: [-L, "a'b$(x)"]
      mount: [noatime]
      scheduler: mq-deadline
      readahead: 256K
  limits: {nofile: 4096}
"""
    + LOAD
)
FILES_EXPERIMENT = (
    """experiment: disk-files
setup:
  host: ssh:there
  storage:
    data: {disks: {count: 3, size: 320M}, raid: 5, chunk: 64K, filesystem: xfs, mount: [noatime]}
"""
    + LOAD
)
"""cloud-init makes the array of EXPERIMENT of the machine's disks; mydyno makes this one, of files there."""
SCHEMA = "usr/lib/python3/dist-packages/cloudinit/config/schemas/schema-cloud-config-v1.json"
_STATUS_SECONDS = 3600.0


@pytest.fixture(scope="module")
def schema(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    """cloud-init's own, of this machine's package sources."""
    root = unpacked(["cloud-init"], tmp_path_factory.mktemp("cloud-init"))
    read: dict[str, object] = json.loads((root / SCHEMA).read_text())
    return read


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("limits", ["", "  limits: {nofile: 3000000, nproc: 100}\n"])
def test_cloud_init_s_own_schema_takes_the_user_data(
    schema: dict[str, object], provider: ProviderName, limits: str
) -> None:
    one = fixed(setup=limits)
    text = files(one, machine_for(one, choices(provider)))["cloud-init.yaml"]
    assert text.startswith("#cloud-config\n")
    jsonschema_rs.validate(schema, YAML(typ="safe").load(text))


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the command writes for Google Cloud; `key` is the private key that fits."""
    folder = tmp_path_factory.mktemp("export")
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / "key"], check=True)
    (folder / "array.yaml").write_text(EXPERIMENT)
    words = ["cloud", "export", str(folder / "array.yaml"), "--provider", "gcp", "--ssh-from", "10.0.2.0/24"]
    done = CliRunner().invoke(app, [*words, "--ssh-key", f"{folder}/key.pub", "--out", f"{folder}/machine"])
    assert done.exit_code == 0, done.output
    return folder


@pytest.fixture(scope="module")
def guest(exported: Path) -> Iterator[CloudGuest]:
    """Booted for the first time, with cloud-init at work."""
    folder = Path(tempfile.mkdtemp(prefix="mydyno-cloud-"))
    try:
        try:
            image = build_cloud_image(folder, machine_suite(LocalHost()), lambda step: None)
        except (MissingToolError, HostError) as why:
            pytest.skip(f"the guest cannot be built: {why.message}")
        user_data = (exported / "machine" / "cloud-init.yaml").read_text()
        booted = CloudGuest(image, folder, user_data, ("data-2", "data-0", "data-3", "data-1"))
        try:
            booted.switch_on()
            yield booted
        finally:
            booted.switch_off()
    finally:
        shutil.rmtree(folder)


def ssh(guest: CloudGuest, exported: Path, command: str, *, status: int = 0) -> str:
    """What a command there prints."""
    done = subprocess.run(
        ["ssh", "-F", str(ssh_config(guest, exported)), "-o", "BatchMode=yes", "there", command],
        *(), capture_output=True, text=True, check=False, timeout=_STATUS_SECONDS,
    )  # fmt: skip
    assert done.returncode == status, f"{command}: {done.stdout}{done.stderr}\n{guest.console[-2000:]}"
    return done.stdout


def ssh_config(guest: CloudGuest, exported: Path) -> Path:
    file = exported / "ssh_config"
    file.write_text(
        f"Host there\n  HostName 127.0.0.1\n  Port {guest.port}\n  User mydyno\n"
        f"  IdentityFile {exported}/key\n  IdentitiesOnly yes\n  UserKnownHostsFile {guest.folder}/known\n"
        "  GlobalKnownHostsFile /dev/null\n  ConnectTimeout 300\n"
    )
    file.chmod(0o600)
    return file


def hosts_file(guest: CloudGuest, exported: Path) -> Path:
    """As OpenTofu writes it, with the guest's address; and the configuration of ssh that has its port."""
    document = json.loads((exported / "machine" / "main.tf.json").read_text())
    content = document["resource"]["local_file"]["hosts"]["content"]
    file = exported / "hosts.yaml"
    written = re.sub(r"mydyno@\$\{[^}]*\}", "there", content)
    file.write_text(f"{written}    config: {ssh_config(guest, exported)}\n")
    assert [host.destination for host in read_hosts(file).values()] == ["there"]
    return file


STATE = """
findmnt -n -o FSTYPE,OPTIONS /srv/mydyno/data
stat -c '%U' /srv/mydyno/data
array=$(findmnt -n -o SOURCE /srv/mydyno/data)
sudo mdadm --detail "$array" | grep -E 'Raid Level|Chunk Size|State :|Raid Devices'
cat /sys/block/${array#/dev/}/queue/read_ahead_kb
for disk in 0 1 2 3; do
    name=$(readlink -f /dev/disk/by-id/scsi-0Google_PersistentDisk_data-$disk)
    cat /sys/block/${name#/dev/}/queue/scheduler
    sudo mdadm --examine "$name" | grep 'Device Role'
done
sudo blkid -p -s LABEL -o value "$array"
ulimit -n; ulimit -Hn
"""


def state_of(guest: CloudGuest, exported: Path) -> str:
    said = ssh(guest, exported, STATE)
    lines = [" ".join(line.split()) for line in said.splitlines()]
    assert lines[0].startswith("xfs rw,noatime,")
    assert lines[1] == "mydyno"
    assert lines[2:5] == ["Raid Level : raid10", "Raid Devices : 4", lines[4]]
    assert re.fullmatch("State : (clean|active)", lines[4])
    assert lines[5:7] == ["Chunk Size : 64K", "256"]
    for disk in range(4):
        scheduler, role = lines[7 + 2 * disk : 9 + 2 * disk]
        assert "[mq-deadline]" in scheduler
        assert role == f"Device Role : Active device {disk}", "in the experiment's order, not that of /dev"
    assert lines[15:] == ["a'b$(x)", "4096", "4096"]
    return said


@pytest.mark.slow
def test_the_user_data_builds_the_array_and_an_experiment_runs_on_it(
    guest: CloudGuest, exported: Path, workplace: Workplace
) -> None:
    status = ssh(guest, exported, "cloud-init status --wait --long")
    assert "status: done" in status, ssh(guest, exported, "sudo cat /var/log/cloud-init-output.log")
    state_of(guest, exported)
    hosts = hosts_file(guest, exported)
    experiment = exported / "machine" / "experiment.yaml"
    checked = workplace.run("hosts", "check", "--hosts", str(hosts), "--json")
    assert checked.returncode == 0, checked.stdout + checked.stderr
    (facts,) = json.loads(checked.stdout)
    assert facts["facts"]["folder"] == "/srv/mydyno/data/mydyno"
    done = workplace.run("run", str(experiment), "--hosts", str(hosts), "--no-report")
    assert done.returncode in MEASURED, done.stderr
    with Lab.open(workplace.lab, write=False) as lab:
        (trial,) = lab.find_run().trials()
    assert faults([trial]) == set()
    assert trial.settings_in_force["datadir"].startswith("/srv/mydyno/data/mydyno/trials/")
    assert trial.settings_in_force["open_files_limit"] == "4096"
    assert trial.phases[0].queries > 0


@pytest.mark.slow
def test_an_array_of_disk_files_is_built_over_ssh_and_nothing_of_it_stays(
    guest: CloudGuest, exported: Path, workplace: Workplace
) -> None:
    ssh(guest, exported, "cloud-init status --wait")
    ssh(guest, exported, "sudo mkdir -p /root/.ssh && sudo cp ~/.ssh/authorized_keys /root/.ssh/")
    there = {"destination": "root@there", "config": str(ssh_config(guest, exported))}
    hosts = exported / "of-root.yaml"
    hosts.write_text(json.dumps({"hosts": {"there": there}}))
    experiment = exported / "disk-files.yaml"
    experiment.write_text(FILES_EXPERIMENT)
    done = workplace.run("run", str(experiment), "--hosts", str(hosts), "--no-report")
    assert done.returncode in MEASURED, done.stderr
    with Lab.open(workplace.lab, write=False) as lab:
        (trial,) = lab.find_run().trials()
    assert faults([trial]) == set()
    assert trial.ground is not None
    (volume,) = trial.ground.volumes
    assert volume.facts["array"].startswith("md raid5 of 3 ")
    assert volume.facts["file system"] == "xfs"
    assert "noatime" in volume.facts["mount"].split(",")
    assert trial.phases[0].queries > 0
    loops, sessions = "losetup --list --noheadings", "ls --ignore=lock /var/cache/mydyno/agent/trials"
    assert ssh(guest, exported, f"sudo {loops}; sudo {sessions}") == ""
    arrays = ssh(guest, exported, "sudo mdadm --detail --scan").splitlines()
    assert len(arrays) == 1, "that of the machine's disks is left"
    state_of(guest, exported)


@pytest.mark.slow
def test_after_a_reboot_the_array_is_assembled_and_has_what_was_on_it(
    guest: CloudGuest, exported: Path
) -> None:
    before = state_of(guest, exported)
    ssh(guest, exported, "echo kept >/srv/mydyno/data/kept && sync && sudo systemctl --no-block poweroff")
    guest.wait_until_off(1200)
    guest.switch_on()
    ssh(guest, exported, "until sudo systemctl is-active -q mydyno-storage; do sleep 1; done")
    assert ssh(guest, exported, "cat /srv/mydyno/data/kept") == "kept\n"
    after = state_of(guest, exported)
    assert after.splitlines()[7:] == before.splitlines()[7:]
