//! The words that are not names unless they are between backticks, and what a few of them mean to the lexer.
//!
//! Sources: the reserved words in the manuals of MySQL 9 and MariaDB 11, taken together, and the words that
//! the lexer itself looks at. Which of them an expression follows is decided by the grammar.

/// A sign behind it belongs to the number that follows.
pub const BEFORE_EXPRESSION: u8 = 1;
/// A null behind it is not a value: IS NULL, NOT NULL, ON DELETE SET NULL.
pub const KEEPS_NULL: u8 = 2;
/// A comment behind it that begins with /*+ is a hint for the optimizer.
pub const TAKES_HINTS: u8 = 4;
/// A bracket behind it holds a list whose length says nothing.
pub const TAKES_LIST: u8 = 8;
/// The same, and further brackets behind commas are more of it.
pub const TAKES_ROWS: u8 = 16;

/// A function or type: its brackets stand close behind it.
pub const CALLS: u8 = 32;

pub struct Keyword {
    word: &'static str,
    pub flags: u8,
}

const fn plain(word: &'static str) -> Keyword {
    Keyword { word, flags: 0 }
}

const fn with(word: &'static str, flags: u8) -> Keyword {
    Keyword { word, flags }
}

const MOST_BYTES: usize = 32;

static KEYWORDS: &[Keyword] = &[
    with("all", BEFORE_EXPRESSION),
    with("and", BEFORE_EXPRESSION),
    with("at", BEFORE_EXPRESSION),
    with("between", BEFORE_EXPRESSION),
    with("binary", BEFORE_EXPRESSION),
    with("by", BEFORE_EXPRESSION),
    with("case", BEFORE_EXPRESSION),
    with("default", BEFORE_EXPRESSION),
    with("delete", TAKES_HINTS),
    with("distinct", BEFORE_EXPRESSION),
    with("distinctrow", BEFORE_EXPRESSION),
    with("div", BEFORE_EXPRESSION),
    with("else", BEFORE_EXPRESSION),
    with("elseif", BEFORE_EXPRESSION),
    with("ends", BEFORE_EXPRESSION),
    with("every", BEFORE_EXPRESSION),
    with("having", BEFORE_EXPRESSION),
    with("if", BEFORE_EXPRESSION | CALLS),
    with("in", TAKES_LIST),
    with("insert", TAKES_HINTS | CALLS),
    with("interval", BEFORE_EXPRESSION),
    with("is", KEEPS_NULL),
    with("like", BEFORE_EXPRESSION),
    with("limit", BEFORE_EXPRESSION),
    with("mod", BEFORE_EXPRESSION | CALLS),
    with("not", BEFORE_EXPRESSION | KEEPS_NULL),
    with("on", BEFORE_EXPRESSION),
    with("or", BEFORE_EXPRESSION),
    with("regexp", BEFORE_EXPRESSION),
    with("replace", TAKES_HINTS | CALLS),
    with("return", BEFORE_EXPRESSION),
    with("rlike", BEFORE_EXPRESSION),
    with("select", BEFORE_EXPRESSION | TAKES_HINTS),
    with("set", KEEPS_NULL),
    with("starts", BEFORE_EXPRESSION),
    with("then", BEFORE_EXPRESSION),
    with("until", BEFORE_EXPRESSION),
    with("update", TAKES_HINTS),
    with("value", TAKES_LIST | TAKES_ROWS),
    with("values", TAKES_LIST | TAKES_ROWS),
    with("when", BEFORE_EXPRESSION),
    with("where", BEFORE_EXPRESSION),
    with("while", BEFORE_EXPRESSION),
    with("xor", BEFORE_EXPRESSION),
    plain("accessible"),
    plain("add"),
    plain("alter"),
    plain("analyze"),
    plain("as"),
    plain("asc"),
    plain("asensitive"),
    plain("before"),
    with("bigint", CALLS),
    with("blob", CALLS),
    plain("both"),
    plain("call"),
    plain("cascade"),
    plain("change"),
    with("char", CALLS),
    with("character", CALLS),
    plain("check"),
    plain("collate"),
    plain("column"),
    plain("condition"),
    plain("constraint"),
    plain("continue"),
    with("convert", CALLS),
    plain("create"),
    plain("cross"),
    with("cube", CALLS),
    with("cume_dist", CALLS),
    with("current_date", CALLS),
    with("current_role", CALLS),
    with("current_time", CALLS),
    with("current_timestamp", CALLS),
    with("current_user", CALLS),
    plain("cursor"),
    with("database", CALLS),
    plain("databases"),
    plain("day_hour"),
    plain("day_microsecond"),
    plain("day_minute"),
    plain("day_second"),
    with("dec", CALLS),
    with("decimal", CALLS),
    plain("declare"),
    plain("delayed"),
    plain("delete_domain_id"),
    with("dense_rank", CALLS),
    plain("desc"),
    plain("describe"),
    plain("deterministic"),
    plain("do_domain_ids"),
    with("double", CALLS),
    plain("drop"),
    plain("dual"),
    plain("each"),
    plain("empty"),
    plain("enclosed"),
    plain("escaped"),
    plain("except"),
    plain("exists"),
    plain("exit"),
    plain("explain"),
    plain("false"),
    plain("fetch"),
    with("first_value", CALLS),
    with("float", CALLS),
    with("float4", CALLS),
    with("float8", CALLS),
    plain("for"),
    plain("force"),
    plain("foreign"),
    plain("from"),
    plain("fulltext"),
    plain("function"),
    plain("general"),
    plain("generated"),
    plain("get"),
    plain("grant"),
    plain("group"),
    with("grouping", CALLS),
    plain("groups"),
    plain("high_priority"),
    plain("hour_microsecond"),
    plain("hour_minute"),
    plain("hour_second"),
    plain("ignore"),
    plain("ignore_domain_ids"),
    plain("ignore_server_ids"),
    plain("index"),
    plain("infile"),
    plain("inner"),
    plain("inout"),
    plain("insensitive"),
    with("int", CALLS),
    with("int1", CALLS),
    with("int2", CALLS),
    with("int3", CALLS),
    with("int4", CALLS),
    with("int8", CALLS),
    with("integer", CALLS),
    plain("intersect"),
    plain("into"),
    plain("io_after_gtids"),
    plain("io_before_gtids"),
    plain("iterate"),
    plain("join"),
    with("json_table", CALLS),
    plain("key"),
    plain("keys"),
    plain("kill"),
    with("lag", CALLS),
    with("last_value", CALLS),
    plain("lateral"),
    with("lead", CALLS),
    plain("leading"),
    plain("leave"),
    with("left", CALLS),
    plain("library"),
    plain("linear"),
    plain("lines"),
    plain("load"),
    with("localtime", CALLS),
    with("localtimestamp", CALLS),
    plain("lock"),
    plain("long"),
    with("longblob", CALLS),
    with("longtext", CALLS),
    plain("loop"),
    plain("low_priority"),
    plain("manual"),
    plain("master_bind"),
    plain("master_heartbeat_period"),
    plain("master_ssl_verify_server_cert"),
    plain("match"),
    plain("maxvalue"),
    with("mediumblob", CALLS),
    with("mediumint", CALLS),
    with("mediumtext", CALLS),
    with("middleint", CALLS),
    plain("minute_microsecond"),
    plain("minute_second"),
    plain("modifies"),
    plain("natural"),
    plain("no_write_to_binlog"),
    with("nth_value", CALLS),
    with("ntile", CALLS),
    plain("null"),
    with("numeric", CALLS),
    plain("of"),
    plain("offset"),
    plain("optimize"),
    plain("optimizer_costs"),
    plain("option"),
    plain("optionally"),
    plain("order"),
    plain("out"),
    plain("outer"),
    plain("outfile"),
    plain("over"),
    plain("page_checksum"),
    plain("parallel"),
    plain("parse_vcol_expr"),
    plain("partition"),
    with("percent_rank", CALLS),
    plain("period"),
    plain("portion"),
    with("precision", CALLS),
    plain("primary"),
    plain("procedure"),
    plain("purge"),
    plain("qualify"),
    plain("range"),
    with("rank", CALLS),
    plain("read"),
    plain("read_write"),
    plain("reads"),
    with("real", CALLS),
    plain("recursive"),
    plain("ref_system_id"),
    plain("references"),
    plain("release"),
    plain("rename"),
    with("repeat", CALLS),
    plain("require"),
    plain("resignal"),
    plain("restrict"),
    plain("returning"),
    plain("revoke"),
    with("right", CALLS),
    with("row", CALLS),
    with("row_number", CALLS),
    plain("rows"),
    with("schema", CALLS),
    plain("schemas"),
    plain("second_microsecond"),
    plain("sensitive"),
    plain("separator"),
    plain("show"),
    plain("signal"),
    plain("slow"),
    with("smallint", CALLS),
    plain("spatial"),
    plain("specific"),
    plain("sql"),
    plain("sql_big_result"),
    plain("sql_calc_found_rows"),
    plain("sql_small_result"),
    plain("sqlexception"),
    plain("sqlstate"),
    plain("sqlwarning"),
    plain("ssl"),
    plain("starting"),
    plain("stats_auto_recalc"),
    plain("stats_persistent"),
    plain("stats_sample_pages"),
    plain("stored"),
    plain("straight_join"),
    plain("system"),
    plain("system_time"),
    plain("tablesample"),
    plain("table"),
    plain("terminated"),
    with("tinyblob", CALLS),
    with("tinyint", CALLS),
    with("tinytext", CALLS),
    plain("to"),
    plain("to_date"),
    plain("trailing"),
    plain("trigger"),
    plain("true"),
    plain("undo"),
    plain("union"),
    plain("unique"),
    plain("unlock"),
    plain("unsigned"),
    plain("usage"),
    plain("use"),
    plain("using"),
    with("utc_date", CALLS),
    with("utc_time", CALLS),
    with("utc_timestamp", CALLS),
    with("varbinary", CALLS),
    with("varchar", CALLS),
    with("varcharacter", CALLS),
    with("varying", CALLS),
    plain("versioning"),
    plain("virtual"),
    plain("window"),
    plain("with"),
    plain("without"),
    plain("write"),
    plain("xmltype"),
    plain("year_month"),
    plain("zerofill"),
];

