//! Texts that are not a slow log, by what their lines look like.

use memchr::memmem;

pub const GENERAL_LOG: &str = "a general log: it has every statement, but no times. \
    The slow log has them: `mydyno slowlog` turns it on for a while";

/// What a text with this beginning is, and what reads it.
pub fn named(head: &[u8]) -> Option<&'static str> {
    if is_general_log(head) {
        return Some(GENERAL_LOG);
    }
    if lines(head).any(is_error_log) {
        return Some("an error log of the server: it is for reading, it has no statements' times");
    }
    const BY_BEGINNING: &[(&str, &str)] = &[
        ("-- MySQL dump", DUMP),
        ("-- MariaDB dump", DUMP),
        ("/*M!999999\\- enable the sandbox mode */", DUMP),
        ("-- Dump", DUMP),
        ("# The proper term is pseudo_replica_mode", MYSQLBINLOG),
        ("/*!50530 SET @@SESSION.PSEUDO_SLAVE_MODE=1*/", MYSQLBINLOG),
        ("DELIMITER /*!*/;", MYSQLBINLOG),
        ("Reading mysql slow query log from", REPORT),
        ("Count: ", REPORT),
        ("[mysqld", OPTIONS),
        ("[client", OPTIONS),
        ("{", JSON),
        ("[", JSON),
    ];
    let text = head.trim_ascii_start();
    if lines(text).any(|line| line.starts_with(b"# Overall: ")) {
        return Some(REPORT);
    }
    BY_BEGINNING
        .iter()
        .find(|(beginning, _)| text.starts_with(beginning.as_bytes()))
        .map(|(_, what)| *what)
}

const DUMP: &str = "an SQL dump: the client `mysql` or `mariadb` loads it";
const MYSQLBINLOG: &str =
    "what mysqlbinlog made of a binary log: changes, without the times they took";
const REPORT: &str = "a report on a slow log: digest the log that it was made of";
const OPTIONS: &str = "an option file of the server: `mydyno advise` reads what it came to";
const JSON: &str = "JSON, not a slow log";

fn lines(head: &[u8]) -> impl Iterator<Item = &[u8]> {
    head.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii_end)
}

/// `2026-11-22T03:00:00.123456Z     12 Query   SELECT 1`, `261122  3:00:00     12 Connect ...`, and without a time
/// when the second is the same: a thread's number and a command of the protocol.
pub fn is_general_log(head: &[u8]) -> bool {
    lines(head).any(|line| {
        let Some(tab) = memchr::memchr(b'\t', line) else { return false };
        // Old logs have two tabs in place of the time.
        let rest = match line.strip_prefix(b"\t\t") {
            Some(rest) => rest,
            None if line[..tab].first().is_some_and(u8::is_ascii_digit) => &line[tab + 1..],
            None => return false,
        };
        let rest = rest.trim_ascii_start();
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        digits > 0
            && rest[digits..].strip_prefix(b" ").is_some_and(|command| {
                COMMANDS.iter().any(|name| {
                    command
                        .strip_prefix(name.as_bytes())
                        .is_some_and(|rest| rest.is_empty() || rest.starts_with(b"\t"))
                })
            })
    })
}

/// As `Command::get_command_name` and `command_name[]` of `sql/sql_parse.cc` spell them.
const COMMANDS: &[&str] = &[
    "Query",
    "Connect",
    "Quit",
    "Init DB",
    "Prepare",
    "Execute",
    "Close stmt",
    "Field List",
    "Ping",
    "Statistics",
    "Change user",
    "Reset stmt",
    "Fetch",
    "Long Data",
    "Set option",
    "Create DB",
    "Drop DB",
    "Refresh",
    "Shutdown",
    "Processlist",
    "Kill",
    "Debug",
    "Sleep",
    "Time",
    "Delayed insert",
    "Binlog Dump",
    "Binlog Dump GTID",
    "Table Dump",
    "Connect Out",
    "Register Slave",
    "Register Replica",
    "Daemon",
    "Reset Connection",
    "Clone",
    "Error",
    "Bulk_execute",
];

/// `2026-11-22T03:00:00.123456Z 0 [System] [MY-010116] ...`, `261122  3:00:00 [Note] ...`, and MySQL's JSON.
fn is_error_log(line: &[u8]) -> bool {
    const LEVELS: &[&[u8]] =
        &[b" [Note] ", b" [Warning] ", b" [ERROR] ", b" [System] ", b" [Error] "];
    let has = |what: &[u8]| memmem::find(line, what).is_some();
    match line.first() {
        Some(b'0'..=b'9') => {
            let head = &line[..line.len().min(60)];
            LEVELS.iter().any(|level| memmem::find(head, level).is_some())
                || memmem::find(head, b" mysqld_safe ").is_some()
        }
        Some(b'{') => has(b"\"prio\"") && has(b"\"err_code\"") && has(b"\"msg\""),
        _ => false,
    }
}

/// `"2026-11-22 03:00:00.123456","root[root] @ localhost []","00:00:02.000000",...`
pub fn is_slow_log_row(line: &[u8]) -> bool {
    line.get(1).is_some_and(u8::is_ascii_digit) && memmem::find(line, b"] @ ").is_some()
}
