"""Finds circles of files inside each crate: files that use each other, directly or by way of others.

A declaration (`mod a;`) and a re-export (`pub use a::B;`) are no use: whoever names `super::B` uses the file
that defines B. A module and the modules inside it are a whole, so they may use each other. Code for tests is
left out. Prints each circle and exits with 1 when there is one.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

Segments = tuple[str, ...]

_COMMENT_OR_TEXT = re.compile(r'//[^\n]*|/\*.*?\*/|b?"(?:\\.|[^"\\])*"', re.DOTALL)
_TESTS = re.compile(r"#\[cfg\(test\)\]\s*(?:pub )?mod \w+ \{.*?^\}", re.DOTALL | re.MULTILINE)
_USE = re.compile(r"^[ \t]*(pub(?:\([^)]*\))? )?use ([^;]+);", re.MULTILINE)
_PATH = re.compile(r"\b(?:crate|super|self)(?:::\w+)+")
_MODULE = re.compile(r"^\s*(?:pub(?:\([^)]*\))? )?mod (\w+);", re.MULTILINE)


@dataclass
class Module:
    """A file of a crate, with the paths that it names."""

    path: Segments
    file: Path
    used: list[Segments] = field(default_factory=list)
    exported: dict[str, Segments] = field(default_factory=dict)
    """Name -> what it stands for elsewhere."""


def modules_of(source: Path) -> dict[Segments, Module]:
    """Path from the crate's root -> its module; without files that hold only tests."""
    modules = {}
    for file in sorted(source.rglob("*.rs")):
        path = file.relative_to(source).with_suffix("").parts
        if path[-1] in ("mod", "lib"):
            path = path[:-1]
        if "tests" not in path and path[:1] not in (("main",), ("bin",)):
            modules[path] = _read(Module(path, file))
    return modules


def _read(module: Module) -> Module:
    text = _TESTS.sub("", _COMMENT_OR_TEXT.sub('""', module.file.read_text(encoding="utf-8")))
    children = _MODULE.findall(text)
    for public, tree in _USE.findall(text):
        for path, name in _leaves(tree):
            absolute = _absolute(module.path, path, children)
            if absolute is not None and public:
                module.exported[name] = absolute
            elif absolute is not None:
                module.used.append(absolute)
    rest = _USE.sub("", text)
    paths = [tuple(path.split("::")) for path in _PATH.findall(rest)]
    paths += [(child, "") for child in children if re.search(rf"(?<![:\w]){child}::", rest)]
    module.used += [path for path in (_absolute(module.path, each, children) for each in paths) if path]
    return module


def _leaves(tree: str) -> Iterator[tuple[Segments, str]]:
    """Each path of a `use`, with the name that it gets here: `a::{b, c as d}` has two."""
    tree = tree.strip()
    head, brace, inner = tree.partition("{")
    if not brace:
        path, _, name = tree.partition(" as ")
        segments = tuple(path.strip().split("::"))
        yield segments, name.strip() or segments[-1]
        return
    depth, start, parts = 0, 0, []
    inner = inner.rpartition("}")[0] + ","
    for place, letter in enumerate(inner):
        depth += (letter == "{") - (letter == "}")
        if letter == "," and depth == 0:
            parts.append(inner[start:place])
            start = place + 1
    for part in filter(str.strip, parts):
        for path, name in _leaves(head.strip() + part.strip()):
            yield (path[:-1], path[-2]) if path[-1] == "self" and len(path) > 1 else (path, name)


def _absolute(here: Segments, path: Segments, children: list[str]) -> Segments | None:
    """The path from the crate's root; None for one into another crate."""
    if path[0] == "crate":
        return path[1:]
    if path[0] == "self":
        return here + path[1:]
    if path[0] == "super":
        while path and path[0] == "super":
            here, path = here[:-1], path[1:]
        return here + path
    return here + path if path[0] in children else None


def file_of(modules: dict[Segments, Module], path: Segments) -> Module | None:
    """The file that defines what `path` names, through re-exports."""
    for _ in range(20):
        known = next((path[:end] for end in range(len(path), -1, -1) if path[:end] in modules), None)
        if known is None:
            return None
        module, rest = modules[known], path[len(known) :]
        if not rest or rest[0] not in module.exported:
            return module
        path = module.exported[rest[0]] + rest[1:]
    return None


def circles(source: Path) -> Iterator[list[str]]:
    """The files of each circle, in the order in which they use each other; the first ones found."""
    modules = modules_of(source)
    graph = {
        module.path: {
            used.path
            for path in module.used
            if (used := file_of(modules, path)) and not _within(used.path, module.path)
        }
        for module in modules.values()
    }
    while True:
        try:
            TopologicalSorter(graph).prepare()
        except CycleError as error:
            circle: list[Segments] = error.args[1]
            yield [str(modules[path].file.relative_to(source)) for path in reversed(circle)]
            graph[circle[1]].discard(circle[0])
        else:
            return


def _within(one: Segments, other: Segments) -> bool:
    """Whether one module is the other, or inside it."""
    shared = min(len(one), len(other))
    return one[:shared] == other[:shared]


def main() -> int:
    crates = Path(__file__).resolve().parents[1] / "crates"
    found = [
        f"{crate.name}: {' -> '.join(circle)}"
        for crate in sorted(crates.iterdir())
        if (crate / "src").is_dir()
        for circle in circles(crate / "src")
    ]
    print("\n".join(found) or "no circles of files in the crates")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
