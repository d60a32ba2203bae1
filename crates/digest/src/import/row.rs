//! A row of `mysql.slow_log` as an entry of a slow log.
//!
//! Source: `scripts/mysql_system_tables.sql` of MySQL and MariaDB: the columns and their order, to which MySQL
//! 5.6 has added `thread_id` and MariaDB 10.1 `rows_affected`.

use crate::number::digits;

/// A column of a row; None for NULL.
pub type Field = Option<Vec<u8>>;

const NAMES: [&str; 13] = [
    "start_time",
    "user_host",
    "query_time",
    "lock_time",
    "rows_sent",
    "rows_examined",
    "db",
    "last_insert_id",
    "insert_id",
    "server_id",
    "sql_text",
    "thread_id",
    "rows_affected",
];

/// Commands of the protocol without a statement, of which the table has the bare name.
const COMMANDS: [&[u8]; 12] = [
    b"Quit",
    b"Init DB",
    b"Field List",
    b"Statistics",
    b"Processlist",
    b"Connect",
    b"Ping",
    b"Change user",
    b"Binlog Dump",
    b"Close stmt",
    b"Reset stmt",
    b"Reset Connection",
];

/// The places of the columns, in the order of their names; None for one that is not there.
#[derive(Clone, Debug)]
pub struct Columns([Option<usize>; NAMES.len()]);

impl Default for Columns {
    /// All of them, in the table's order.
    fn default() -> Self {
        Self(std::array::from_fn(Some))
    }
}

impl Columns {
    /// From a list of names; None where it has not those without which there is no entry.
    pub fn of_header(header: &[Field]) -> Option<Self> {
        let place = |name: &str| {
            let is_it = |field: &Field| {
                field.as_deref().is_some_and(|field| field.eq_ignore_ascii_case(name.as_bytes()))
            };
            header.iter().position(is_it)
        };
        let columns = Self(NAMES.map(place));
        let needed = ["start_time", "query_time", "sql_text"];
        needed.iter().all(|name| columns.place(name).is_some()).then_some(columns)
    }

    fn place(&self, name: &str) -> Option<usize> {
        NAMES.iter().position(|known| *known == name).and_then(|at| self.0[at])
    }

    /// As an entry; a row that has no time or no statement is none.
    pub fn push_row(&self, fields: &[Field], log: &mut Vec<u8>) {
        let field = |name: &str| fields.get(self.place(name)?)?.as_deref();
        let (Some(start), Some(took), Some(statement)) =
            (field("start_time"), field("query_time"), field("sql_text"))
        else {
            return;
        };
        let Some(took) = seconds(took) else { return };
        let statement = statement.trim_ascii();
        let statement = statement.strip_suffix(b";").unwrap_or(statement);
        if !start.first().is_some_and(u8::is_ascii_digit) || statement.is_empty() {
            return;
        }
        let mut push = |parts: &[&[u8]]| parts.iter().for_each(|part| log.extend_from_slice(part));
        push(&[b"# Time: ", start, b"\n"]);
        if let Some(user_host) = field("user_host") {
            push(&[b"# User@Host: ", user_host]);
            if let Some(id) = field("thread_id").filter(|id| id.iter().all(u8::is_ascii_digit)) {
                push(&[b"  Id: ", id]);
            }
            push(&[b"\n"]);
        }
        push(&[b"# Schema: ", field("db").unwrap_or_default(), b"\n"]);
        push(&[b"# Query_time: ", took.as_bytes()]);
        if let Some(locked) = field("lock_time").and_then(seconds) {
            push(&[b"  Lock_time: ", locked.as_bytes()]);
        }
        for (key, name) in [
            (&b"  Rows_sent: "[..], "rows_sent"),
            (b"  Rows_examined: ", "rows_examined"),
            (b"  Rows_affected: ", "rows_affected"),
        ] {
            if let Some(number) = field(name).filter(|number| !number.is_empty()) {
                push(&[key, number]);
            }
        }
        let command: &[u8] =
            if COMMANDS.contains(&statement) { b"# administrator command: " } else { b"" };
        push(&[b"\n", command, statement, b";\n"]);
    }
}

/// `00:00:02.000123` as `2.000123`.
fn seconds(text: &[u8]) -> Option<String> {
    let (hours, at) = digits(text, 0);
    let (minutes, second_at) = digits(text, at + 1);
    let (seconds, end) = digits(text, second_at + 1);
    let is_time = at > 0 && text.get(at) == Some(&b':') && text.get(second_at) == Some(&b':');
    let fraction = text.get(end..).unwrap_or_default();
    let fraction = std::str::from_utf8(fraction).ok()?;
    let is_fraction = fraction.is_empty()
        || fraction.strip_prefix('.')?.bytes().all(|byte| byte.is_ascii_digit());
    (is_time && is_fraction).then(|| format!("{}{fraction}", hours * 3600 + minutes * 60 + seconds))
}

/// Whether this is a row of `mysql -BN`: a time, who, two durations.
pub fn is_tabbed_row(line: &[u8]) -> bool {
    let fields: Vec<&[u8]> = line.split(|&byte| byte == b'\t').collect();
    fields.len() >= 11
        && fields[0].get(4) == Some(&b'-')
        && memchr::memmem::find(fields[1], b"] @ ").is_some()
        && seconds(fields[2]).is_some()
        && seconds(fields[3]).is_some()
}
