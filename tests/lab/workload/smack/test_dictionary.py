"""Dictionaries: which words they have, how they are drawn, and what the original makes of them."""

from __future__ import annotations

import pytest

from lab.workload.smack.builders import section
from mydyno.core.document.problems import SpecErrors
from mydyno.lab.workload.smack import dictionary
from mydyno.lab.workload.smack.dictionary import Dictionary
from mydyno.lab.workload.smack.generate import lines, parse_format
from mydyno.lab.workload.smack.grammar import Section


def of_list(source: str, *, strict: bool = False) -> tuple[str, ...]:
    text = f'dictionary "d" {{ type "seq"; source_type "list"; source "{source}"; }}'
    return dictionary.from_list(section(text, strict=strict), strict)[0].words


def file_section(more: str = "") -> Section:
    return section(f'dictionary "d" {{ type "rand"; source_type "file"; source "x.dat"; {more} }}')


def of_file(data: str, more: str = "", *, strict: bool = False) -> tuple[Dictionary, list[str]]:
    made, traps = dictionary.from_file(file_section(more), data.encode(), "f", strict)
    return made, [trap.trap.name for trap in traps]


def template(source: str, *, strict: bool = False) -> Dictionary:
    text = f'dictionary "d" {{ type "unique"; source_type "template"; source "{source}"; }}'
    return dictionary.from_template(section(text), "f", strict)[0]


def test_the_last_word_of_a_list_is_kept_and_under_strict_compat_dropped() -> None:
    assert of_list("a,b,c") == ("a", "b", "c")
    assert of_list("a,b,c", strict=True) == ("a", "b")


def test_a_list_that_ends_with_a_comma_has_the_same_words_in_both_modes() -> None:
    assert of_list("a,b,") == of_list("a,b,", strict=True) == ("a", "b")


def test_an_escaped_comma_belongs_to_the_word_and_under_strict_compat_splits_it() -> None:
    assert of_list(r"a\\,b,c,") == ("a,b", "c")
    assert of_list(r"a\\,b,c,", strict=True) == (r"a\\", "b", "c")


def test_a_file_gives_the_first_field_of_every_line() -> None:
    made, traps = of_file("a,1\nb,2\nc\n", 'delim ",";')
    assert made.words == ("a", "b", "c")
    assert traps == []


def test_without_a_delimiter_a_word_is_the_whole_line() -> None:
    assert of_file("a,1\nb b\n")[0].words == ("a,1", "b b")


def test_file_size_equiv_keeps_every_nth_line_by_the_size_in_bytes() -> None:
    # 40 bytes / 13 = 3: lines 3, 6 and 9 of 10.
    made, traps = of_file("".join(f"w{n % 10}x\n" for n in range(1, 11)), 'file_size_equiv "13";')
    assert made.words == ("w3x", "w6x", "w9x")
    assert traps == ["sampled-dictionary"]


def test_the_stock_file_gives_750_distinct_keys_of_90000() -> None:
    form = parse_format("%12-12s%n,%25-25s,%n,%d")
    data = "".join(line + "\n" for line in lines(form, 90_000))
    made, _ = of_file(data, 'delim ","; file_size_equiv "45000";')
    assert len(set(made.words)) == 750


def test_a_last_line_without_newline_counts_and_under_strict_compat_does_not() -> None:
    made, traps = of_file("a\nb")
    assert made.words == ("a", "b")
    assert traps == ["last-line-without-newline"]
    assert of_file("a\nb", strict=True)[0].words == ("a",)


def test_a_long_line_is_read_and_under_strict_compat_refused() -> None:
    long = "x" * 512
    made, traps = of_file(f"a\n{long}\n")
    assert made.words == ("a", long)
    assert traps == ["long-line"]
    with pytest.raises(SpecErrors, match="line 2 of the dictionary's file has 512 bytes or more"):
        of_file(f"a\n{long}\n", strict=True)
    assert of_file(f"a\n{long[1:]}\n", strict=True)[1] == []


def test_a_file_that_is_no_text_is_refused_with_the_place_of_its_name() -> None:
    with pytest.raises(SpecErrors, match=r"f:1:58: the dictionary's file is not UTF-8 text"):
        dictionary.from_file(file_section(), b"a\xff\n", "f", False)


def test_words_are_escaped_as_in_a_quoted_sql_string() -> None:
    assert of_file('it\'s "5\\6"\n')[0].words == ('it\\\'s \\"5\\\\6\\"',)


def test_a_unique_template_counts_with_its_width() -> None:
    assert dictionary.expression(template("id%05d-%%"), "N", "M") == [
        "concat",
        "id",
        ["pad", "N", 5, "0"],
        "-",
        "%",
    ]


def test_a_second_field_gets_the_same_counter_and_under_strict_compat_ends_the_template() -> None:
    both = dictionary.expression(template("id%05d_%d_x"), "N", "M")
    assert both == ["concat", "id", ["pad", "N", 5, "0"], "_", "M", "_x"]
    cut = dictionary.expression(template("id%05d_%d_x", strict=True), "N", "M")
    assert cut == ["concat", "id", ["pad", "N", 5, "0"], "_"]


def test_random_words_are_picked_and_words_in_turn_are_taken_from_the_first() -> None:
    assert dictionary.expression(Dictionary("d", "rand", ("a",)), None, None) == ["pick", "d"]
    assert dictionary.expression(Dictionary("d", "seq", ("a",)), None, None) == ["next", "d"]
