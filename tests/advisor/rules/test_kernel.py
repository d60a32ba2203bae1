"""Rules on the kernel: memory, nodes, clocks, queues of connections."""

import pytest

from advisor.builders import GIB, MARIADB, MYSQL_84, host, server
from advisor.disks import process
from advisor.rules.judging import finding, judged, sentences, settled
from mydyno.advisor.rule import Fine, NotHere, Unknown
from mydyno.advisor.targets import Targets
from mydyno.apply.finding import Severity
from mydyno.survey.facts import Cpu, Host, Kernel, Memory, Server


def with_kernel(**known: object) -> Host:
    return host(kernel=Kernel.model_validate({"release": "6.1.0-18-amd64", **known}))


def nodes(count: int, variables: dict[str, str] | None = None, **more: object) -> Host:
    """A machine of 64 GiB with so many memory nodes."""
    plain = host(memory=64 * GIB, sysctls=variables)
    return plain.model_copy(update={"cpu": Cpu(count=16, numa_nodes=count), **more})


def test_huge_pages_always_become_huge_pages_on_request() -> None:
    always = with_kernel(thp_enabled="always", counters={"compact_stall": 12})
    found = finding("transparent-huge-pages", server(), host=always)
    assert sentences(found) == ["madvise > /sys/kernel/mm/transparent_hugepage/enabled (now always)"]
    assert "waited 12 times" in found.evidence[1]
    assert found.effect.size == "small"
    assert settled("transparent-huge-pages", server(), host=always)
    for word in ("madvise", "never"):
        assert isinstance(
            judged("transparent-huge-pages", server(), host=with_kernel(thp_enabled=word)), Fine
        )


def test_page_faults_do_not_stop_to_compact_memory() -> None:
    always = with_kernel(thp_enabled="always", thp_defrag="always")
    assert sentences(finding("thp-defrag", server(), host=always)) == [
        "madvise > /sys/kernel/mm/transparent_hugepage/defrag (now always)"
    ]
    assert settled("thp-defrag", server(), host=always)
    off = with_kernel(thp_enabled="never", thp_defrag="always")
    assert isinstance(judged("thp-defrag", server(), host=off), NotHere)
    assert isinstance(judged("thp-defrag", server(), host=with_kernel(thp_defrag="defer+madvise")), Fine)


def swapping(swapped: int, swap: int = 4 * GIB) -> Host:
    return host(
        memory_facts=Memory(total=16 * GIB, swap_total=swap),
        process=process(swapped_bytes=swapped, resident_bytes=8 * GIB),
    )


def test_a_server_in_swap_is_reported_and_a_few_megabytes_are_not() -> None:
    found = finding("swapped-out", server(), host=swapping(2 * GIB))
    assert found.severity is Severity.HIGH
    assert found.evidence[0] == "2G of the server are in swap, 8G in memory: 20%"
    assert isinstance(judged("swapped-out", server(), host=swapping(8 << 20)), Fine)
    assert isinstance(judged("swapped-out", server(), host=swapping(0, swap=0)), NotHere)
    assert isinstance(judged("swapped-out", server()), Unknown)


def test_no_swap_matters_only_where_memory_is_short() -> None:
    def short(available: int) -> Host:
        return host(memory_facts=Memory(total=16 * GIB, available=available, swap_total=0))

    assert finding("swap-missing", server(), host=short(1 * GIB)).title == (
        "Memory is short and there is no swap: 6% available"
    )
    assert isinstance(judged("swap-missing", server(), host=short(4 * GIB)), Fine)


def strict(ratio: str, kbytes: str = "0") -> tuple[Server, Host]:
    return (
        server(variables={"innodb_buffer_pool_size": str(10 * GIB)}),
        host(
            sysctls={
                "vm.overcommit_memory": "2",
                "vm.overcommit_ratio": ratio,
                "vm.overcommit_kbytes": kbytes,
            }
        ),
    )


