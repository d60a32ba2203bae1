from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from machine.images.builders import kernel_folder
from mydyno.core.errors import HostError
from mydyno.machine.images.modules import choose, depends, load_order, name_of, read_module, unsigned


def names(files: tuple[Path, ...]) -> list[str]:
    return [file.name for file in files]


def test_what_a_module_needs_is_loaded_before_it(tmp_path: Path) -> None:
    folder = kernel_folder(
        tmp_path, {"btrfs.ko": "raid6_pq,xor", "raid6_pq.ko": "", "xor.ko": "", "sr.ko": ""}
    )
    assert names(choose(folder, ["btrfs"], []).files) == ["raid6_pq.ko", "xor.ko", "btrfs.ko"]


def test_compressed_modules_are_read_and_dashes_are_underscores(tmp_path: Path) -> None:
    folder = kernel_folder(tmp_path, {"raid1.ko.xz": "md-mod", "md-mod.ko.xz": ""})
    chosen = choose(folder, ["raid1"], [])
    assert names(chosen.files) == ["md-mod.ko.xz", "raid1.ko.xz"]
    assert depends(read_module(chosen.files[1])) == ("md_mod",)


def test_what_is_built_in_or_gone_is_distinguished(tmp_path: Path) -> None:
    folder = kernel_folder(tmp_path, {"xfs.ko": ""}, built_in=("mq-deadline",))
    chosen = choose(folder, ["mq_deadline", "reiserfs", "xfs"], ["mq_deadline"])
    assert (chosen.built_in, chosen.absent) == (("mq_deadline",), ("reiserfs",))


def test_a_kernel_that_cannot_boot_a_guest_is_refused_by_the_modules_name(tmp_path: Path) -> None:
    folder = kernel_folder(tmp_path / "6.1.0-cloud", {"xfs.ko": ""})
    with pytest.raises(HostError, match=r"6\.1\.0-cloud lacks virtio_blk"):
        choose(folder, ["xfs"], ["virtio_blk"])


def test_a_module_whose_own_need_is_missing_is_not_a_surprise_at_boot(tmp_path: Path) -> None:
    with pytest.raises(HostError, match="lacks libcrc32c"):
        choose(kernel_folder(tmp_path, {"xfs.ko": "libcrc32c"}), ["xfs"], [])


def test_modules_that_need_each_other_are_reported_in_a_circle() -> None:
    with pytest.raises(HostError, match="a -> b -> a"):
        load_order(["a"], {"a": ["b"], "b": ["a"]})


def test_the_name_is_that_of_the_kernel_and_not_of_the_file() -> None:
    assert name_of(Path("/lib/modules/6.12/kernel/block/kyber-iosched.ko.xz")) == "kyber_iosched"


@given(st.dictionaries(st.integers(1, 30), st.lists(st.integers(0, 29)), max_size=20))
def test_any_graph_without_circles_is_put_in_order(graph: dict[int, list[int]]) -> None:
    needs = {str(name): [str(below) for below in lower if below < name] for name, lower in graph.items()}
    ordered = load_order(list(needs), needs)
    place = {name: position for position, name in enumerate(ordered)}
    assert len(place) == len(ordered)
    assert all(place[below] < place[name] for name, lower in needs.items() for below in lower)


def test_the_signature_behind_a_module_is_cut_off_and_nothing_else() -> None:
    trailer = bytes([0, 0, 2, 0, 0, 0, 0, 0]) + (5).to_bytes(4, "big")
    assert unsigned(b"module" + b"12345" + trailer + b"~Module signature appended~\n") == b"module"
    assert unsigned(b"module") == b"module"