/// Slots that a word may be found in; the places in KEYWORDS from 1, 0 for none.
const SLOTS: usize = 2048;
static TABLE: [u16; SLOTS] = table();

const fn table() -> [u16; SLOTS] {
    let mut table = [0; SLOTS];
    let mut place = 0;
    while place < KEYWORDS.len() {
        let mut slot = slot(KEYWORDS[place].word.as_bytes());
        while table[slot] != 0 {
            slot = (slot + 1) % SLOTS;
        }
        place += 1;
        table[slot] = place as u16;
    }
    table
}

/// Where a word's slots begin, whatever its case.
#[inline]
const fn slot(word: &[u8]) -> usize {
    // Bit 0x20 is what distinguishes the cases of a letter.
    let first = (word[0] | 0x20) as usize;
    let middle = (word[word.len() / 2] | 0x20) as usize;
    let last = (word[word.len() - 1] | 0x20) as usize;
    (first * 29 + middle * 269 + last * 3 + word.len() * 131) % SLOTS
}

/// The keyword that a word without quotes is, whatever its case.
pub fn find(word: &[u8]) -> Option<&'static Keyword> {
    if word.is_empty() || word.len() > MOST_BYTES {
        return None;
    }
    let mut slot = slot(word);
    loop {
        let keyword = &KEYWORDS[usize::from(TABLE[slot]).checked_sub(1)?];
        if keyword.word.as_bytes().eq_ignore_ascii_case(word) {
            return Some(keyword);
        }
        slot = (slot + 1) % SLOTS;
    }
}