def test_strict_accounting_must_leave_room_for_the_pool() -> None:
    asked, machine = strict("50")
    found = finding("overcommit", asked, Targets(), machine)
    assert sentences(found) == ["vm.overcommit_ratio = 90 (now 50)"]
    assert "limit: 0 of swap + 50% of 16G = 8G; need: buffer pool 10G x 1.25 = 12.5G" in found.evidence[1]
    assert settled("overcommit", asked, Targets(), machine)


def test_strict_accounting_with_room_and_the_kernels_own_are_fine() -> None:
    asked, machine = strict("90")
    assert isinstance(judged("overcommit", asked, Targets(), machine), Fine)
    assert isinstance(
        judged("overcommit", asked, Targets(), host(sysctls={"vm.overcommit_memory": "0"})), Fine
    )
    asked, machine = strict("50", kbytes="15000000")
    assert isinstance(judged("overcommit", asked, Targets(), machine), NotHere)


def test_unsaved_data_matters_where_the_server_writes_through_the_page_cache() -> None:
    large = host(memory=512 * GIB, sysctls={"vm.dirty_background_ratio": "10"})
    through = server(variables={"innodb_flush_method": "fsync"})
    found = finding("dirty-background", through, host=large)
    assert found.title == "Up to 25.6G of dirty data collect in memory before the kernel writes any"
    assert "echo vm.dirty_background_bytes=268435456" in found.changes[0].model_dump()["commands"][0]
    past = server(MYSQL_84, {"innodb_flush_method": "O_DIRECT", "log_bin": "ON", "sync_binlog": "1"})
    assert isinstance(judged("dirty-background", past, host=large), Fine)
    loose = server(MYSQL_84, {"innodb_flush_method": "O_DIRECT", "log_bin": "ON", "sync_binlog": "0"})
    assert "sync_binlog = 0" in finding("dirty-background", loose, host=large).evidence[1]
    small = host(sysctls={"vm.dirty_background_ratio": "10"})
    assert isinstance(judged("dirty-background", through, host=small), Fine)


@pytest.mark.parametrize(
    ("rule", "name"), [("zone-reclaim", "vm.zone_reclaim_mode"), ("numa-balancing", "kernel.numa_balancing")]
)
def test_what_moves_memory_between_nodes_is_switched_off(rule: str, name: str) -> None:
    on = nodes(2, {name: "1"})
    assert sentences(finding(rule, server(), host=on)) == [f"{name} = 0 (now 1)"]
    assert settled(rule, server(), host=on)
    assert isinstance(judged(rule, server(), host=nodes(2, {name: "0"})), Fine)
    assert isinstance(judged(rule, server(), host=nodes(1, {name: "1"})), NotHere)


def large_pool(version: str, **variables: str) -> Server:
    return server(version, {"innodb_buffer_pool_size": str(48 * GIB), **variables})


def test_a_pool_larger_than_a_node_is_spread_by_the_server_where_it_can() -> None:
    able = large_pool(MYSQL_84, innodb_numa_interleave="OFF")
    found = finding("numa-placement", able, Targets(), nodes(2))
    assert sentences(found) == ["innodb_numa_interleave = ON (now OFF)"]
    assert found.restart
    assert "buffer pool 48G, smallest of 2 nodes 32G" in found.evidence[0]
    assert settled("numa-placement", able, Targets(), nodes(2))


def test_a_pool_larger_than_a_node_is_spread_by_the_unit_where_the_server_cannot() -> None:
    machine = nodes(2, process=process())
    found = finding("numa-placement", large_pool(MARIADB), Targets(), machine)
    assert sentences(found) == [
        "NUMAPolicy=interleave for mariadb.service",
        "NUMAMask=all for mariadb.service",
    ]
    assert settled("numa-placement", large_pool(MARIADB), Targets(), machine)
    by_hand = finding("numa-placement", large_pool(MARIADB), Targets(), nodes(2))
    assert sentences(by_hand) == ["start the server by numactl --interleave=all"]


