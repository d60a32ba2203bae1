"""Whatever is done to a workload file, the reader either accepts it or says what is wrong, and where."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from lab.damage import with_odd_value, with_random_edits
from mydyno.lab import workload

HERE = Path(__file__).parent / "good"
BUILTIN = Path(workload.__file__).parent / "builtin"
GOOD = [
    (HERE / "every-key.yaml").read_text("utf-8"),
    *((BUILTIN / f"{name}.yaml").read_text("utf-8") for name in ("oltp04", "smack", "oltp-insert")),
]
SNIPPETS = (
    st.sampled_from(list("{}[]()'\"`:#?|>%@~=0;\t\n "))
    | st.sampled_from(["- ", ": ", "&a ", "*a", "<<: ", "\n  ", "–", ":x", "{x}", "{repeat(", "{raw(", "-- "])
    | st.sampled_from(
        ["null", "-1", "1e999", "9" * 20, "**", "//0", "[0]", " if ", "lambda: 0", "0x1F", "\\"]
    )
)
ODD: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | st.sampled_from(
        ["", " ", "5s", "row", "id", "oltp04", "SELECT :id", "uniform(1, 0)", "1 +", "\n", "💡"]
    )
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


def check(text: str) -> None:
    """Each problem is one printable line that names a line of the file."""
    lines = text.splitlines() or [""]
    try:
        workload.reads(text, "damaged.yaml", HERE).resolve({})
    except workload.SpecErrors as errors:
        problems = errors.problems
    else:
        return
    for problem in problems:
        assert str(problem).isprintable()
        if problem.file == "damaged.yaml":
            assert problem.line is not None
            assert 1 <= problem.line <= len(lines) + 1


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(GOOD), st.data())
def test_a_text_with_random_edits_never_confuses_the_reader(text: str, data: st.DataObject) -> None:
    check(with_random_edits(text, SNIPPETS, data))


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(GOOD), st.data())
def test_a_value_of_any_kind_in_any_place_never_confuses_the_reader(text: str, data: st.DataObject) -> None:
    check(with_odd_value(text, ODD, data))
