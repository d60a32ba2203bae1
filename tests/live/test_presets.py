"""Spaces that `mydyno tune` proposes, for the server that is installed here."""

from __future__ import annotations

import pytest

from mydyno.lab.spec.paths import CONFIG_PATH
from mydyno.lab.spec.search import PRESETS, number_of
from mydyno.machine.local import LocalHost
from mydyno.server.program.binary import ServerBinary
from mydyno.server.program.ranges import ranges
from mydyno.tune.presets import Room, names_of, preset_space
from mydyno.tune.space import Dimension, dimension

pytestmark = pytest.mark.live

MIB = 1 << 20
POOL = "innodb_buffer_pool_size"


def proposed(preset: str, binary: ServerBinary, room: Room) -> dict[str, Dimension]:
    limits = ranges(LocalHost(), binary, names_of(preset))
    parameters = preset_space(preset, binary, limits, room)
    return {path.removeprefix(CONFIG_PATH): dimension(path, each) for path, each in parameters.items()}


@pytest.mark.parametrize("preset", PRESETS)
def test_a_preset_has_what_the_binary_has_within_its_limits(preset: str, binary: ServerBinary) -> None:
    found = proposed(preset, binary, Room(1 << 30, 100 << 30))
    limits = ranges(LocalHost(), binary, names_of(preset))
    assert len(found) >= 3
    assert set(found) <= set(binary.options)
    for name, each in found.items():
        assert len(each.values) > 1, name
        if name in limits:
            low, high = limits[name]
            assert all(low <= (number_of(value) or 0) <= high for value in each.values), name


def test_sizes_fit_the_memory_and_the_disk(binary: ServerBinary) -> None:
    small = proposed("innodb-write", binary, Room(512 * MIB, 1 << 30))
    pools = [number_of(value) for value in small[POOL].values]
    assert pools[-1] == 256 * MIB
    [redo] = {"innodb_log_file_size", "innodb_redo_log_capacity"} & set(small)
    assert all((number_of(value) or 0) <= (1 << 30) / 10 for value in small[redo].values)
