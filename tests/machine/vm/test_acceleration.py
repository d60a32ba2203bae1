import json
from pathlib import Path

import pytest

from mydyno.machine.vm.acceleration import Acceleration, acceleration, known


def test_without_the_device_nothing_is_tried(tmp_path: Path) -> None:
    found = acceleration(tmp_path / "no-kernel", tmp_path / "cache.json", device=tmp_path / "kvm")
    assert found.accelerator == "tcg"
    assert "is not there" in found.reason


@pytest.mark.parametrize(
    "text", ["", "{", "[]", json.dumps({"of": "another boot", **vars(Acceleration("kvm", "it did"))})]
)
def test_an_answer_that_is_broken_or_of_another_boot_is_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "cache.json").write_text(text)
    assert known(tmp_path / "cache.json") is None
    assert known(tmp_path / "missing.json") is None
