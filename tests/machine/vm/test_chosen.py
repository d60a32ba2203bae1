from pathlib import Path

import pytest

from machine.images.builders import kernel_manifest, root_manifest
from mydyno.core.errors import HostError, MissingToolError
from mydyno.machine.images import ImageStore
from mydyno.machine.vm.chosen import chosen_kernel, chosen_root


@pytest.fixture
def store(tmp_path: Path) -> ImageStore:
    """With a root of sid, which is no machine's own in these tests but a developer's, and a kernel 6.1."""
    for folder, manifest in (("roots/sid", root_manifest("sid")), ("kernels/6.1", kernel_manifest("6.1"))):
        (tmp_path / folder).mkdir(parents=True)
        manifest.write(tmp_path / folder)
    return ImageStore(tmp_path)


def test_a_root_of_another_suite_serves_where_there_is_none_of_this_machines(store: ImageStore) -> None:
    assert chosen_root(store).manifest.suite == "sid"


def test_without_any_root_the_error_shows_the_command_that_builds_one(tmp_path: Path) -> None:
    with pytest.raises(MissingToolError) as raised:
        chosen_root(ImageStore(tmp_path))
    assert "mydyno images build" in str(raised.value)


def test_the_kernel_is_that_of_the_roots_suite_unless_another_is_configured(store: ImageStore) -> None:
    assert chosen_kernel(store, None, "bookworm") == chosen_kernel(store, "6.1", "sid")


def test_a_kernel_that_is_not_built_is_reported_with_the_command_for_exactly_it(store: ImageStore) -> None:
    with pytest.raises(MissingToolError) as raised:
        chosen_kernel(store, "5.10", "bookworm")
    assert "mydyno images build --kernel 5.10" in str(raised.value)


def test_a_third_number_must_be_the_one_that_is_built(store: ImageStore) -> None:
    assert chosen_kernel(store, "6.1.192", "bookworm").manifest.name == "linux-6.1"
    with pytest.raises(HostError, match=r"6\.1\.3 is requested"):
        chosen_kernel(store, "6.1.3", "bookworm")


def test_sid_has_no_kernel_of_its_own_choosing(store: ImageStore) -> None:
    with pytest.raises(MissingToolError, match=r"no settled kernel"):
        chosen_kernel(store, None, "sid")
