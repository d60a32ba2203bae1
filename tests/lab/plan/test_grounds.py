"""What each ground offers on a machine with given facts, and what the plan says where it does not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lab.spec.builders import document, experiment, workload
from mydyno.cli.planning import refuse_missing_tools
from mydyno.core.errors import MissingToolError
from mydyno.core.facts import AskedDisk, DiskFacts, FarStorageFacts, GroundFacts, HostFacts
from mydyno.core.grounds import HostKind
from mydyno.lab import plan, spec
from mydyno.lab.plan.grounds import CAPABILITIES, MAKERS, offer

FACTS = HostFacts(memory_bytes=16 * 1024**3, cpus=2, free_disk_bytes=100 * 1024**3)
EVERYTHING = GroundFacts(
    root=True,
    kernel="6.1.0-44-amd64",
    filesystems=frozenset(MAKERS),
    md=True,
    loops=True,
    throttling=True,
    programs=frozenset({"mdadm", "fio", *MAKERS.values()}),
    agent=True,
    ssh=True,
    fetches=False,
    uml_kernels=("6.1.176", "5.10.200", "7.2.7"),
    uml_kernel="6.1",
    qemu=True,
    kvm=True,
    vm_kernels=("6.1", "6.12"),
    vm_kernel="6.1",
)
MODEST = replace(EVERYTHING, kernel="6.18.44", md=False, filesystems=frozenset({"ext4", "xfs"}))
FAR = FarStorageFacts(
    root=True,
    kernel="6.12.9",
    filesystems=frozenset({"ext4", "xfs"}),
    md=True,
    loops=True,
    throttling=True,
    programs=frozenset({"mdadm", "fio", "mke2fs", "mkfs.xfs"}),
    user="root",
    folder="/var/cache/mydyno/agent",
    private_mounts=True,
    direct=True,
)
SMALL = workload("oltp-read-only: {tables: 1, table_size: 100}")


def problems(setup: str, facts: GroundFacts, **sections: str) -> list[str]:
    try:
        plan.make(experiment(setup=setup, **{"workload": SMALL, **sections}), FACTS, facts)
    except spec.SpecErrors as errors:
        return [str(problem) for problem in errors.problems]
    return []


@pytest.mark.parametrize("ground", ["local", "uml", "vm"])
def test_a_machine_with_everything_offers_all_but_what_a_guest_never_has(ground: HostKind) -> None:
    lacking = {name for name in CAPABILITIES if not offer(name, ground, EVERYTHING).has}
    assert lacking == (set() if ground == "local" else {"real disks"})


@pytest.mark.parametrize("ground", ["local", "uml", "vm", "ssh"])
def test_what_is_lacking_says_why(ground: HostKind) -> None:
    nothing = GroundFacts(
        root=False,
        kernel="6.18.1",
        filesystems=frozenset(),
        md=False,
        loops=False,
        throttling=False,
        programs=frozenset(),
        agent=False,
        ssh=False,
        fetches=False,
        uml_kernels=(),
        uml_kernel="6.1",
        qemu=False,
        kvm=False,
        vm_kernels=(),
        vm_kernel=None,
    )
    for name in CAPABILITIES:
        offered = offer(name, ground, nothing)
        assert offered.has or offered.why


def test_an_array_without_md_is_reported_at_its_line_with_the_grounds_that_have_it() -> None:
    setup = "{host: local, storage: {data: {disks: {count: 4, size: 1G}, raid: 10}}}"
    column = document(setup=setup).split("\n")[1].index("raid: 10") + len("raid: ") + 1
    assert problems(setup, MODEST) == [
        f"experiment.yaml:2:{column}: host local does not support RAID 10: this machine's kernel 6.18.44 has "
        "no md (got 10); allowed: host: uml or vm"
    ]


def test_a_file_system_that_no_ground_has_says_so() -> None:
    setup = "{host: local, storage: {data: {disks: {size: 1G}, filesystem: jfs}}}"
    bare = replace(MODEST, uml_kernels=(), qemu=False)
    [problem] = problems(setup, bare)
    assert "host local does not support jfs: this machine's kernel 6.18.44 has no jfs" in problem
    assert "allowed: no environment of this machine has it" in problem


@pytest.mark.parametrize(("kernel", "refused"), [("6.1", False), ("6.12", False), ("7.2", True)])
def test_reiserfs_went_in_6_13(kernel: str, refused: bool) -> None:
    setup = (
        f"{{host: {{kind: uml, kernel: {kernel}}}, "
        "storage: {data: {disks: {size: 1G}, filesystem: reiserfs}}}"
    )
    facts = replace(EVERYTHING, uml_kernels=("6.1.176", "6.12.30", "7.2.7"))
    problems_found = problems(setup, facts)
    assert bool(problems_found) == refused
    if refused:
        assert "kernel 7.2 has no reiserfs: removed in 6.13" in problems_found[0]
        assert "allowed: an older host.kernel" in problems_found[0]


@pytest.mark.parametrize(("kernel", "refused"), [("6.1", False), ("6.12", True), ("6.14", False)])
def test_linear_arrays_were_gone_for_a_while(kernel: str, refused: bool) -> None:
    assert offer("linear", "vm", EVERYTHING, kernel).has != refused
    assert offer("md", "vm", EVERYTHING, kernel).has


def test_a_plan_is_shown_without_the_programs_that_it_needs_and_names_them() -> None:
    setup = "{host: uml, storage: {data: {disks: {count: 2, size: 1G}, raid: 1, filesystem: jfs}}}"
    bare = replace(EVERYTHING, programs=frozenset({"mke2fs"}))
    made = plan.make(experiment(setup=setup, workload=SMALL), FACTS, bare)
    assert [tool.program for tool in made.missing_tools] == ["mdadm", "mkfs.jfs", "fio"]
    text = plan.render(made)
    assert "missing programs" in text
    assert "! mdadm is not installed, for RAID 1: apt-get install mdadm" in text
    assert "! mkfs.jfs is not installed, for jfs: apt-get install jfsutils" in text
    assert "! fio is not installed, for the self-check of the disks: apt-get install fio" in text
    with pytest.raises(MissingToolError, match=r"mdadm is not installed, for RAID 1; mkfs.jfs") as refused:
        refuse_missing_tools(made)
    assert refused.value.hint == "apt-get install mdadm jfsutils fio"


def test_fio_is_needed_for_the_check_and_the_load_and_a_qemu_guest_has_its_own() -> None:
    without = replace(EVERYTHING, programs=EVERYTHING.programs - {"fio"})
    load = "{fio: {rw: randread, size: 64M, runtime: 1s}}"
    storage = "storage: {data: {disks: {size: 1G}}}"
    needed = {
        host: plan.make(
            experiment(setup=f"{{host: {host}, {storage}}}", workload=load), FACTS, without
        ).missing_tools
        for host in ("uml", "vm")
    }
    assert [tool.uses for tool in needed["uml"]] == [("the self-check of the disks", "the load")]
    assert needed["vm"] == ()


@pytest.mark.parametrize(
    ("kernel", "refused"), [("4.19", True), ("6.8", True), ("6.12", False), ("6.19", False)]
)
@pytest.mark.parametrize("host", ["uml", "vm"])
def test_a_kernel_that_no_suite_has_is_refused(host: str, kernel: str, refused: bool) -> None:
    setup = f"{{host: {{kind: {host}, kernel: {kernel}}}, storage: {{data: {{disks: {{size: 1G}}}}}}}}"
    able = replace(
        EVERYTHING, fetches=True, vm_kernels=("6.12", "6.19"), suite_kernels=("5.10", "6.1", "6.12")
    )
    problems_found = problems(setup, able)
    assert bool(problems_found) == refused
    if refused:
        assert f"no suite of Debian has the kernel {kernel}" in problems_found[0]
        assert "one of 5.10, 6.1, 6.12, or sid's" in problems_found[0]


def test_a_kernel_that_is_not_there_is_reported_at_its_version() -> None:
    setup = "{host: uml, storage: {data: {disks: {size: 1G}}}}"
    problems_found = problems(setup, EVERYTHING, factors="{host.kernel: [5.10, 5.1, 6.1.176]}")
    assert [each.split(": ", 1)[1] for each in problems_found] == [
        "host uml cannot be used: there is no User-Mode Linux kernel 5.1 (there is 6.1.176, 5.10.200, 7.2.7) "
        "(got 5.1); allowed: apt-get and dpkg-deb with Debian's package sources, to fetch one"
    ]


def test_a_guest_kernel_that_is_not_built_says_how_to_build_it() -> None:
    setup = "{host: {kind: vm, kernel: 7.2}, storage: {data: {disks: {size: 1G}}}}"
    [problem] = problems(setup, EVERYTHING)
    assert "allowed: host: uml; or mydyno images build --kernel 7.2" in problem


def test_storage_on_this_machine_needs_root_and_a_guest_does_not() -> None:
    storage = "storage: {data: {disks: {count: 2, size: 1G}, raid: 1}}"
    user = replace(EVERYTHING, root=False)
    [problem] = problems(f"{{{storage}}}", user)
    assert "host local cannot be used: building storage on this machine itself needs root" in problem
    assert "allowed: host: uml or vm" in problem
    assert problems(f"{{host: uml, {storage}}}", user) == []


def test_an_experiment_without_storage_asks_nothing_of_any_ground() -> None:
    assert problems("{host: local}", replace(MODEST, root=False, loops=False)) == []


def test_throttling_without_the_controller_is_reported_at_the_number() -> None:
    setup = "{storage: {data: {disks: {size: 1G, iops: 100}}}}"
    [problem] = problems(setup, replace(EVERYTHING, throttling=False))
    assert "host local does not support a limit of iops: cgroup v1's blkio is not there" in problem
    assert "(got 100)" in problem


def test_real_disks_are_this_machines_own() -> None:
    setup = "{host: vm, storage: {data: {disks: {devices: [{id: /dev/disk/by-id/one}]}}}}"
    [problem] = problems(setup, EVERYTHING)
    assert "host vm does not support real disks: a guest's disks are files" in problem
    assert "allowed: host: local" in problem


def test_a_disk_that_is_in_use_is_refused_in_the_plan_and_one_that_is_free_is_described() -> None:
    setup = "{storage: {data: {disks: {devices: [{id: /dev/disk/by-id/one, serial: S1}]}}}}"
    asked = plan.asked_disks(experiment(setup=setup))
    assert asked == (AskedDisk("/dev/disk/by-id/one", "S1"),)
    busy = {asked[0]: DiskFacts("one: MODEL, serial S1, 500.0 GB", ("it is mounted on /srv",))}
    [problem] = problems(setup, replace(EVERYTHING, disks=busy))
    assert "the disk may not be built on: it is mounted on /srv (got /dev/disk/by-id/one)" in problem
    free = {asked[0]: DiskFacts("one: MODEL, serial S1, 500.0 GB, carries no signature")}
    made = plan.make(experiment(setup=setup, workload=SMALL), FACTS, replace(EVERYTHING, disks=free))
    assert "one: MODEL, serial S1, 500.0 GB, carries no signature" in plan.render(made)


def test_more_disks_than_a_ground_has_room_for() -> None:
    data = "{disks: {count: 12, size: 1G}, raid: 6, fail: 1, rebuild: yes}"
    storage = f"{{data: {data}, log: {{disks: {{count: 5}}, raid: 0}}}}"
    apart = f"{{data: {data}, log: {{}}, binlog: {{}}, undo: {{disks: {{count: 2}}, raid: 1}}, tmp: {{}}}}"
    for volumes in (storage, apart):
        [problem] = problems(f"{{host: uml, storage: {volumes}}}", EVERYTHING)
        assert "host uml has at most 16 disks, and the volumes need 17" in problem
        assert "allowed: host: local or vm" in problem


def test_a_kernel_of_user_mode_linux_that_is_not_here_is_fetched_and_the_plan_says_so() -> None:
    setup = "{host: uml, storage: {data: {disks: {size: 1G}}}}"
    facts = replace(EVERYTHING, fetches=True, uml_kernels=("6.1.176",))
    read = experiment(setup=setup, workload=SMALL, factors="{host.kernel: [5.10, 6.1]}")
    effects = plan.make(read, FACTS, facts).side_effects
    assert [effect.split(" (45 MB)")[0] for effect in effects if effect.startswith("downloads")] == [
        "downloads the User-Mode Linux kernel 5.10"
    ]


def test_without_the_agent_no_ground_can_be_used() -> None:
    for host in ("local", "uml", "vm"):
        [problem] = problems(
            f"{{host: {host}, storage: {{data: {{disks: {{size: 1G}}}}}}}}", replace(EVERYTHING, agent=False)
        )
        assert f"host {host} cannot be used: mydyno-agent is not installed" in problem


def test_another_machine_needs_ssh_and_is_no_way_out_for_another_environment() -> None:
    assert problems("{host: ssh:db1}", EVERYTHING) == []
    [without] = problems("{host: ssh:db1}", replace(EVERYTHING, ssh=False))
    assert "host ssh cannot be used: the ssh of OpenSSH is not installed" in without
    assert "apt-get install openssh-client" in without
    [guest] = problems("{host: uml, storage: {data: {disks: {size: 2G}}}}", replace(EVERYTHING, agent=False))
    assert "ssh" not in guest


def test_shares_of_memory_on_another_machine_are_those_of_its_memory() -> None:
    facts = replace(FACTS, others={"db1": HostFacts(memory_bytes=4 * 1024**3, cpus=8, free_disk_bytes=None)})
    setup = "{host: ssh:db1, server: {config: {innodb_buffer_pool_size: 25% of memory}}}"
    made = plan.make(experiment(setup=setup, workload=SMALL), facts, EVERYTHING)
    assert made.points[0].setup.server.config["innodb_buffer_pool_size"].number == 1024**3
    assert "ssh:db1" in plan.render(made)


def test_data_on_another_machine_takes_no_disk_of_this_one() -> None:
    here, there = (
        plan.make(experiment(setup=f"{{host: {host}}}", workload=SMALL), FACTS, EVERYTHING).estimate
        for host in ("local", "ssh:db1")
    )
    assert here.disk_bytes > 0
    assert there.disk_bytes == 0
    assert not any(said.startswith("disk holds") for said in there.assumptions)
    assert any("a new dataset takes" in said for said in there.assumptions)


FAR_SETUP = (
    "{host: ssh:db1, storage: {data: {disks: {count: 2, size: 1G, iops: 200}, raid: 1, mount: [noatime]}}}"
)


def with_far(**others: FarStorageFacts) -> GroundFacts:
    return replace(EVERYTHING, others=others)


def test_storage_on_another_machine_is_planned_and_its_side_effects_name_that_machine() -> None:
    made = plan.make(experiment(setup=FAR_SETUP, workload=SMALL), FACTS, with_far(db1=FAR))
    effects = made.side_effects
    assert any("on db1, as root: attaches loop devices to sparse files" in effect for effect in effects)
    assert any("on db1, as root: creates md arrays" in effect for effect in effects)
    assert any("on db1, as root: limits those disks" in effect for effect in effects)
    assert any("on db1, the agent there undoes each of these" in effect for effect in effects)
    assert not any(effect.startswith("as root") or "lab's journal" in effect for effect in effects)


@pytest.mark.parametrize(
    ("lacking", "why", "hint"),
    [
        (
            {"root": False, "user": "bench"},
            "disks and mounts need root, and mydyno is bench there",
            "root@db1.example",
        ),
        ({"loops": False}, "its kernel 6.12.9 has no loop devices", "modprobe loop there"),
        ({"private_mounts": False}, "it does not permit a mount namespace", "CAP_SYS_ADMIN"),
        (
            {"direct": False},
            "the file system of /var/cache/mydyno/agent has no direct I/O",
            "`folder` in hosts.yaml on ext4, xfs or btrfs",
        ),
    ],
)
def test_a_machine_on_which_no_disks_can_be_had_is_refused_with_the_way_out(
    lacking: dict[str, bool | str], why: str, hint: str
) -> None:
    [problem] = problems(FAR_SETUP, with_far(db1=replace(FAR, **lacking)))  # type: ignore[arg-type]
    assert f"host ssh:db1 does not support storage: {why}" in problem
    assert hint in problem


def test_what_the_kernel_of_another_machine_lacks_is_refused_at_its_line() -> None:
    facts = with_far(db1=replace(FAR, md=False, throttling=False))
    limit, array = problems(FAR_SETUP, facts)
    assert "host ssh:db1 does not support RAID 1: its kernel 6.12.9 has no md (got 1)" in array
    assert "host ssh:db1 does not support a limit of iops: cgroup v1's blkio is not there" in limit
    setup = "{host: ssh:db1, storage: {data: {disks: {size: 1G}, filesystem: btrfs}}}"
    [problem] = problems(setup, with_far(db1=FAR))
    assert "host ssh:db1 does not support btrfs: its kernel 6.12.9 has no btrfs" in problem


REAL_SETUP = "{host: %s, storage: {data: {disks: {devices: [{id: /dev/disk/by-id/one, serial: S1}]}}}}"


def test_real_disks_of_another_machine_are_described_and_refused_with_its_name() -> None:
    setup = REAL_SETUP % "ssh:db1"
    [asked] = plan.asked_disks(experiment(setup=setup))
    assert asked == AskedDisk("/dev/disk/by-id/one", "S1", host="db1")
    free = replace(with_far(db1=FAR), disks={asked: DiskFacts("one: MODEL, serial S1, 500.0 GB")})
    made = plan.make(experiment(setup=setup, workload=SMALL), FACTS, free)
    assert made.disks == ("db1: one: MODEL, serial S1, 500.0 GB",)
    assert "db1: one: MODEL, serial S1, 500.0 GB" in plan.render(made)
    effects = made.side_effects
    assert "on db1, as root: DESTROYS what is on /dev/disk/by-id/one of db1, and leaves it blank" in effects
    busy = replace(free, disks={asked: DiskFacts("one", ("it is mounted on /srv",))})
    [problem] = problems(setup, busy)
    assert "the disk of db1 may not be built on: it is mounted on /srv (got /dev/disk/by-id/one)" in problem


def test_disks_of_one_name_on_two_machines_are_two_disks() -> None:
    here, there = (plan.asked_disks(experiment(setup=REAL_SETUP % host)) for host in ("local", "ssh:db1"))
    facts = replace(with_far(db1=FAR), disks={there[0]: DiskFacts("one", ("it is used as swap",))})
    assert problems(REAL_SETUP % "local", facts) == []
    assert len(problems(REAL_SETUP % "ssh:db1", facts)) == 1
    assert here != there


def test_real_disks_of_another_machine_need_neither_loop_devices_nor_direct_writes_to_files() -> None:
    facts = with_far(db1=replace(FAR, loops=False, direct=False))
    assert problems(REAL_SETUP % "ssh:db1", facts) == []
    ordinary = with_far(db1=replace(FAR, root=False, user="bench"))
    storage, disks = problems(REAL_SETUP % "ssh:db1", ordinary)
    assert "host ssh:db1 does not support storage: disks and mounts need root" in storage
    assert "host ssh:db1 does not support real disks: writing to real disks needs root" in disks


def test_real_disks_on_a_fleet_are_refused_since_an_id_names_a_disk_of_one_machine() -> None:
    setup = REAL_SETUP % "ssh"
    [problem] = problems(setup, with_far(db1=FAR, db2=FAR))
    assert "host ssh does not support real disks: they are named by their ids, each a disk of one" in problem
    assert "allowed: host: local; or host: ssh:NAME" in problem
    assert plan.asked_disks(experiment(setup=setup)) == ()


def test_every_machine_of_a_fleet_must_have_what_the_storage_needs() -> None:
    setup = "{host: ssh, storage: {data: {disks: {size: 1G}, filesystem: xfs}}}"
    assert problems(setup, with_far(db1=FAR, db2=FAR)) == []
    [problem] = problems(setup, with_far(db1=FAR, db2=replace(FAR, root=False, user="bench")))
    assert "host ssh:db2 does not support storage" in problem


def test_a_program_that_another_machine_lacks_is_named_with_that_machine() -> None:
    facts = with_far(db1=replace(FAR, programs=frozenset({"mke2fs"})))
    made = plan.make(experiment(setup=FAR_SETUP, workload=SMALL), FACTS, facts)
    assert "! mdadm is not installed on db1, for RAID 1: apt-get install mdadm on db1" in plan.render(made)
    assert [(tool.program, tool.host) for tool in made.missing_tools] == [("mdadm", "db1"), ("fio", "db1")]
    with pytest.raises(MissingToolError, match="mdadm is not installed on db1") as refused:
        refuse_missing_tools(made)
    assert refused.value.hint == "apt-get install mdadm fio on db1"
