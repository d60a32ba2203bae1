import pytest

from mydyno.server.program.errorlog import hint, telling_lines

STAMP = "2026-01-01 12:00:00 0"

PORT_TAKEN = f"""\
{STAMP} [Note] Starting MariaDB 10.11.19-MariaDB-0+deb12u1
{STAMP} [ERROR] Can't start server: Bind on TCP/IP port. Got error: 98: Address already in use
{STAMP} [ERROR] Do you already have another server running on port: 3306 ?
{STAMP} [ERROR] Aborting
{STAMP} [Note] InnoDB: FTS optimize thread exiting.
"""


def test_the_lines_about_errors_are_quoted_and_the_chatter_is_not() -> None:
    assert telling_lines(PORT_TAKEN) == tuple(PORT_TAKEN.splitlines()[1:4])


def test_without_a_line_about_an_error_the_last_lines_are_quoted() -> None:
    chatter = "".join(f"{STAMP} [Note] line {number}\n" for number in range(20))
    assert telling_lines(chatter) == tuple(chatter.splitlines()[-5:])
    assert telling_lines("") == ()


@pytest.mark.parametrize(
    ("line", "advice"),
    [
        ("Can't start server: Bind on TCP/IP port. Got error: 98: Address already in use", "choose another"),
        ("InnoDB: Cannot allocate memory for the buffer pool", "innodb_buffer_pool_size"),
        ("/usr/sbin/mariadbd: unknown variable 'foo=1'", "correct it"),
        ("Unknown suffix 'q' used for variable 'max_connections' (value '4q')", "correct it"),
        ("/usr/sbin/mariadbd: Error while setting value 'x' to 'innodb_flush_method'", "correct it"),
        (
            "mariadbd: Can't create/write to file './aria_log_control' (Errcode: 13 \"Permission denied\")",
            "lab",
        ),
        ("InnoDB: Error number 28 means 'No space left on device'", "disk is full"),
        ("InnoDB: Unable to lock ./ibdata1 error: 11", "mydyno cleanup"),
        ("InnoDB: Upgrade after a crash is not supported.", "another release"),
    ],
)
def test_known_failures_come_with_the_way_out(line: str, advice: str) -> None:
    assert advice in str(hint(f"{STAMP} [ERROR] {line}\n{STAMP} [ERROR] Aborting\n"))


def test_a_complaint_before_the_log_has_its_form_is_a_complaint_too() -> None:
    complaint = "mariadbd: Character set 'xx' is not a compiled character set"
    log = f"{STAMP} [Warning] Could not increase a limit\n{complaint}\n{STAMP} [ERROR] Aborting\n"
    assert telling_lines(log)[0] == complaint
    assert "correct it" in str(hint(log))


def test_the_cause_is_quoted_though_many_consequences_follow() -> None:
    log = "".join(f"{STAMP} [ERROR] number {number}\n" for number in range(50))
    assert telling_lines(log)[0] == f"{STAMP} [ERROR] number 0"
    assert len(telling_lines(log)) == 5


def test_an_unknown_failure_comes_without_a_guess() -> None:
    assert hint(f"{STAMP} [ERROR] the moon is in the wrong phase\n") is None
