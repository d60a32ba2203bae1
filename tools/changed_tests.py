"""Which tests belong to what has changed since the branch began: paths for pytest, one a line.

    python tools/changed_tests.py           test files and folders
    python tools/changed_tests.py --crates  the packages of crates/ that have changed

tests/ has the folders of src/mydyno/. To a module belong the tests of the same folder there, or of the
nearest one above it, and every other test that imports it. Tests that start servers and guests are
left to `make test`.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE, TESTS = Path("src/mydyno"), Path("tests")
STARTS_SERVERS = tuple(TESTS / name for name in ("live", "machine", "lab/stack"))
_FROM = re.compile(r"^ *from ([\w.]+) import (\([^)]*\)|.*)", re.MULTILINE)
BRANCHES = ("origin/HEAD", "origin/main", "main")


def git(*arguments: str) -> list[str]:
    """Lines of its output; none when it fails."""
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.splitlines() if done.returncode == 0 else []


def changed_files() -> list[Path]:
    """Those that differ from where this branch left the main one, and new ones."""
    bases = (git("merge-base", "HEAD", branch) for branch in BRANCHES)
    base = next((lines[0] for lines in bases if lines), "HEAD")
    names = git("diff", "--name-only", base) + git("ls-files", "--others", "--exclude-standard")
    return [Path(name) for name in dict.fromkeys(names)]


def paths_for(changed: Iterable[Path], root: Path = ROOT) -> list[Path]:
    """Sorted, each once, and no file of a folder that is in the list itself."""
    changed = list(changed)
    found = {test for path in changed for test in _of_the_same_folder(path, root)}
    found |= _that_import({_module(path) for path in changed if path.suffix == ".py"}, root)
    found = {test for test in found if not any(test.is_relative_to(folder) for folder in STARTS_SERVERS)}
    return sorted(test for test in found if not found & set(test.parents))


def crates_of(changed: Iterable[Path]) -> list[str]:
    return sorted({path.parts[1] for path in changed if path.parts[0] == "crates" and len(path.parts) > 2})


def _of_the_same_folder(path: Path, root: Path) -> Iterator[Path]:
    if path.is_relative_to(TESTS):
        if not path.name.startswith("test_"):
            path = path.parent  # A helper, or data.
        if path != TESTS and (root / path).exists():
            yield path
    elif path.is_relative_to(SOURCE):
        folder = TESTS / path.relative_to(SOURCE).parent
        while not (root / folder).is_dir():
            folder = folder.parent
        if folder != TESTS:
            yield folder


def _module(path: Path) -> str:
    """`mydyno.core.units` of its file."""
    return ".".join(path.with_suffix("").parts).removeprefix("src.")


def _that_import(modules: set[str], root: Path) -> set[Path]:
    return {
        test.relative_to(root)
        for test in (root / TESTS).rglob("test_*.py")
        if modules & set(_imported(test.read_text(encoding="utf-8")))
    }


def _imported(text: str) -> Iterator[str]:
    """What may be a module among the names that a test imports."""
    for package, names in _FROM.findall(text):
        yield package
        yield from (f"{package}.{name}" for name in re.findall(r"\w+", names))


if __name__ == "__main__":
    files = changed_files()
    for line in crates_of(files) if "--crates" in sys.argv else paths_for(files):
        print(line)
