import json
from pathlib import Path

from mydyno.machine.images import ImageStore
from mydyno.machine.vm.initrd import Entry, entries, file, guest_config, make_initrd
from mydyno.machine.vm.machine import SharedFolder


def written(folder: Path, *names: str) -> list[Path]:
    paths = [folder / name for name in names]
    for path in paths:
        path.write_bytes(path.name.encode())
    return paths


def test_the_guest_gets_what_to_load_and_what_to_mount(tmp_path: Path) -> None:
    modules = written(tmp_path, "virtio.ko", "9p.ko")
    config = guest_config(modules, [SharedFolder("lab", Path("/home/dba/lab"), "passthrough")])
    content = entries(modules, written(tmp_path, "mydyno-agent"), config)
    by_name: dict[str, Entry] = {entry.name: entry for entry in content}
    document = json.loads(by_name["config.json"].content)
    assert document["modules"] == ["/modules/virtio.ko", "/modules/9p.ko"]
    assert [share["target"] for share in document["shares"]] == ["/home/dba/lab"]
    assert all(module.removeprefix("/") in by_name for module in document["modules"])
    assert by_name["mydyno/mydyno-agent"].mode & 0o111


def test_a_folder_that_is_only_shown_is_mounted_read_only_and_cached() -> None:
    folders = [
        SharedFolder("lab", Path("/lab"), "passthrough"),
        SharedFolder("shown0", Path("/cache/servers/mysql-9.7/root"), "read-only"),
    ]
    lab, shown = guest_config([], folders)["shares"]
    assert (lab["read_only"], shown["read_only"]) == (False, True)
    assert "cache=none" in lab["options"]
    assert "cache=loose" in shown["options"]


def test_equal_content_is_made_once(tmp_path: Path) -> None:
    store = ImageStore(tmp_path)
    first = make_initrd(store, [file("init", b"1")])
    made = first.stat().st_ino
    assert make_initrd(store, [file("init", b"1")]) == first
    assert first.stat().st_ino == made
    assert make_initrd(store, [file("init", b"2")]) != first


def test_old_ones_make_room(tmp_path: Path) -> None:
    store = ImageStore(tmp_path)
    made = [make_initrd(store, [file("init", bytes([number]))]) for number in range(12)]
    left = set(made[0].parent.iterdir())
    assert len(left) == 8
    assert made[-1] in left
