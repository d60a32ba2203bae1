"""Which statements are explained at all, by their texts: pure.

EXPLAIN runs parts of a statement while it plans (tried: derived tables of one row, subqueries on constant
tables; MySQL 5.6 to 9.7, MariaDB 10.5 to 11.8). So a statement that waits, locks, reads a file, or calls a
stored function is not explained at all.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from mydyno.core.words import words
from mydyno.queries.fingerprints import Fingerprint
from mydyno.queries.records import Example

_READING = ("select", "with")
_CHANGING = ("update", "delete", "insert", "replace")
_LOCKING_END = re.compile(
    r"\s(?:for\s+(?:update|share)|lock\s+in\s+share\s+mode)(?:\s+(?:nowait|skip\s+locked|wait\s+\d+))?[\s;]*\Z",
    re.IGNORECASE,
)
_LOCKING = re.compile(r"\b(?:for update|for share|in share mode)\b")
_INTO = re.compile(r"\binto (?:outfile|dumpfile|@|[\w`]+(?: ,|$| from))")
_OWN_LIMIT = re.compile(r"/\*\+.*\b(?:max_execution_time|set_var)\b")
_VERSION_COMMENT = re.compile(r"/\*M?!")
_ROWS = re.compile(r"(?<![=,+*/<>-] )\bvalues? ?(?:row ?)?\(")
"""Rows of values, of which a fingerprint shows the first; behind an operator it is the function VALUES()."""
_WORD = re.compile(r"`((?:[^`]|``)+)`|([\w$]+)")
HARMLESS = words(
    """
abs acos adddate addtime aes_decrypt aes_encrypt any_value ascii asin atan atan2 avg bin bin_to_uuid bit_and
bit_count bit_length bit_or bit_xor cast ceil ceiling char char_length character_length charset chr coalesce
coercibility collation compress concat concat_ws connection_id conv convert convert_tz cos cot count crc32
cume_dist curdate current_date current_role current_time current_timestamp current_user curtime database
date date_add date_format date_sub datediff day dayname dayofmonth dayofweek dayofyear default degrees
dense_rank elt exp export_set extract extractvalue field find_in_set first_value floor format format_bytes
format_pico_time found_rows from_base64 from_days from_unixtime get_format greatest group_concat grouping
hex hour if ifnull inet6_aton inet6_ntoa inet_aton inet_ntoa insert instr interval is_ipv4 is_ipv4_compat
is_ipv4_mapped is_ipv6 is_uuid isnull json_array json_array_append json_array_insert json_arrayagg
json_compact json_contains json_contains_path json_depth json_detailed json_equals json_exists json_extract
json_insert json_keys json_length json_loose json_merge json_merge_patch json_merge_preserve json_normalize
json_object json_objectagg json_overlaps json_pretty json_query json_quote json_remove json_replace
json_schema_valid json_search json_set json_storage_size json_table json_type json_unquote json_valid
json_value lag last_day last_insert_id last_value lcase lead least left length ln localtime localtimestamp
locate log log10 log2 lower lpad ltrim make_set makedate maketime match max md5 median microsecond mid min
minute mod month monthname natural_sort_key now nth_value ntile nullif oct octet_length ord percent_rank
percentile_cont percentile_disc period_add period_diff pi point polygon position pow power quarter quote
radians rand random_bytes rank regexp_instr regexp_like regexp_replace regexp_substr repeat replace reverse
right round row row_count row_number rpad rtrim schema sec_to_time second session_user sha sha1 sha2 sign
sin soundex space sqrt st_area st_asgeojson st_astext st_aswkb st_contains st_distance st_distance_sphere
st_geomfromgeojson st_geomfromtext st_geomfromwkb st_intersects st_latitude st_longitude st_makeenvelope
st_point st_srid st_within st_x st_y std stddev stddev_pop stddev_samp str_to_date strcmp subdate substr
substring substring_index subtime sum sysdate system_user tan time time_format time_to_sec timediff
timestamp timestampadd timestampdiff to_base64 to_char to_days to_seconds trim truncate ucase uncompress
uncompressed_length unhex unix_timestamp updatexml upper user utc_date utc_time utc_timestamp uuid
uuid_short uuid_to_bin validate_password_strength values var_pop var_samp variance version week weekday
weekofyear weight_string year yearweek
"""
)
"""Functions that only compute. Sources: MySQL Reference Manual, "Built-In Function and Operator Reference";
MariaDB documentation, "Function and Operator Reference". Not here, for what they do: SLEEP, BENCHMARK,
GET_LOCK, RELEASE_LOCK, LOAD_FILE, MASTER_POS_WAIT, WAIT_FOR_EXECUTED_GTID_SET, NEXTVAL, SETVAL."""
_GRAMMAR = words(
    """