/// What a word is to the lexer; 0 for a name.
#[inline]
pub fn flags(word: &[u8]) -> u8 {
    find(word).map_or(0, |keyword| keyword.flags)
}

/// What performance_schema writes between brackets for every introducer.
pub const ANY_CHARSET: &[u8] = b"_charset";

/// `_utf8mb4` and its like in front of a string. Source: SHOW CHARACTER SET of MySQL 5.6 to 9 and MariaDB.
pub fn is_introducer(word: &[u8]) -> bool {
    const CHARSETS: [&str; 42] = [
        "armscii8", "ascii", "big5", "binary", "cp1250", "cp1251", "cp1256", "cp1257", "cp850",
        "cp852", "cp866", "cp932", "dec8", "eucjpms", "euckr", "filename", "gb18030", "gb2312",
        "gbk", "geostd8", "greek", "hebrew", "hp8", "keybcs2", "koi8r", "koi8u", "latin1",
        "latin2", "latin5", "latin7", "macce", "macroman", "sjis", "swe7", "tis620", "ucs2",
        "ujis", "utf16", "utf16le", "utf32", "utf8", "utf8mb3",
    ];
    let Some((b'_', name)) = word.split_first() else { return false };
    name.eq_ignore_ascii_case(b"utf8mb4")
        || word.eq_ignore_ascii_case(ANY_CHARSET)
        || CHARSETS.iter().any(|charset| charset.as_bytes().eq_ignore_ascii_case(name))
}
