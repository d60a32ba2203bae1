from hypothesis import given
from hypothesis import strategies as st

from mydyno.server.program.config import render


def test_the_file_keeps_the_two_kinds_of_settings_apart() -> None:
    text = render({"datadir": "/x/data", "skip_networking": True}, {"max_connections": 450})
    assert text == (
        "[mysqld]\n# mydyno's own\ndatadir=/x/data\nskip_networking=ON\n"
        "# set by the experiment\nmax_connections=450\n"
    )


def lines(**settings: str | int | float | bool) -> list[str]:
    return render({}, settings).split("\n")[3:-1]


def test_values_are_written_as_the_server_reads_them() -> None:
    assert lines(long_query_time=0.5, innodb_max_dirty_pages_pct=90.0) == [
        "long_query_time=0.5",
        "innodb_max_dirty_pages_pct=90",
    ]
    assert lines(local_infile=False, innodb_buffer_pool_size="256M") == [
        "local_infile=OFF",
        "innodb_buffer_pool_size=256M",
    ]


def test_the_binary_log_is_switched_and_not_given_a_file_called_on() -> None:
    assert lines(log_bin=True) == ["log_bin"]
    assert lines(log_bin="off") == ["skip_log_bin"]
    assert lines(log_bin="mysql-bin") == ["log_bin=mysql-bin"]


def test_texts_with_special_letters_are_quoted() -> None:
    assert lines(init_connect="SET @a = '#1'") == ["init_connect=\"SET @a = '#1'\""]
    assert lines(ft_boolean_syntax='+ -><()~*:""&|') == ['ft_boolean_syntax="+ -><()~*:\\"\\"&|"']
    assert lines(init_connect="") == ['init_connect=""']


def server_reads(line: str) -> str:
    """How the server reads a value: strips one pair of quotes, then resolves escapes (its my_default.c)."""
    value = line.split("=", 1)[1]
    if value.startswith('"'):
        value = value[1:-1]
    result, escapes = "", {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "s": " ", '"': '"', "\\": "\\"}
    letters = iter(value)
    for letter in letters:
        if letter == "\\":
            following = next(letters)
            result += escapes.get(following, "\\" + following)
        else:
            result += letter
    return result


@given(value=st.text(st.characters(min_codepoint=32, max_codepoint=1000, exclude_characters="\x7f")))
def test_any_printable_text_comes_back_as_it_was(value: str) -> None:
    assert server_reads(lines(init_connect=value)[0]) == value