against all and any as asc between binary by case datetime decimal delete desc distinct distinctrow div
double else end except exists float for force from having ignore in index inner intersect into is join key
lateral like limit mod nchar not of offset on or order over partition regexp returning rlike rollup select
separator set signed some straight_join then union unsigned use using value varchar where when with xor
"""
)
"""Words that a bracket follows without a call."""

_CALL = re.compile(r"(?P<dot>\. ?)?(?P<name>`(?:[^`]|``)*`|[\w$]+) ?\(")
_TARGET = re.compile(r"^(?:insert|replace)\b.*? into (?:[^ (]+)(?= ?\()")
"""The table of `insert into shop.t(a, b)`, which looks like a call."""


@dataclass(frozen=True)
class Explainable:
    """A statement that EXPLAIN may be put in front of."""

    text: str
    changes: bool
    """Whether it writes when it is run, so that a read-only transaction refuses even to explain it."""
    words: frozenset[str]
    """Every word in it that could name something, in small letters."""


def without_locks(text: str) -> str:
    """The same statement without FOR UPDATE at its end: the plan is the same, and no row is locked for it."""
    return _LOCKING_END.sub("", text)


def explainable(example: Example | None, fingerprint: Fingerprint) -> Explainable | str:
    """The statement to explain, or why none is. `fingerprint` is that of the example `without_locks`."""
    if example is None:
        return "the server has no example of it"
    if example.is_cut:
        return "its example is truncated"
    if fingerprint.is_cut:
        return "it is too long to be checked"
    text, shape = without_locks(example.text), fingerprint.text
    if fingerprint.example != text:
        return "its example has a secret in it, which is masked"
    verb = shape.lstrip("( ").partition(" ")[0]
    if verb not in (*_READING, *_CHANGING):
        return "EXPLAIN is for SELECT, UPDATE, DELETE, INSERT ... SELECT and REPLACE ... SELECT"
    if why := _unsafe(text, shape):
        return why
    if verb in ("insert", "replace") and not re.search(r"\bselect\b", shape):
        return "it inserts values and reads nothing"
    if _ROWS.search(shape):
        return "it lists rows of values, and only the first of them is checked"
    words = frozenset((quoted.replace("``", "`") or plain).lower() for quoted, plain in _WORD.findall(shape))
    return Explainable(text, verb in _CHANGING, words)


def _unsafe(text: str, shape: str) -> str | None:
    if ";" in shape.rstrip("; "):
        return "it is several statements"
    if _VERSION_COMMENT.search(text):
        return "it has a version comment, which only some releases execute"
    if _OWN_LIMIT.search(shape):
        return "it sets variables or its own time limit"
    if _LOCKING.search(shape):
        return "it locks rows"
    if shape.startswith(("select", "(", "with")) and _INTO.search(shape):
        return "it writes its result somewhere"
    if re.search(r"\b(?:next|previous) value for\b", shape):
        return "it takes values of a sequence"
    if re.search(r"\bprocedure\b", shape):
        return "it calls a procedure"
    calls = sorted(set(doubtful_calls(shape)))
    if calls:
        names = ", ".join(f"{name}()" for name in calls)
        return f"it calls {names}, and EXPLAIN may run parts of a statement"
    return None


def doubtful_calls(fingerprint: str) -> Iterator[str]:
    """What a statement calls that is not known to be harmless, by its fingerprint."""
    for call in _CALL.finditer(_TARGET.sub("", fingerprint)):
        name = call["name"]
        # A name that needs its backticks is a reserved word, and so no function of the server's.
        if call["dot"] or name.startswith("`") or name.lower() not in HARMLESS | _GRAMMAR:
            yield name.strip("`").lower()
