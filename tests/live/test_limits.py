"""Limits of the operating system, read back from a running server, and what it made of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from mydyno.lab.stack import BuiltLayers, DataDirectoryLayer, FrozenDataset, ServerBinary, ServerLayer, Site
from mydyno.machine.process_limits import Limits, limits_difference

pytestmark = pytest.mark.live


def test_a_server_runs_under_the_asked_limits_and_derives_its_own_from_them(
    site: Site, empty: FrozenDataset, binary: ServerBinary, tmp_path: Path
) -> None:
    limits = Limits(nofile=600, nproc=3000)
    folder = site.lab / "trial"
    folder.mkdir()
    below = BuiltLayers((empty,))
    directory = DataDirectoryLayer("limits").build(site, below)
    layer = ServerLayer(binary, {"max_connections": 400}, folder, limits=limits)
    server = layer.build(site, BuiltLayers((empty, directory)))
    try:
        assert limits_difference(limits, server.limits()) == ()
        # It wanted more files than it may have, and says so by what it settled for.
        assert int(server.variables()["open_files_limit"]) == 600
        assert int(server.variables()["max_connections"]) < 600
    finally:
        assert server.stop()
        DataDirectoryLayer("limits").remove(site, directory)


def test_servers_with_other_limits_are_not_interchangeable(binary: ServerBinary, tmp_path: Path) -> None:
    layers = [ServerLayer(binary, {}, tmp_path, limits=each) for each in (None, Limits(nofile=600))]
    assert layers[0].fingerprint() != layers[1].fingerprint()
