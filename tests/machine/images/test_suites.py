import pytest

from mydyno.core.errors import UsageError
from mydyno.machine.images.suites import Source, rewritten, suite_of_kernel

MIRROR = "http://mirror.example/debian/"
SECURITY = "http://mirror.example/debian-security/"
OWN = [
    f"{MIRROR}\tbookworm\tbookworm\tDebian\tmain",
    f"{MIRROR}\tbookworm\tbookworm\tDebian\tnon-free-firmware",
    f"{MIRROR}\tbookworm-updates\tbookworm-updates\tDebian\tmain",
    f"{SECURITY}\tbookworm-security\tbookworm-security\tDebian\tmain",
    "https://other.example/repository/\tbookworm\tbookworm\tSomebody Else\tmain",
    f"{MIRROR}\tbookworm-backports\tbookworm-backports\tDebian\tmain",
]


def test_another_suite_is_reached_where_this_machines_own_is() -> None:
    assert rewritten(OWN, "bookworm", "trixie") == (
        Source(MIRROR, "trixie", ("main", "non-free-firmware")),
        Source(MIRROR, "trixie-updates", ("main",)),
        Source(SECURITY, "trixie-security", ("main",)),
    )


def test_sid_has_neither_updates_nor_security() -> None:
    assert [source.suite for source in rewritten(OWN, "bookworm", "sid")] == ["sid"]


def test_sources_that_name_stable_instead_of_the_suite_are_known_by_their_codename() -> None:
    assert rewritten([f"{MIRROR}\tstable\tbookworm\tDebian\tmain"], "bookworm", "bullseye") == (
        Source(MIRROR, "bullseye", ("main",)),
    )


def test_sources_count_before_their_lists_were_ever_fetched() -> None:
    line = f"{MIRROR}\tbookworm\t$(CODENAME)\t$(ORIGIN)\tmain"
    assert rewritten([line], "bookworm", "bookworm") == (Source(MIRROR, "bookworm", ("main",)),)


def test_a_password_in_an_address_is_used_and_never_shown() -> None:
    source = Source("https://user:secret@mirror.example/debian", "bookworm", ("main",))
    assert "user:secret@" in source.line(None)
    assert source.shown() == "https://mirror.example/debian bookworm main"


def test_every_kernel_has_a_suite() -> None:
    assert [suite_of_kernel(version) for version in ("5.10", "6.1", "6.12", "7.2")] == [
        *("bullseye", "bookworm", "trixie", "sid")
    ]


@pytest.mark.parametrize("version", ["6", "6.1.2", "linux", "6.x", ""])
def test_what_is_not_a_kernel_version_is_refused(version: str) -> None:
    with pytest.raises(UsageError, match="not a kernel version"):
        suite_of_kernel(version)
