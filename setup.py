"""What pyproject.toml cannot say: the version, which the Cargo workspace has, and the wheel's tag."""

from __future__ import annotations

import tomllib
from pathlib import Path

from setuptools import setup
from setuptools.command.bdist_wheel import bdist_wheel


class PlatformWheel(bdist_wheel):
    """A wheel for every Python of one platform: its programs are static and link with none."""

    def get_tag(self) -> tuple[str, str, str]:
        return "py3", "none", super().get_tag()[2]


WORKSPACE = tomllib.loads(Path(__file__).with_name("Cargo.toml").read_text(encoding="utf-8"))["workspace"]

setup(version=WORKSPACE["package"]["version"], cmdclass={"bdist_wheel": PlatformWheel})
