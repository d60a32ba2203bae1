"""Query barrels as programs: what each round sends."""

from __future__ import annotations

from importlib import resources

import pytest

from lab.workload.smack.builders import round_of, statements, words
from mydyno.core.document.problems import SpecErrors
from mydyno.lab.workload.smack import grammar, inspect, program
from mydyno.lab.workload.smack.dictionary import Counter, Dictionary

WORD = 'dictionary "word" { type "rand"; source_type "list"; source "a,b,"; }'
ID = 'dictionary "id" { type "unique"; source_type "template"; source "id%d"; }'
UNIQUE = Dictionary("id", "unique", parts=("id", Counter(0)))


def query(text: str, name: str = "q", kind: str = "one", more: str = 'parsed "y";') -> str:
    return f'query "{name}" {{ query "{text}"; type "{kind}"; has_result_set "y"; {more} }}\n'


def client(barrel: str) -> str:
    return f'client "c" {{ user "u"; query_barrel "{barrel}"; }}\n'


def classic(name: str) -> program.Round:
    file = resources.files("mydyno.lab.workload.smack") / f"{name}.smack"
    script = grammar.parse(file.read_text(), file.name)
    inspect.check(script, ["10", "100"])
    return program.build(script, script.named("client")["smacker"], [words("a", "b")])


def test_under_strict_compat_only_announced_results_are_fetched() -> None:
    sections = """query "a" { query "select 1"; }
query "b" { query "select 2"; has_result_set "yes"; }
client "c" { query_barrel "1 a 1 b"; }
"""
    for strict, expected in ((False, [False, False]), (True, [True, False])):
        [transaction] = round_of(sections, strict=strict).program["transactions"]
        assert [step["send"].get("unread", False) for step in transaction["steps"]] == expected


def test_select_key_sends_two_selects_a_round() -> None:
    one = classic("select-key")
    assert one.types == {"select_index": 2}
    sql = ["select * from http_auth where username = '", {"raw": ["pick", "word"]}, "'"]
    assert statements(one) == [("select_index", sql)] * 2


def test_update_select_sends_a_select_and_an_update_with_words_drawn_apart() -> None:
    one = classic("update-select")
    assert one.types == {"select_index": 1, "update_index": 1}
    word = {"raw": ["pick", "word"]}
    assert statements(one)[1] == (
        "update_index",
        ["update http_auth set pass = '", word, "' where username = '", word, "'"],
    )


def test_the_sweep_of_forty_steps_opens_8200_connections_and_sends_two_statements_a_round() -> None:
    steps = range(10, 401, 10)
    assert len(steps) == 40
    assert sum(steps) == 8200
    assert sum(clients * 100 * classic("select-key").statements for clients in steps) == 8200 * 200


def test_a_barrel_fires_in_order_with_its_pauses() -> None:
    one = round_of(query("select 1", "p", "a") + query("select 2", "q", "b") + client("1 p -0.5 3 q -2 1 p"))
    [transaction] = one.program["transactions"]
    kinds = [next(iter(step)) for step in transaction["steps"]]
    assert kinds == ["send", "pause_s", "repeat", "pause_s", "send"]
    assert [step["pause_s"] for step in transaction["steps"] if "pause_s" in step] == [0.5, 2.0]
    assert [name for name, _ in statements(one)] == ["a", "b", "b", "b", "a"]
    assert one.types == {"a": 2, "b": 3}


def test_a_query_that_is_not_parsed_is_sent_as_it_is() -> None:
    one = round_of(WORD + query("select '$word'", more="") + client("1 q"), words("a"))
    assert statements(one) == [("one", ["select '$word'"])]


def test_a_name_ends_at_the_first_character_that_is_no_letter_digit_or_underscore() -> None:
    one = round_of(WORD + query("select '$word-x', '$word'") + client("1 q"), words("a"))
    [(_, sql)] = statements(one)
    assert sql == ["select '", {"raw": ["pick", "word"]}, "-x', '", {"raw": ["pick", "word"]}, "'"]


def test_a_name_at_the_very_end_is_expanded_and_under_strict_compat_dropped() -> None:
    text = WORD + query("select $word") + client("1 q")
    assert statements(round_of(text, words("1"))) == [("one", ["select ", {"raw": ["pick", "word"]}])]
    assert statements(round_of(text, words("1"), strict=True)) == [("one", ["select "])]


def test_a_backslash_leaves_expansion_on_and_under_strict_compat_switches_it_off() -> None:
    text = WORD + query(r"select '$word', '\\n', '$word'") + client("1 q")
    word = {"raw": ["pick", "word"]}
    assert statements(round_of(text, words("1"))) == [("one", ["select '", word, r"', '\n', '", word, "'"])]
    strict = statements(round_of(text, words("1"), strict=True))
    assert strict == [("one", ["select '", word, r"', '\n', '$word'"])]


def test_a_dollar_behind_a_backslash_stays_one() -> None:
    text = WORD + query(r"select '\\$word' -- ") + client("1 q")
    assert statements(round_of(text, words("1"))) == [("one", ["select '$word' -- "])]


def test_unique_values_are_counted_for_all_connections() -> None:
    one = round_of(ID + query("insert into t values ('$id', '$id')") + client("3 q"), UNIQUE)
    assert one.program["values"] == {"id": ["counter", "id", 0, 1, 1, 1]}
    assert one.draws == 6
    assert statements(one)[0][1][1] == {"raw": ["concat", "id", ["draw", "id"]]}


def test_parallel_client_types_interleave_their_unique_values() -> None:
    text = ID + query("select '$id' from dual") + client("1 q")
    starts = [
        round_of(text, UNIQUE, lane=program.Lane(index, of=2, drawn=10)).program["values"]["id"]
        for index in (0, 1)
    ]
    assert starts == [["counter", "id", 20, 2, 1, 1], ["counter", "id", 21, 2, 1, 1]]


def test_under_strict_compat_each_connection_counts_for_itself_from_nought() -> None:
    text = (
        ID + query("select '$id', '$id' from dual") + query("select '$id' from dual", "r") + client("2 q 1 r")
    )
    one = round_of(text, UNIQUE, strict=True)
    assert one.program["values"] == {}
    found = []
    for event in (0, 1):
        for index, (_, sql) in enumerate(statements(one)):
            for part in sql:
                if isinstance(part, dict):
                    found.append(_value(part["raw"][2], {"event": event, "shot_0": index}))
    assert found == list(range(10))


def _value(expression: object, known: dict[str, int]) -> int:
    match expression:
        case int():
            return expression
        case ["event"]:
            return known["event"]
        case ["var", str() as name]:
            return known[name]
        case ["+", a, b]:
            return _value(a, known) + _value(b, known)
        case ["*", a, b]:
            return _value(a, known) * _value(b, known)
    raise AssertionError(expression)


def test_a_query_without_a_type_is_counted_under_a_separate_name() -> None:
    assert round_of('query "q" { query "select 1"; }' + client("2 q")).types == {"query": 2}


def test_drawing_from_a_dictionary_without_words_is_an_error_at_the_dictionary() -> None:
    with pytest.raises(SpecErrors, match=r"test.smack:1:1: dictionary word has no words"):
        round_of(WORD + query("select '$word' ") + client("1 q"), words())


def test_unloading_a_barrel_without_queries_is_an_error_at_the_client() -> None:
    with pytest.raises(SpecErrors, match="client c unloads its barrel, which has no query"):
        round_of(client("-1"))
