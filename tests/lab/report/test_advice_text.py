"""The page that a DBA reads: what was found, with its arithmetic, and every line to set."""

from advisor.builders import GIB, MARIADB, host, server, system

from mydyno.advisor import advise
from mydyno.advisor.report.advice_text import advice_lines
from mydyno.page.lines import plain
from mydyno.survey.facts import Memory, System, Unread

NOW = "2026-11-21T12:00:00Z"


def page(the_system: System, width: int = 100, everything: bool = False, file: str | None = None) -> str:
    return plain(advice_lines(advise(the_system, NOW), the_system, width, everything, file))


def full() -> System:
    """A server whose connections are used up, on a machine that swaps."""
    return system(
        server(
            MARIADB,
            {
                "max_connections": "151",
                "innodb_buffer_pool_size": str(GIB),
                "sort_buffer_size": str(64 << 20),
            },
            {"Max_used_connections": 151},
        ),
        host(
            memory_facts=Memory(total=16 * GIB, available=8 * GIB, swap_total=GIB),
            sysctls={"vm.swappiness": "60"},
        ),
        unread=(Unread(what="the limits of the server's process", why="permission denied", hint="sudo"),),
    )


def test_it_says_what_was_read() -> None:
    assert page(full()).startswith(
        "MariaDB 10.11.19 at /run/mysqld/mysqld.sock, read 2026-11-21 00:00 UTC\n"
        "16G of memory, 4 CPUs, Linux 6.1.0\n"
        "up for 10 days, counters watched for 60 s"
    )


def test_a_finding_has_its_arithmetic_and_its_lines_with_sizes_as_people_write_them() -> None:
    text = page(full())
    assert "151 x 1.5 headroom = 230" in text
    assert "max_connections = 230 (now 151)" in text
    assert "sort_buffer_size = 4M (now 64M)" in text


def test_every_line_to_set_is_shown_once_more_as_it_stands_in_its_file() -> None:
    lines = page(full()).partition("All changes, as lines of files")[2]
    assert "  [mysqld]\n" in lines
    assert "  max_connections = 230" in lines
    assert "  sysctl.d: vm.swappiness = 1\n" in lines


def test_the_memory_budget_is_shown_once_and_not_in_every_finding() -> None:
    text = page(full())
    assert text.count("for the server\n") == 1
    assert "\nMemory with all changes made\n  memory: 16G\n" in text


def test_what_was_not_read_comes_with_a_hint() -> None:
    assert "  the limits of the server's process: permission denied (hint: sudo)\n" in page(full())


def test_it_names_what_is_withheld_and_for_want_of_what() -> None:
    def withheld(everything: bool) -> str:
        text = page(full(), width=200, everything=everything)
        return text.partition("\nWithheld for lack of\n")[2].partition("\n\n")[0]

    assert "  the size of InnoDB's tables: whether more than 1G is of use: buffer-pool-size" in withheld(True)
    assert withheld(False).splitlines()[0].startswith("  the disks under the server's files: ")
    assert withheld(False).splitlines()[-1].endswith(" more rules: see --all")


def test_the_rights_that_an_account_lacks_are_one_statement() -> None:
    account = "'monitor'@'%'"
    unread = (
        Unread(what="tables of others", why="...", hint=f"GRANT SELECT ON *.* TO {account}"),
        Unread(what="InnoDB's own report", why="...", hint=f"GRANT PROCESS ON *.* TO {account}"),
        Unread(what="the accounts", why="...", hint=f"GRANT SELECT ON mysql.user TO {account}"),
        Unread(what="the limits", why="permission denied", hint="sudo"),
    )
    rights = page(system(unread=unread), width=200).partition("\nMissing privileges of the account\n")[2]
    assert rights.splitlines()[0] == (
        "  GRANT PROCESS, SELECT ON *.* TO 'monitor'@'%';"
        " -- adds tables of others, InnoDB's own report, the accounts"
    )
    assert "Missing privileges of the account" not in page(full())


def test_it_says_what_to_do_next_with_the_file_that_was_written() -> None:
    assert "mydyno apply my.json --dry-run" in page(full(), file="my.json")
    assert "mydyno advise ... --out advice.json" in page(full())


def test_all_reports_every_rule() -> None:
    from mydyno.advisor import RULES

    text = page(full(), everything=True)
    assert [rule.id for rule in RULES if rule.id not in text] == []


def test_no_line_is_wider_than_the_terminal_but_for_a_path_that_is_not_torn() -> None:
    lines = page(full(), width=80, everything=True).splitlines()
    assert [line for line in lines if len(line) > 80 and len(line.split()[-1]) < 40] == []


def test_without_a_host_it_says_so() -> None:
    alone = full().model_copy(update={"host": None})
    assert "its host was not read" in page(alone)
