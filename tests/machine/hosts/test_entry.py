"""hosts.yaml: what it may say, and what a reader is shown of what it may not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from mydyno.core.document.problems import SpecErrors
from mydyno.core.errors import UsageError
from mydyno.machine.hosts.check import listens_on
from mydyno.machine.hosts.entry import HostEntry, chosen, hosts_in, read_hosts

DOCUMENT = Path(__file__).parents[3] / "docs/reference/hosts.md"


def problems(text: str) -> list[str]:
    with pytest.raises(SpecErrors) as refused:
        hosts_in(text, "hosts.yaml")
    return [str(problem) for problem in refused.value.problems]


def test_a_host_is_a_destination_or_keys() -> None:
    hosts = hosts_in(
        "hosts:\n"
        "  db1: ssh:mysql@db1.example\n"
        "  c1: c1\n"
        "  c2: {destination: c2, roles: load, folder: /data/mydyno, config: ~/lab.conf}\n",
        "hosts.yaml",
    )
    assert hosts["db1"] == HostEntry(destination="mysql@db1.example")
    assert hosts["c1"].destination == "c1"
    assert hosts["c2"].roles == ("load",)
    assert hosts["c2"].folder == Path("/data/mydyno")
    assert hosts["c2"].config == Path.home() / "lab.conf"


def test_every_problem_is_shown_at_its_line_with_what_was_meant() -> None:
    shown = problems(
        "host: {}\n"
        "hosts:\n"
        "  a: {destinaton: db1}\n"
        "  b: {destination: db1, roles: [sever]}\n"
        "  c: {destination: db1, launcher: shh}\n"
        "  d d: db1\n"
        "  e: {destination: db1, folder: data}\n"
    )
    assert shown == [
        "hosts.yaml:1:1: the file: unknown key 'host' (did you mean 'hosts'?); allowed: hosts",
        "hosts.yaml:3:3: hosts.a.destination is missing; allowed: for example destination: mysql@db1.example",
        "hosts.yaml:3:7: hosts.a: unknown key 'destinaton' (did you mean 'destination'?); "
        "allowed: launcher, destination, roles, folder, config, partition, address, allow_production",
        "hosts.yaml:4:33: hosts.b.roles: unknown role 'sever' (did you mean 'server'?); "
        "allowed: server, load",
        "hosts.yaml:5:35: hosts.c.launcher: unknown value 'shh' (did you mean 'ssh'?); allowed: ssh, slurm",
        "hosts.yaml:6:3: hosts: this cannot be a name (got d d); allowed: letters, digits, _, - and .",
        "hosts.yaml:7:33: hosts.e.folder is not an absolute path of plain characters (got data); "
        "allowed: as /data/mydyno",
    ]


@pytest.mark.parametrize(
    "destination", ["-oProxyCommand=true", "a b", "a;b", "$(id)", "user:word@db1", "a\nb", "", "@db1"]
)
def test_what_ssh_or_a_shell_would_take_apart_is_no_destination(destination: str) -> None:
    with pytest.raises(ValueError, match="is not a destination of ssh"):
        HostEntry(destination=destination)


@pytest.mark.parametrize("folder", ["/a b", "/a/../b", "/$HOME", "~/x", "/a\nb"])
def test_a_folder_is_a_plain_absolute_path(folder: str) -> None:
    with pytest.raises(ValueError, match="absolute path"):
        HostEntry.model_validate({"destination": "db1", "folder": folder})


@pytest.mark.parametrize("text", ["hosts:\n", "hosts: {}\n", "hosts: [db1]\n"])
def test_a_file_without_hosts_is_refused(text: str) -> None:
    (shown,) = problems(text)
    assert "hosts: no host is listed" in shown


@pytest.mark.parametrize("address", ["db1.example", "10.0.0", "0.0.0.0", "::", "224.0.0.1", "10.0.0.5:3306"])
def test_an_address_is_that_of_one_interface(address: str) -> None:
    assert HostEntry.model_validate({"destination": "db1", "address": "fd00::5"}).address == "fd00::5"
    with pytest.raises(ValueError, match="address"):
        HostEntry.model_validate({"destination": "db1", "address": address})


def test_an_unknown_name_has_a_suggestion(tmp_path: Path) -> None:
    file = tmp_path / "hosts.yaml"
    file.write_text("hosts: {db1: db1, c1: c1}\n")
    hosts = read_hosts(file)
    assert list(chosen(hosts, ["c1"])) == ["c1"]
    assert list(chosen(hosts, [])) == ["db1", "c1"]
    with pytest.raises(UsageError, match=r"unknown host 'bd1' \(did you mean 'db1'\?\)"):
        chosen(hosts, ["bd1"])


def test_every_key_is_documented_and_the_examples_are_read() -> None:
    text = DOCUMENT.read_text()
    documented = re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE)
    assert documented == list(HostEntry.model_fields)
    examples = re.findall(r"^```yaml\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert examples
    for example in examples:
        assert hosts_in(example, "hosts.md")


def test_a_listening_socket_is_distinguished_from_a_connection() -> None:
    head = "  sl  local_address rem_address   st\n"
    listening = head + "   0: 00000000:0CEA 00000000:0000 0A 00000000:00000000\n"
    connected = head + "   0: 0100007F:0CEA 0100007F:D431 01 00000000:00000000\n"
    assert listens_on(3306, None, listening)
    assert not listens_on(3306, connected, None)
    assert not listens_on(3307, listening)
