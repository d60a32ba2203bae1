"""Where a path of an image really lies: links are followed, and none of them leads out of the root."""

from collections import deque
from pathlib import Path

from mydyno.core.errors import ApplyError

_MOST_LINKS = 40
"""As many as the kernel follows (path_resolution(7))."""


def inside(root: Path, path: str) -> str:
    """The path without links that `path` stands for when `root` is `/`, as openat2(2)'s RESOLVE_IN_ROOT.

    An absolute link starts again at the root, `..` does not climb above it. What does not exist is taken
    as it is written. Raises ApplyError for links in a circle.
    """
    left = deque(part for part in path.split("/") if part not in ("", "."))
    resolved: list[str] = []
    followed = 0
    while left:
        part = left.popleft()
        if part == "..":
            del resolved[-1:]
            continue
        here = root.joinpath(*resolved, part)
        if not here.is_symlink():
            resolved.append(part)
            continue
        followed += 1
        if followed > _MOST_LINKS:
            raise ApplyError(f"{root / path.lstrip('/')} is a link that leads in a circle")
        target = str(here.readlink())
        if target.startswith("/"):
            resolved.clear()
        left.extendleft(part for part in reversed(target.split("/")) if part not in ("", "."))
    return "/" + "/".join(resolved)
