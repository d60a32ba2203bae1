//! Words behind which a bracket is no call of a function that somebody has made: keywords, types, and the
//! servers' own functions without effect beyond the session (manuals of MySQL 9 and MariaDB, "Functions and
//! Operators"). What is missing here is only taken for a function of unknown effect.

/// Keywords and types.
const WORDS: &str = "
    against all and any array as asc between binary bit by case char character collate column columns convert
    date datetime dec decimal desc distinct distinctrow div double else end escape except exists fixed float for
    force from group having if ignore in index int integer intersect interval into is join json key lateral
    like limit match minus mod nchar nested not numeric nvarchar offset on or order over partition path
    real regexp repeat replace returning rlike rollup row rows select separator set signed some straight_join
    table then time timestamp union unsigned use using value values varbinary varchar varying when where
    window with within xor year";

/// The servers' own functions.
const FUNCTIONS: &str = "
    abs acos adddate addtime aes_decrypt aes_encrypt any_value ascii asin atan atan2 avg bin bin_to_uuid
    bit_and bit_count bit_length bit_or bit_xor cast ceil ceiling char_length character_length charset chr
    coalesce coercibility compress concat concat_ws connection_id conv convert_tz cos cot count crc32 crc32c
    cume_dist curdate current_date current_role current_time current_timestamp current_user curtime database
    date_add date_format date_sub datediff day dayname dayofmonth dayofweek dayofyear decode
    default degrees dense_rank des_decrypt des_encrypt elt encode encrypt exp export_set extract extractvalue field
    find_in_set first_value floor format format_bytes format_pico_time found_rows from_base64 from_days
    from_unixtime geomcollection geometrycollection get_format greatest group_concat grouping hex hour ifnull
    inet6_aton inet6_ntoa inet_aton inet_ntoa insert instr is_ipv4 is_ipv4_compat is_ipv4_mapped is_ipv6
    is_uuid isnull json_array json_array_append json_array_insert json_arrayagg json_compact json_contains
    json_contains_path json_depth json_detailed json_equals json_exists json_extract json_insert json_keys
    json_length json_loose json_merge json_merge_patch json_merge_preserve json_normalize json_object
    json_objectagg json_overlaps json_pretty json_query json_quote json_remove json_replace json_schema_valid
    json_search json_set json_storage_size json_table json_type json_unquote json_valid json_value lag
    last_day last_insert_id last_value lcase lead least left length lengthb linestring ln localtime localtimestamp
    locate log log10 log2 lower lpad ltrim make_set makedate maketime max md5 median microsecond mid min
    minute month monthname multilinestring multipoint multipolygon name_const now nth_value ntile nullif nvl nvl2
    oct octet_length ord percent_rank percentile_cont percentile_disc period_add period_diff pi point polygon
    position pow power quarter quote radians rand random_bytes rank regexp_instr regexp_like regexp_replace
    regexp_substr reverse right round row_count row_number rpad rtrim schema sec_to_time second session_user
    sha sha1 sha2 sign sin sleep soundex space sqrt st_area st_asbinary st_asgeojson st_astext st_aswkb st_aswkt
    st_buffer st_centroid st_contains st_crosses st_difference st_dimension st_disjoint st_distance
    st_distance_sphere st_endpoint st_envelope st_equals st_exteriorring st_geohash st_geometryn
    st_geometrytype st_geomfromgeojson st_geomfromtext st_geomfromwkb st_intersection st_intersects st_isclosed
    st_isempty st_issimple st_isvalid st_latitude st_length st_linefromtext st_longitude st_makeenvelope
    st_numgeometries st_numpoints st_overlaps st_pointfromtext st_pointn st_polyfromtext st_simplify st_srid
    st_startpoint st_symdifference st_touches st_transform st_union st_within st_x st_y std stddev stddev_pop
    stddev_samp str_to_date strcmp subdate substr substring substring_index subtime sum sysdate system_user tan
    time_format time_to_sec timediff timestampadd timestampdiff to_base64 to_char to_days to_number to_seconds
    trim truncate ucase uncompress uncompressed_length unhex unix_timestamp updatexml upper user utc_date
    utc_time utc_timestamp uuid uuid_short uuid_to_bin validate_password_strength var_pop var_samp variance
    version week weekday weekofyear weight_string yearweek";

/// Whether a word in lower case may stand in front of a bracket.
pub fn is_known(word: &[u8]) -> bool {
    thread_local! {
        static KNOWN: std::collections::HashSet<&'static [u8]> =
            WORDS.split_whitespace().chain(FUNCTIONS.split_whitespace()).map(str::as_bytes).collect();
    }
    KNOWN.with(|known| known.contains(word))
}
