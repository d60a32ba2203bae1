import hashlib
import json
import shutil
import subprocess
from pathlib import Path

import pytest

from mydyno.core.errors import HostError, MissingToolError
from mydyno.machine.vm.overlay import QEMU_IMG, make_overlay

needs_qemu_img = pytest.mark.skipif(
    shutil.which(QEMU_IMG) is None, reason=f"no {QEMU_IMG}: apt-get install qemu-utils"
)


def raw_image(folder: Path) -> Path:
    image = folder / "base, with a comma.img"
    image.write_bytes(b"what was frozen".ljust(4 << 20, b"\0"))
    image.chmod(0o444)
    return image


@needs_qemu_img
def test_an_overlay_starts_as_its_base_and_writes_pages_of_its_own(tmp_path: Path) -> None:
    base, overlay = raw_image(tmp_path), tmp_path / "overlay.qcow2"
    before = hashlib.sha256(base.read_bytes()).hexdigest()
    make_overlay(base, overlay)
    document = json.loads(subprocess.check_output([QEMU_IMG, "info", "--output=json", overlay]))
    assert (document["virtual-size"], document["full-backing-filename"]) == (4 << 20, str(base))
    assert (document["backing-filename-format"], document["cluster-size"]) == ("raw", 128 << 10)
    assert document["format-specific"]["data"]["extended-l2"] is True
    assert overlay.stat().st_blocks * 512 < 1 << 20
    subprocess.check_call([QEMU_IMG, "convert", "-O", "raw", overlay, tmp_path / "as-read.img"])
    assert (tmp_path / "as-read.img").read_bytes() == base.read_bytes()
    assert hashlib.sha256(base.read_bytes()).hexdigest() == before


@needs_qemu_img
def test_an_overlay_of_nothing_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(HostError, match=r"no overlay of .*missing\.img could be made"):
        make_overlay(tmp_path / "missing.img", tmp_path / "overlay.qcow2")


def test_a_machine_without_qemu_img_names_the_package_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingToolError, match="qemu-img was not found") as raised:
        make_overlay(raw_image(tmp_path), tmp_path / "overlay.qcow2")
    assert "qemu-utils" in str(raised.value.hint)
