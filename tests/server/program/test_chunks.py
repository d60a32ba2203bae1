"""What servers make of the size of a buffer pool, and so what a share of memory is on each of them."""

from pathlib import Path

import pytest

from mydyno.core.server_variables import Setting
from mydyno.core.server_version import Vendor, Version
from mydyno.server.program.binary import ServerBinary
from mydyno.server.program.chunks import in_whole_chunks, largest_within
from server.variables.releases import LISTED, MARIADB_105, MARIADB_1011, MYSQL_56, MYSQL_97

MYSQL_80 = Version(Vendor.MYSQL, (8, 0, 36), "8.0.36")
MIB = 1024**2
SHARE = 1205 * MIB


def made(version: Version, size: int, cpus: int = 2, **asked: Setting) -> int:
    options = LISTED.get(version, LISTED[MYSQL_97])
    return in_whole_chunks(ServerBinary(Path("/mysqld"), version, options), asked, size, cpus)


@pytest.mark.parametrize("version", [MYSQL_56, MARIADB_1011], ids=str)
def test_servers_without_chunks_take_every_size(version: Version) -> None:
    assert made(version, SHARE) == SHARE


@pytest.mark.parametrize("version", [MARIADB_105, MYSQL_97], ids=str)
def test_a_share_is_rounded_up_to_whole_chunks_as_the_server_does(version: Version) -> None:
    assert made(version, SHARE) == 1280 * MIB
    assert made(version, 1280 * MIB) == 1280 * MIB
    assert made(version, 6 * MIB) == 6 * MIB, "a small pool has smaller chunks"


def test_several_instances_count_together() -> None:
    assert made(MYSQL_80, SHARE) == 2048 * MIB, "8 instances from 1G on"
    assert made(MYSQL_80, 900 * MIB) == 1024 * MIB, "one below"
    assert made(MYSQL_97, 9000 * MIB, cpus=16) == 9216 * MIB, "4 of them on 16 CPUs"
    assert made(MYSQL_80, SHARE, innodb_buffer_pool_instances=2) == 1280 * MIB
    assert made(MYSQL_80, SHARE, innodb_buffer_pool_instances=1, innodb_buffer_pool_chunk_size="1M") == SHARE


def test_a_search_keeps_below_the_size_that_it_was_given() -> None:
    def kept(version: Version, size: int) -> int:
        return largest_within(ServerBinary(Path("/mysqld"), version, LISTED[version]), {}, size, cpus=2)

    assert kept(MYSQL_97, 800 * MIB) == 768 * MIB
    assert kept(MYSQL_97, 768 * MIB) == 768 * MIB
    assert kept(MYSQL_97, 100 * MIB) == 100 * MIB
    assert kept(MARIADB_1011, 800 * MIB) == 800 * MIB