def test_a_pool_that_fits_or_is_spread_already_is_fine() -> None:
    small = server(variables={"innodb_buffer_pool_size": str(8 * GIB)})
    assert isinstance(judged("numa-placement", small, Targets(), nodes(2)), Fine)
    spread = nodes(2, process=process(numa_policy="interleave:0-1"))
    assert isinstance(judged("numa-placement", large_pool(MARIADB), Targets(), spread), Fine)
    on = large_pool(MYSQL_84, innodb_numa_interleave="ON")
    assert isinstance(judged("numa-placement", on, Targets(), nodes(2)), Fine)
    assert isinstance(judged("numa-placement", on, Targets(), nodes(1)), NotHere)


def governed(governor: str | None, driver: str | None) -> Host:
    cpu = Cpu(count=8, governor=governor, scaling_driver=driver)
    return host().model_copy(update={"cpu": cpu})


def test_a_slow_governor_is_reported_and_a_driver_that_drives_itself_is_not() -> None:
    slow = finding("cpu-governor", server(), host=governed("powersave", "acpi-cpufreq"))
    assert slow.severity is Severity.MEDIUM
    assert (
        finding("cpu-governor", server(), host=governed("ondemand", "acpi-cpufreq")).severity is Severity.LOW
    )
    for governor, driver in (
        ("powersave", "intel_pstate"),
        ("performance", "acpi-cpufreq"),
        ("schedutil", None),
    ):
        assert isinstance(judged("cpu-governor", server(), host=governed(governor, driver)), Fine)
    assert isinstance(judged("cpu-governor", server(), host=governed("powersave", None)), Unknown)
    assert isinstance(judged("cpu-governor", server(), host=governed(None, None)), NotHere)


def test_a_slow_clock_is_reported_with_the_way_to_a_fast_one() -> None:
    slow = with_kernel(clock_source="hpet", clock_sources=("tsc", "hpet", "acpi_pm"))
    assert "echo tsc" in finding("clock-source", server(), host=slow).changes[0].model_dump()["commands"][0]
    distrusted = with_kernel(clock_source="acpi_pm", clock_sources=("acpi_pm",))
    assert (
        "dmesg" in finding("clock-source", server(), host=distrusted).changes[0].model_dump()["commands"][0]
    )
    for clock in ("tsc", "kvm-clock", "arch_sys_counter"):
        assert isinstance(judged("clock-source", server(), host=with_kernel(clock_source=clock)), Fine)


def reserved(pages: int, free: int | None = None) -> Host:
    return host(
        memory_facts=Memory(
            total=16 * GIB, huge_pages_total=pages, huge_pages_free=free, huge_page_bytes=2 << 20
        )
    )


def test_unused_huge_pages_are_lost_memory() -> None:
    off = server(variables={"large_pages": "OFF"})
    found = finding("huge-pages", off, host=reserved(2048, free=2048))
    assert found.title == "4G of memory are reserved for huge pages that this server does not use"
    assert isinstance(judged("huge-pages", off, host=reserved(2048, free=0)), Fine)
    assert isinstance(judged("huge-pages", off, host=reserved(0)), NotHere)


def test_large_pages_need_enough_of_them() -> None:
    on = server(variables={"large_pages": "ON", "innodb_buffer_pool_size": str(4 * GIB)})
    found = finding("huge-pages", on, Targets(), reserved(1024))
    assert "4G x 1.05 / 2M = 2151 pages" in found.evidence[0]
    assert isinstance(judged("huge-pages", on, Targets(), reserved(2200)), Fine)


