"""What was probably meant by a name that does not exist."""

import difflib
from collections.abc import Iterable


def nearest(word: str, candidates: Iterable[str]) -> str | None:
    """The candidate that `word` most likely stands for; None when nothing is close."""
    return next(iter(several_nearest(word, candidates, most=1)), None)


def several_nearest(
    word: str, candidates: Iterable[str], *, most: int = 3, cutoff: float = 0.6
) -> tuple[str, ...]:
    """The nearest first; case does not count, and dashes are underscores. `cutoff`: as of difflib."""
    by_folded = {_fold(candidate): candidate for candidate in candidates}
    close = difflib.get_close_matches(_fold(word), by_folded, n=most, cutoff=cutoff)
    return tuple(by_folded[each] for each in close)


def did_you_mean(word: str, candidates: Iterable[str], otherwise: str) -> str:
    """A hint: `did you mean a, b?`, or `otherwise` when nothing is close."""
    near = several_nearest(word, candidates)
    return f"did you mean {', '.join(near)}?" if near else otherwise


def unknown(kind: str, name: str, near: str | None) -> str:
    """`unknown KIND 'NAME' (did you mean 'NEAR'?)`, as the problems of a file say it."""
    return f"unknown {kind} {name!r}" + (f" (did you mean {near!r}?)" if near else "")


def _fold(word: str) -> str:
    return word.lower().replace("-", "_")
