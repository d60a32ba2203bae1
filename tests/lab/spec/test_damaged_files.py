"""Whatever is done to a file, the reader either accepts it or says what is wrong, and where."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from lab.damage import with_odd_value, with_random_edits
from mydyno.core.facts import HostFacts
from mydyno.lab import plan, spec

GOOD = [file.read_text("utf-8") for file in sorted((Path(__file__).parent / "good").glob("*.yaml"))]
FACTS = HostFacts(memory_bytes=64 * 1024**3, cpus=2, free_disk_bytes=None)

SNIPPETS = (
    st.sampled_from(list("{}[]'\"#?|>%@~=0\t\n\u2028"))
    | st.sampled_from(["- ", ": ", "&a ", "*a", "!x ", "<<: ", "---\n", "\r\n", "\n  ", '"\\e[31m"'])
    | st.sampled_from(["null", "-1", "1e999", ".nan", "on", "0x1F", "0o8", "1_0", "2026-01-01", "9" * 20])
    | st.sampled_from(["10..1", "1..2 step 3", "5%", "% of memory", "workload.", "server.config."])
)
ODD: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | st.sampled_from(
        ["", " ", "10..5", "1..9", "5s", "1/s", "25% of memory", "1G", "a.b", "closed", "\n", "💡"]
    )
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


def problems_of(text: str) -> tuple[spec.Problem, ...]:
    """What is wrong with `text`, read and planned; anything but problems of the file is let through."""
    try:
        plan.make(spec.loads(text, "damaged.yaml"), FACTS)
    except spec.SpecErrors as errors:
        return errors.problems
    return ()


def check(text: str) -> None:
    """Each problem is one printable line that names a line of the file."""
    lines = text.splitlines() or [""]
    for problem in problems_of(text):
        assert str(problem).isprintable()
        assert problem.line is not None
        assert 1 <= problem.line <= len(lines) + 1


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(GOOD), st.data())
def test_a_text_with_random_edits_never_confuses_the_reader(text: str, data: st.DataObject) -> None:
    check(with_random_edits(text, SNIPPETS, data))


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(GOOD), st.data())
def test_a_value_of_any_kind_in_any_place_never_confuses_the_reader(text: str, data: st.DataObject) -> None:
    check(with_odd_value(text, ODD, data))
