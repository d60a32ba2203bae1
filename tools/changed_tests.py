"""Which tests belong to what has changed: paths for pytest, one a line.

    python tools/changed_tests.py              test files and folders
    python tools/changed_tests.py --crates     the packages of crates/ that have changed
    python tools/changed_tests.py --tree       what is here now, as git names it
    python tools/changed_tests.py --passed ID  what is here passed: the next changes count from there

Changes count from the last tree that passed; where there is none, from where this branch left the main one.

tests/ has the folders of src/mydyno/. To a module belong the tests of the same folder there, or of the
nearest one above it, and every other test that imports it. Of a module of the command line only the tests
of its name, else those of every command's help: all of tests/cli take minutes. Tests that start servers and
guests are left to `make test`.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE, TESTS = Path("src/mydyno"), Path("tests")
STARTS_SERVERS = tuple(TESTS / name for name in ("live", "machine", "lab/stack"))
COMMANDS, OF_EVERY_COMMAND = TESTS / "cli", ("test_help.py", "test_main.py")
_FROM = re.compile(r"^ *from ([\w.]+) import (\([^)]*\)|.*)", re.MULTILINE)
BRANCHES = ("origin/HEAD", "origin/main", "main")
PASSED = Path(".venv/.stamps/passed")


def git(*arguments: str, root: Path = ROOT, index: Path | None = None) -> list[str]:
    """Lines of its output; none when it fails. `index`: in place of the one of the work tree."""
    environment = os.environ | ({"GIT_INDEX_FILE": str(index)} if index else {})
    done = subprocess.run(
        ["git", *arguments], cwd=root, env=environment, capture_output=True, text=True, check=False
    )
    return done.stdout.splitlines() if done.returncode == 0 else []


def tree(root: Path = ROOT) -> str:
    """The id of a tree of all files as they are, new ones too; the index stays as it is."""
    with tempfile.TemporaryDirectory() as folder:
        index = Path(folder) / "index"
        shutil.copyfile(root / git("rev-parse", "--git-path", "index", root=root)[0], index)
        git("add", "--all", root=root, index=index)
        return git("write-tree", root=root, index=index)[0]


def changed_files(root: Path = ROOT) -> list[Path]:
    """Those that differ from the last tree that passed, or from where this branch left the main one."""
    passed = (root / PASSED).read_text().strip() if (root / PASSED).exists() else "none"
    bases = [git("rev-parse", "--verify", "--quiet", f"{passed}^{{tree}}", root=root)]
    bases += [git("merge-base", "HEAD", branch, root=root) for branch in BRANCHES]
    base = next((lines[0] for lines in bases if lines), "HEAD")
    return [Path(name) for name in git("diff", "--name-only", base, tree(root), root=root)]


def paths_for(changed: Iterable[Path], root: Path = ROOT) -> list[Path]:
    """Sorted, each once, and no file of a folder that is in the list itself."""
    changed = list(changed)
    found = {test for path in changed for test in _of_the_same_folder(path, root)}
    found |= _that_import({_module(path) for path in changed if path.suffix == ".py"}, root)
    found = {test for test in found if not any(test.is_relative_to(folder) for folder in STARTS_SERVERS)}
    return sorted(test for test in found if not found & set(test.parents))


def crates_of(changed: Iterable[Path]) -> list[str]:
    """Those of Cargo.toml and Cargo.lock are all."""
    changed = list(changed)
    if any(path.parent == Path() and path.stem == "Cargo" for path in changed):
        changed += [path.relative_to(ROOT) for path in ROOT.glob("crates/*/Cargo.toml")]
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
        if folder == COMMANDS:
            own = [test.relative_to(root) for test in (root / folder).glob(f"test_{path.stem}*.py")]
            yield from own or (folder / name for name in OF_EVERY_COMMAND)
        elif folder != TESTS:
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
    match sys.argv[1:]:
        case ["--tree"]:
            print(tree())
        case ["--passed", passed]:
            (ROOT / PASSED).write_text(f"{passed}\n")
        case options:
            files = changed_files()
            for line in crates_of(files) if options else paths_for(files):
                print(line)
