"""Built-in functions that only compute: what a statement may call and still be explained.

EXPLAIN runs parts of a statement while it plans (tried: derived tables of one row, subqueries on constant
tables; MySQL 5.6 to 9.7, MariaDB 10.5 to 11.8). So a statement that waits, locks, reads a file, or calls a
stored function is not explained at all. Sources: MySQL Reference Manual, "Built-In Function and Operator
Reference"; MariaDB documentation, "Function and Operator Reference". Not here, for what they do: SLEEP,
BENCHMARK, GET_LOCK, RELEASE_LOCK, LOAD_FILE, MASTER_POS_WAIT, WAIT_FOR_EXECUTED_GTID_SET, NEXTVAL, SETVAL.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from mydyno.core.words import words

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


def doubtful_calls(fingerprint: str) -> Iterator[str]:
    """What a statement calls that is not known to be harmless, by its fingerprint."""
    for call in _CALL.finditer(_TARGET.sub("", fingerprint)):
        name = call["name"]
        # A name that needs its backticks is a reserved word, and so no function of the server's.
        if call["dot"] or name.startswith("`") or name.lower() not in HARMLESS | _GRAMMAR:
            yield name.strip("`").lower()
