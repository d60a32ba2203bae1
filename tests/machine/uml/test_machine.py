import json
import shlex
from pathlib import Path

import pytest

from mydyno.machine.uml.kernels import UmlKernel, UmlKernels, UmlManifest
from mydyno.machine.uml.machine import Share, UmlMachine, disk_name, hidden_folders

MANIFEST = UmlManifest(
    release="6.1.176",
    suite="bookworm",
    package="6.1um4+b13",
    fetched="2024-01-01T00:00:00Z",
    sources=(),
    modules=("md-mod.ko", "raid0.ko"),
    absent=(),
)


def kept(folder: Path, *versions: str) -> Path:
    """A cache with kernels of these versions, which have no program."""
    for version in versions:
        (folder / version).mkdir(parents=True)
        (folder / version / "manifest.json").write_text(MANIFEST.model_dump_json())
    return folder


def machine(kernel: UmlKernel) -> UmlMachine:
    return UmlMachine(
        kernel,
        memory_bytes=300 << 20,
        folder=Path("/lab/run/mydyno-0123456789ab"),
        disks=("data-0.img", "data-1.img"),
        shares=(Share(Path("/lab"), read_only=False),),
    )


def test_the_kernel_gets_its_memory_its_disks_and_its_channel(tmp_path: Path) -> None:
    words = machine(UmlKernel(tmp_path / "6.1", MANIFEST)).command_line(7, ("unshare", "--pid"))
    assert words[:3] == ["unshare", "--pid", "--wd=/lab/run/mydyno-0123456789ab"]
    assert {"mem=307200K", "ubd0=data-0.img", "ubd1=data-1.img", "ssl0=fd:7", "rootflags=/", "ro"} <= set(
        words
    )
    assert words[-3:] == ["--", "init", '"/lab/run/mydyno-0123456789ab/guest.json"']
    assert machine(UmlKernel(tmp_path / "6.1", MANIFEST)).mark in words


def test_without_namespaces_the_kernel_still_starts_in_its_folder(tmp_path: Path) -> None:
    words = machine(UmlKernel(tmp_path / "6.1", MANIFEST)).command_line(7, ())
    assert words[:4] == ["env", "-C", "/lab/run/mydyno-0123456789ab", str(tmp_path / "6.1" / "linux.uml")]


def test_a_kernel_with_libraries_of_its_own_sees_this_machine_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "7.2" / "libraries").mkdir(parents=True)
    guest = machine(UmlKernel(tmp_path / "7.2", MANIFEST))
    line = shlex.join(guest.command_line(7, ("unshare",)))
    assert line.startswith("bwrap --unshare-pid --die-with-parent --ro-bind")
    assert "rootflags=/host " in line
    assert guest.mark == 'init="/lab/run/mydyno-0123456789ab/agent"'
    result = guest.configuration()
    assert result["modules"][0] == f"{tmp_path}/7.2/modules/md-mod.ko"
    assert result["shares"] == [
        {"filesystem": "hostfs", "source": "/host/lab", "target": "/lab", "read_only": False}
    ]
    json.dumps(result)


def test_disks_are_named_as_the_guest_names_them() -> None:
    assert [disk_name(index) for index in (0, 1, 15)] == ["ubda", "ubdb", "ubdp"]


def test_folders_that_the_guest_would_hide_are_shared_with_it() -> None:
    folders = [Path("/usr/bin"), Path("/tmp/venv/bin"), Path("/tmp/venv/bin"), Path("/temporary/bin")]
    assert hidden_folders(folders) == (Share(Path("/tmp/venv/bin"), read_only=True),)


def test_kernels_are_listed_by_number_not_by_letter(tmp_path: Path) -> None:
    kept(tmp_path, "6.12", "5.10", "6.1")
    (tmp_path / ".partial-x").mkdir()
    (tmp_path / "7.2").mkdir()
    assert [kernel.version for kernel in UmlKernels(tmp_path).all()] == ["5.10", "6.1", "6.12"]


@pytest.mark.parametrize("written", ["", "{", '{"release": 1}'])
def test_a_kernel_whose_manifest_is_not_mydynos_is_none(tmp_path: Path, written: str) -> None:
    kept(tmp_path, "6.1")
    (tmp_path / "6.1" / "manifest.json").write_text(written)
    assert UmlKernels(tmp_path).kernel("6.1") is None
    assert UmlKernels(tmp_path).kernel("5.10") is None
