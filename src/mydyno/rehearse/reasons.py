"""Why a statement fails, or returns something else, where its number or its text shows it.

Sources: MySQL Server Error Message Reference; MariaDB Error Code Reference; MySQL Reference Manual, "Keywords
and Reserved Words" and "What Is New"; MariaDB documentation, "Reserved Words".
"""

import re

from mydyno.core.words import words

_STRICT = "sql_mode has STRICT_TRANS_TABLES, by default since MySQL 5.7 and MariaDB 10.2"
_GROUPING = "sql_mode has ONLY_FULL_GROUP_BY, by default since MySQL 5.7"
_COLLATION = "the default collation differs between the releases (utf8mb4_0900_ai_ci, utf8mb4_uca1400_ai_ci)"
_REASONS = {
    **dict.fromkeys((1055, 3065, 1140), _GROUPING),
    **dict.fromkeys((1364, 1366, 1406, 1264, 1292, 1411, 1365), _STRICT),
    **dict.fromkeys((1253, 1267, 1270, 1271, 1273), _COLLATION),
    1067: "sql_mode has NO_ZERO_DATE or NO_ZERO_IN_DATE: an invalid default value",
    1193: "the variable was removed, or is of another family",
    1231: "the variable does not take this value any more",
    1238: "the variable is read-only in this release",
    1286: "the release does not have the storage engine",
    1305: "the function or procedure does not exist in this release",
    1582: "the function takes other arguments in this release",
    1136: "the table has other columns on this side",
    1146: "the table is not in the data",
    1049: "the schema is not in the data",
    1054: "the column is not in the data, or a quoted text is taken for a name (ANSI_QUOTES)",
    1205: "it waited for a lock: its order with other connections, not the release",
    1213: "a deadlock: its order with other connections, not the release",
    1227: "the account lacks a right that this release wants",
}
RESERVED = words(
    """
cube cume_dist dense_rank empty except first_value function generated grouping groups intersect
json_table lag last_value lateral lead manual nth_value ntile of offset optimizer_costs over parallel
percent_rank qualify rank recursive returning row row_number rows rownum stored system tablesample
virtual window without
"""
)
"""Words that were names before and are reserved in MySQL since 5.7 or later, or in MariaDB since 10.2 or
later."""
_NEAR = re.compile(r"near '([^']*)")
_WORD = re.compile(r"[a-z_]+", re.IGNORECASE)
_SERVER = re.compile(
    r"@@|\b(?:version|connection_id|uuid|uuid_short|now|rand|sysdate|curdate|curtime|current_timestamp"
    r"|current_date|current_time|localtime|localtimestamp|unix_timestamp ?\( ?\)|utc_timestamp"
    r"|utc_date|utc_time|last_insert_id|row_count|found_rows|sleep|benchmark|random_bytes)\b ?\(?"
    r"|\b(?:information_schema|performance_schema|mysql|sys) ?\.|^(?:show|explain|describe|desc|analyze|check"
    r"|checksum|optimize|repair)\b",
    re.IGNORECASE,
)


def reason(number: int, message: str, statement: str) -> str | None:
    """What the error `number` comes from; None: it does not show it."""
    if number != 1064:
        return _REASONS.get(number)
    near = _NEAR.search(message)
    word = _WORD.search(near[1]) if near else None
    if word and word[0].lower() in RESERVED:
        return f"{word[0].upper()} is a reserved word in this release: quote the name in backticks"
    reserved = sorted({each.lower() for each in _WORD.findall(statement)} & RESERVED)
    if reserved:
        return f"perhaps a reserved word of this release ({', '.join(reserved)}): quote names in backticks"
    return "the syntax was removed, or is of the other family"


def depends_on_the_server(statement: str) -> str | None:
    """Why two correct servers may answer a statement differently at different times."""
    match = _SERVER.search(statement)
    return None if match is None else f"{match[0].rstrip('( ')} depends on the server or the time"


def undetermined(statement: str) -> str | None:
    """Whether the statement leaves it to the server which rows it takes."""
    text = statement.lower()
    if re.search(r"\blimit\b", text) and "order by" not in text:
        return "LIMIT without ORDER BY: any of the rows is right"
    if "group_concat" in text and "order by" not in text:
        return "GROUP_CONCAT without ORDER BY: any order is right"
    return None
