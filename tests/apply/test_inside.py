"""Paths of an image lead nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mydyno.apply.files.inside import inside
from mydyno.core.errors import ApplyError

_PART = st.sampled_from(["a", "b", "..", ".", "etc", ""])
_PATH = st.lists(_PART, max_size=6).map("/".join)


def test_links_are_followed_inside_the_root(tmp_path: Path) -> None:
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/my.cnf").symlink_to("/alternatives/my.cnf")
    (tmp_path / "alternatives").mkdir()
    (tmp_path / "alternatives/my.cnf").symlink_to("../../../etc/real.cnf")
    assert inside(tmp_path, "/etc/my.cnf") == "/etc/real.cnf"


def test_what_is_not_there_is_taken_as_it_is_written(tmp_path: Path) -> None:
    assert (
        inside(tmp_path, "/etc/systemd/system/x.service.d/zz.conf")
        == "/etc/systemd/system/x.service.d/zz.conf"
    )


def test_a_circle_of_links_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(ApplyError, match="leads in a circle"):
        inside(tmp_path, "/a")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(links=st.dictionaries(st.sampled_from(["a", "b", "etc/a", "etc/b"]), _PATH, max_size=4), path=_PATH)
def test_whatever_links_there_are_no_path_leads_out(tmp_path: Path, links: dict[str, str], path: str) -> None:
    root = tmp_path / str(len(list(tmp_path.iterdir())))
    (root / "etc").mkdir(parents=True)
    for name, target in links.items():
        (root / name).symlink_to(f"/{target}" if len(target) % 2 else target or ".")
    try:
        found = inside(root, f"/{path}")
    except ApplyError:
        return
    assert ".." not in found.split("/")
    place = root / found[1:]
    assert place.resolve() == place
