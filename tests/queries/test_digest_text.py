"""Digest texts as MySQL 5.6 and 9.7 and MariaDB 11.8 were seen to write them, as statements again."""

import pytest

from mydyno.queries.statement_groups import as_statement, is_cut


@pytest.mark.parametrize(
    ("digest_text", "statement"),
    [
        ("SELECT ?, ... ", "SELECT ?, ?"),
        ("SELECT `a` FROM `t` WHERE `a` IN (...)", "SELECT `a` FROM `t` WHERE `a` IN (?, ?)"),
        ("SELECT `a` FROM `t` WHERE `a` IN (?) ", "SELECT `a` FROM `t` WHERE `a` IN (?)"),
        ("INSERT INTO `t` VALUES (...) /* , ... */", "INSERT INTO `t` VALUES (?, ?), (?, ?)"),
        ("SELECT (?) /* , ... */", "SELECT (?), (?)"),
        ("SELECT `concat` ( `a` , ?, ... )", "SELECT `concat` ( `a` , ?, ? )"),
        ("SELECT (_charset) ?", "SELECT ?"),
        ("SELECT (unknown) ", "SELECT ?"),
        ("SELECT @@GLOBAL . `sort_buffer_size`", "SELECT @@GLOBAL . `sort_buffer_size`"),
        ("SELECT COUNT ( DISTINCTROW `a` )", "SELECT COUNT ( distinct `a` )"),
        ("SELECT NOW ( ) - INTERVAL ? SQL_TSI_DAY", "SELECT NOW ( ) - INTERVAL ? day"),
        ("SHOW FULL FIELDS FROM `t`", "SHOW FULL columns FROM `t`"),
        ("LOAD DATA INFILE ? INTO TABLE `t` FIELDS TERMINATED BY ?",) * 2,
        ("SELECT `odd ?, ... name`", "SELECT `odd ?, ... name`"),
    ],
)
def test_a_digest_text_becomes_a_statement_that_has_this_digest(digest_text: str, statement: str) -> None:
    assert as_statement(digest_text) == statement


def test_a_text_that_has_no_room_for_another_name_is_taken_for_cut() -> None:
    # So MySQL 9.7 and MariaDB 11.8 cut a statement of 400 columns, with nothing to show for it.
    kept = "SELECT " + " , ".join(f"? AS `col_{number}`" for number in range(64)) + " , ? AS"
    assert is_cut(kept, 1024)
    assert not is_cut(kept, 2048)
    assert not is_cut("SELECT `a` FROM `t`", 1024)