def test_asynchronous_io_and_file_handles_of_the_machine_run_out_together() -> None:
    full = host(sysctls={"fs.aio-max-nr": "65536", "fs.aio-nr": "60000"})
    assert sentences(finding("aio-max-nr", server(), host=full)) == ["fs.aio-max-nr = 1048576 (now 65536)"]
    assert settled("aio-max-nr", server(), host=full)
    room = host(sysctls={"fs.aio-max-nr": "65536", "fs.aio-nr": "2048"})
    assert isinstance(judged("aio-max-nr", server(), host=room), Fine)
    low = host(sysctls={"fs.file-max": "65536", "fs.file-nr": "4000\t0\t65536"})
    needing = Targets(open_files=60_000)
    assert sentences(finding("file-max", server(), needing, low)) == ["fs.file-max = 262144 (now 65536)"]
    assert settled("file-max", server(), needing, low)
    assert isinstance(judged("file-max", server(), Targets(open_files=10_000), low), Fine)


def test_the_queue_of_waiting_connections_is_as_long_as_configured() -> None:
    asking = server(variables={"back_log": "500"})
    cut = host(kernel=Kernel(sysctls={"net.core.somaxconn": "128"}, counters={"TcpExtListenOverflows": 7}))
    found = finding("somaxconn", asking, Targets(), cut)
    assert sentences(found) == ["net.core.somaxconn = 4096 (now 128)"]
    assert found.severity is Severity.MEDIUM
    assert settled("somaxconn", asking, Targets(), cut)
    usual = host(sysctls={"net.core.somaxconn": "4096"})
    assert isinstance(judged("somaxconn", asking, Targets(), usual), Fine)


def test_the_kernel_grants_what_the_rate_of_connections_will_ask_for() -> None:
    many = connecting(400, back_log="80")
    short = host(sysctls={"net.core.somaxconn": "128"})
    assert "the rate of new connections calls for 1024" in finding("somaxconn", many, host=short).evidence[0]
    assert "back_log = 1024 (now 80)" in sentences(finding("back-log", many, host=short))


def half_open(full: int | None, size: str = "1024") -> Host:
    counters = {} if full is None else {"TcpExtTCPReqQFullDoCookies": full}
    return host(kernel=Kernel(sysctls={"net.ipv4.tcp_max_syn_backlog": size}, counters=counters))


def test_half_open_connections_matter_only_where_their_queue_was_full() -> None:
    assert sentences(finding("syn-backlog", server(), host=half_open(40))) == [
        "net.ipv4.tcp_max_syn_backlog = 8192 (now 1024)"
    ]
    assert settled("syn-backlog", server(), host=half_open(40))
    assert isinstance(judged("syn-backlog", server(), host=half_open(0)), Fine)
    assert isinstance(judged("syn-backlog", server(), host=half_open(None)), Unknown)


def connecting(rate: float, **variables: str) -> Server:
    return server(
        variables=variables, status={"Connections": rate * 864_000}, before={"Connections": rate * 863_940}
    )


def test_many_short_connections_use_up_ports() -> None:
    usual = host(sysctls={"net.ipv4.ip_local_port_range": "32768\t60999"})
    found = finding("port-range", connecting(400), host=usual)
    assert found.evidence[0] == "400 new connections/s; 28232 ports / 60 s = 471/s from one address"
    assert sentences(found) == ["net.ipv4.ip_local_port_range = 10240 65535 (now 32768 60999)"]
    assert settled("port-range", connecting(400), host=usual)
    assert isinstance(judged("port-range", connecting(20), host=usual), Fine)
    alone = server(variables={"skip_networking": "ON"})
    assert isinstance(judged("port-range", alone, host=usual), NotHere)


def test_a_boot_parameter_without_effect_is_named() -> None:
    def booted(release: str, *words: str) -> Host:
        return with_kernel(release=release, command_line=("quiet", *words))

    found = finding("elevator-parameter", server(), host=booted("6.1.0-18-amd64", "elevator=noop"))
    assert found.title == "elevator=noop has no effect: the kernel is 6.1.0-18-amd64"
    assert isinstance(judged("elevator-parameter", server(), host=booted("4.19.0", "elevator=noop")), Fine)
    assert isinstance(judged("elevator-parameter", server(), host=booted("6.1.0")), Fine)
