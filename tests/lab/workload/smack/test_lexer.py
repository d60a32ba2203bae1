"""The tokens of a `.smack` file."""

from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mydyno.core.document.problems import SpecErrors
from mydyno.lab.workload.smack import grammar
from mydyno.lab.workload.smack.lexer import Kind, tokenize

_ALPHABET = st.sampled_from(list('{}();,.=:$"\\#/\n \t-@é') + list(string.ascii_lowercase[:4]) + list("019"))
_WORDS = st.sampled_from(
    ["client", "query", "main", "user", '"c"', '"', "{", "}", ";", "(", ")", "$1", "::", "."]
)


def texts(source: str, strict: bool = False) -> list[str]:
    return [token.text for token in tokenize(source, "f", strict)[0]][:-1]


def test_comments_run_to_the_end_of_the_line_and_not_into_strings() -> None:
    assert texts('a # b "\n"c # d // e" // f\ng') == ["a", "c # d // e", "g"]


def test_a_string_spans_lines_and_keeps_escaped_quotes_backslashes_and_newlines() -> None:
    assert texts('"a\nb\\"c\\\\d\\\ne"') == ['a\nb"c\\d\ne']


def test_another_escape_is_kept_whole_and_under_strict_compat_drops_what_follows() -> None:
    assert texts(r'"a\tb"') == [r"a\tb"]
    assert texts(r'"a\tbc\d"', strict=True) == [r"a\d"]
    assert texts('"a\\tb\nc"', strict=True) == ["a\nc"]
    # The quote that follows is kept, and does not end the string.
    assert texts(r'"it\'s" one "', strict=True) == ['it" one ']
    with pytest.raises(SpecErrors, match="never closed"):
        texts(r'"a\tb"', strict=True)


def test_a_decimal_number_is_one_token_and_under_strict_compat_three() -> None:
    assert texts("0.5") == ["0.5"]
    assert texts("0.5", strict=True) == ["0", ".", "5"]


def test_places_count_lines_and_columns_from_one() -> None:
    tokens, _ = tokenize('ab\n  cd "x\ny" $1', "f")
    assert [(token.text, token.position.line, token.position.column) for token in tokens] == [
        ("ab", 1, 1), ("cd", 2, 3), ("x\ny", 2, 6), ("1", 3, 4), ("", 3, 6),
    ]  # fmt: skip


def test_each_character_of_a_string_knows_its_place() -> None:
    (token, _), _ = tokenize('"a\n\\"b"', "f")
    assert [(place.line, place.column) for place in token.places] == [(1, 2), (1, 3), (2, 1), (2, 3)]


def test_a_run_of_unknown_characters_is_one_trap() -> None:
    _, traps = tokenize("a @@@ b @", "f")
    assert [trap.position.column for trap in traps if trap.position] == [3, 9]


@given(st.text(_ALPHABET, max_size=200), st.booleans())
def test_the_lexer_ends_on_any_text_and_an_error_has_a_place_in_it(source: str, strict: bool) -> None:
    lines = source.split("\n")
    try:
        tokens, traps = tokenize(source, "f", strict)
    except SpecErrors as errors:
        places = [problem.position for problem in errors.problems]
    else:
        assert tokens[-1].kind is Kind.END
        places = [token.position for token in tokens] + [trap.position for trap in traps]
    for place in places:
        assert place is not None
        assert 1 <= place.line <= len(lines)
        assert 1 <= place.column <= len(lines[place.line - 1]) + 1


@given(st.lists(_WORDS, max_size=60), st.booleans())
def test_the_parser_ends_on_any_words_and_an_error_has_a_place(words: list[str], strict: bool) -> None:
    try:
        script = grammar.parse(" ".join(words), "f", strict)
    except SpecErrors as errors:
        sound = all(problem.position for problem in errors.problems)
    else:
        sound = bool(script.sections)
    assert sound


@pytest.mark.parametrize("source", ['"', '"a\\', '"a\\"', 'a "b" "'])
def test_a_string_that_is_not_closed_is_an_error_where_it_opens(source: str) -> None:
    with pytest.raises(SpecErrors, match="never closed"):
        tokenize(source, "f")
