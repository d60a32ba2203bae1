"""Spaces that `mydyno tune` proposes, for the server that is installed here."""

from __future__ import annotations

import pytest

from live.releases import release
from mydyno.lab.spec.paths import CONFIG_PATH
from mydyno.lab.spec.search import PRESETS, number_of
from mydyno.machine.local import LocalHost
from mydyno.server.program.binary import ServerBinary
from mydyno.server.program.ranges import ranges
from mydyno.server.program.values import refused_values
from mydyno.server.releases import binary_of
from mydyno.tune.presets import Room, names_of, preset_space, words_of
from mydyno.tune.space import Dimension, dimension

pytestmark = pytest.mark.live

MIB = 1 << 20
POOL = "innodb_buffer_pool_size"


def proposed(preset: str, binary: ServerBinary, room: Room) -> dict[str, Dimension]:
    limits = ranges(LocalHost(), binary, names_of(preset))
    refused = refused_values(LocalHost(), binary, words_of(preset, binary))
    parameters = preset_space(preset, binary, limits, refused, room)
    return {path.removeprefix(CONFIG_PATH): dimension(path, each) for path, each in parameters.items()}


@pytest.mark.parametrize("name", ["system", "mysql-5.6", "mysql-9.7"])
@pytest.mark.parametrize("preset", PRESETS)
def test_a_preset_has_what_the_binary_takes(preset: str, name: str) -> None:
    if name != "system":
        release(name)
    binary = binary_of(name)
    found = proposed(preset, binary, Room(1 << 30, 100 << 30))
    limits = ranges(LocalHost(), binary, names_of(preset))
    assert len(found) >= 3
    assert set(found) <= set(binary.options)
    for variable, each in found.items():
        assert len(each.values) > 1, variable
        if variable in limits:
            low, high = limits[variable]
            assert all(low <= (number_of(value) or 0) <= high for value in each.values), variable
        else:
            words = [(variable, str(value)) for value in each.values]
            assert refused_values(LocalHost(), binary, words) == {}


def test_sizes_fit_the_memory_and_the_disk(binary: ServerBinary) -> None:
    small = proposed("innodb-write", binary, Room(512 * MIB, 1 << 30))
    pools = [number_of(value) for value in small[POOL].values]
    assert pools[-1] == 256 * MIB
    [redo] = {"innodb_log_file_size", "innodb_redo_log_capacity"} & set(small)
    assert all((number_of(value) or 0) <= (1 << 30) / 10 for value in small[redo].values)
