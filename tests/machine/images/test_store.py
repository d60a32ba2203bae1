from pathlib import Path

import pytest

from machine.images.builders import kernel_manifest, root_manifest
from mydyno.machine.cache_store import folder_elsewhere
from mydyno.machine.images.root import installed_packages
from mydyno.machine.images.store import ImageStore


def put_root(store: ImageStore, suite: str, content: bytes) -> None:
    with store.staging() as staging:
        (staging / "image").mkdir()
        (staging / "image" / "root.erofs").write_bytes(content)
        root_manifest(suite).write(staging / "image")
        store.put(staging / "image", store.folder / "roots" / suite)


def put_kernel(store: ImageStore, version: str) -> None:
    with store.staging() as staging:
        (staging / "kernel").mkdir()
        kernel_manifest(version, ("virtio.ko", "xfs.ko")).write(staging / "kernel")
        store.put(staging / "kernel", store.folder / "kernels" / version)


def interrupted_build(store: ImageStore) -> None:
    with store.staging() as staging:
        (staging / "root.tar").write_bytes(b"half")
        raise KeyboardInterrupt


def test_what_is_put_is_found_by_suite_and_by_version(tmp_path: Path) -> None:
    store = ImageStore(tmp_path / "images")
    put_root(store, "bookworm", b"root")
    put_kernel(store, "6.1")
    root, kernel = store.root("bookworm"), store.kernel("6.1")
    assert root is not None
    assert kernel is not None
    assert root.file.read_bytes() == b"root"
    assert [module.name for module in kernel.modules()] == ["virtio.ko", "xfs.ko"]
    assert [image.name for image in store.images()] == store.names() == ["bookworm", "linux-6.1"]
    assert store.root("trixie") is None


def test_an_image_built_again_takes_the_place_of_the_old_one(tmp_path: Path) -> None:
    store = ImageStore(tmp_path)
    put_root(store, "bookworm", b"old")
    put_root(store, "bookworm", b"new")
    root = store.root("bookworm")
    assert root is not None
    assert root.file.read_bytes() == b"new"


def test_a_build_that_fails_or_is_interrupted_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        interrupted_build(ImageStore(tmp_path))
    assert [path.name for path in tmp_path.iterdir()] == ["lock"]


def test_what_a_killed_build_left_is_swept_by_the_next(tmp_path: Path) -> None:
    (tmp_path / ".partial-dead" / "tree").mkdir(parents=True)
    put_root(ImageStore(tmp_path), "bookworm", b"root")
    assert not (tmp_path / ".partial-dead").exists()


def test_sweeping_shows_how_much_it_found(tmp_path: Path) -> None:
    (tmp_path / ".partial-dead").mkdir()
    store = ImageStore(tmp_path)
    assert (store.sweep(), store.sweep()) == (1, 0)


def test_removing_takes_the_named_image_only(tmp_path: Path) -> None:
    store = ImageStore(tmp_path)
    put_root(store, "bookworm", b"root")
    put_kernel(store, "6.1")
    assert store.remove("linux-6.1")
    assert not store.remove("linux-6.1")
    assert store.names() == ["bookworm"]


def test_an_image_of_another_mydyno_is_not_read_but_can_be_removed(tmp_path: Path) -> None:
    store = ImageStore(tmp_path)
    folder = tmp_path / "roots" / "bookworm"
    folder.mkdir(parents=True)
    (folder / "manifest.json").write_text('{"name": "bookworm", "kind": "root", "later": true}')
    assert (store.root("bookworm"), store.images(), store.names()) == (None, [], ["bookworm"])
    assert store.remove("bookworm")


def test_a_manifest_reads_back_as_it_was_written(tmp_path: Path) -> None:
    for manifest in (root_manifest(), kernel_manifest(modules=("virtio.ko",))):
        manifest.write(tmp_path)
        assert type(manifest).read(tmp_path) == manifest


def test_installed_packages_are_those_that_dpkg_calls_installed() -> None:
    status = (
        "Package: fio\nStatus: install ok installed\nVersion: 3.33-3\n\n"
        "Package: gone\nStatus: deinstall ok config-files\nVersion: 1\n\n"
        "Package: bash\nStatus: install ok installed\nDescription: a\n Version: no field\nVersion: 5.2\n"
    )
    assert installed_packages(status) == {"bash": "5.2", "fio": "3.33-3"}


def test_what_a_build_keeps_elsewhere_goes_with_it(tmp_path: Path) -> None:
    with ImageStore(tmp_path).staging() as staging:
        work = folder_elsewhere(staging)
        work.mkdir()
        (work / "half").touch()
    assert not work.exists()
