"""File systems are told of the stripes below them."""

from __future__ import annotations

import pytest

from mydyno.lab.spec.arrays import Alignment, Stripe, alignment, mkfs_words

_STRIPE = Stripe(64 * 1024, 3)


def test_xfs_is_given_the_chunk_and_the_number_of_data_disks() -> None:
    assert alignment("xfs", _STRIPE, ()) == Alignment(("-d", "su=65536,sw=3"), "su=65536,sw=3")


def test_ext_counts_in_blocks() -> None:
    for filesystem in ("ext2", "ext3", "ext4"):
        found = alignment(filesystem, _STRIPE, ())
        assert found == Alignment(("-E", "stride=16,stripe_width=48"), "stride=16,stripe_width=48")
    found = alignment("ext4", _STRIPE, ("-b", "1024"))
    assert found is not None
    assert found.shown == "stride=64,stripe_width=192"


@pytest.mark.parametrize("filesystem", ["btrfs", "jfs", "reiserfs", "f2fs", "raw"])
def test_the_others_get_nothing(filesystem: str) -> None:
    assert alignment(filesystem, _STRIPE, ()) is None


def test_without_stripes_there_is_nothing_to_report() -> None:
    assert alignment("xfs", None, ()) is None


@pytest.mark.parametrize(
    ("filesystem", "words"),
    [
        ("xfs", ("-d", "agcount=4,sunit=128,swidth=512")),
        ("xfs", ("-dsu=64k,sw=2",)),
        ("xfs", ("-d", "noalign")),
        ("ext4", ("-E", "stride=4")),
        ("ext4", ("-E", "lazy_itable_init=1,stripe-width=8")),
    ],
)
def test_what_the_user_says_of_stripes_stands(filesystem: str, words: tuple[str, ...]) -> None:
    assert alignment(filesystem, _STRIPE, words) is None


def test_other_options_of_the_user_do_not_hinder_the_alignment() -> None:
    assert alignment("xfs", _STRIPE, ("-d", "agcount=4", "-i", "size=1024")) is not None


def test_an_option_and_its_value_may_be_one_text_or_two() -> None:
    assert mkfs_words(["-i size=1024", "-L", "'two words'"]) == ("-i", "size=1024", "-L", "two words")
    with pytest.raises(ValueError, match="closing quotation"):
        mkfs_words(["-L 'open"])
