//! Writes logs as the servers do, of entries that are known.

use mydyno_digest::attribute::Attribute;
use mydyno_digest::entry::{Kind, Time};
use proptest::prelude::*;

use crate::reading::Owned;

/// One statement to be logged.
#[derive(Clone, Debug)]
pub struct Known {
    /// Seconds since 1970 at which it is logged; each entry adds to those before.
    pub after_s: u8,
    pub user: String,
    pub host: String,
    pub database: String,
    pub query_time: u64,
    pub lock_time: u64,
    pub rows: [u32; 4],
    pub is_full_scan: bool,
    pub is_command: bool,
    pub statement: String,
    /// How the lines of its header are shuffled.
    pub shuffle: Vec<prop::sample::Index>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// 5.1: no numbers of connections, `# Time:` only when the second has changed.
    Mysql51,
    Mysql80,
    /// With log_slow_extra.
    Mysql80Extra,
    MariaDb,
    Percona,
}

pub const DIALECTS: [Dialect; 5] =
    [Dialect::Mysql51, Dialect::Mysql80, Dialect::Mysql80Extra, Dialect::MariaDb, Dialect::Percona];

const BEGIN_S: i64 = 1_795_316_400; // 2026-11-22T03:00:00Z

pub fn known() -> impl Strategy<Value = Known> {
    (
        (0_u8..3, "[a-z@ .]{0,8}|a\\[b\\]", "[a-z0-9.:-]{1,12}", "|[a-z_]{1,8}|my shop|`a`"),
        (0_u64..1 << 40, 0_u64..1 << 20, any::<[u32; 4]>(), any::<bool>()),
        (prop::bool::weighted(0.1), statement()),
        prop::collection::vec(any::<prop::sample::Index>(), 8),
    )
        .prop_map(
            |((after_s, user, host, database), numbers, (is_command, statement), shuffle)| {
                let (query_time, lock_time, rows, is_full_scan) = numbers;
                Known {
                    after_s,
                    user: if user.trim().is_empty() { "app".into() } else { user.trim().into() },
                    host,
                    database: database.replace('`', ""),
                    query_time,
                    lock_time,
                    rows,
                    is_full_scan,
                    is_command,
                    statement: if is_command { "Init DB".into() } else { statement },
                    shuffle,
                }
            },
        )
}

/// Lines of statements, many of which look like something else.
fn statement() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        4 => "[ -\"$-:<-~]{1,40}",
        1 => "[\\PC]{1,20}",
        1 => Just("# Time: soon".to_string()),
        1 => Just("# Time: 12 o'clock".to_string()),
        1 => Just("# User: x".to_string()),
        1 => Just("# administrator command: Quit;".to_string()),
        1 => Just("use other;".to_string()),
        1 => Just("SET timestamp=5;".to_string()),
        1 => Just("SET insert_id=1,timestamp=7;".to_string()),
        1 => Just("-- # Query_time: 5".to_string()),
        1 => Just(" # Query_time: 5  Lock_time: 1".to_string()),
        1 => Just("# plan: ahead".to_string()),
        1 => Just("#".to_string()),
        1 => Just("Time                 Id Command    Argument".to_string()),
    ];
    prop::collection::vec(line, 1..5).prop_map(|lines| {
        let text = lines.join("\n");
        let text = text.trim_matches(|byte: char| byte.is_ascii_whitespace() || byte == ';');
        // A command of its own is what the server would write for one.
        if text.is_empty() || text.starts_with('#') {
            format!("SELECT 1{text}")
        } else {
            text.into()
        }
    })
}

/// The log, and its entries but for their places.
pub fn written(dialect: Dialect, all: &[Known], line_end: &str) -> (Vec<u8>, Vec<Owned>) {
    let mut log = Vec::new();
    let mut entries = vec![];
    let mut now = BEGIN_S;
    let mut last_now = None;
    let mut used = String::new();
    for known in all {
        now += i64::from(known.after_s);
        let mut lines = header(dialect, known, now);
        let has_time =
            !matches!(dialect, Dialect::Mysql51 | Dialect::MariaDb) || last_now != Some(now);
        if has_time {
            lines.push(format!("# Time: {}", time(dialect, now)));
        }
        last_now = Some(now);
        for place in (1..lines.len()).rev() {
            lines.swap(place, known.shuffle[place % known.shuffle.len()].index(place + 1));
        }
        if !known.database.is_empty() && known.database != used {
            used.clone_from(&known.database);
            lines.push(format!("use {used};"));
        }
        lines.push(format!("SET timestamp={now};"));
        let command = if known.is_command { "# administrator command: " } else { "" };
        lines.push(format!("{command}{};", known.statement.replace('\n', line_end)));
        log.extend_from_slice((lines.join(line_end) + line_end).as_bytes());
        let tells_database = matches!(dialect, Dialect::MariaDb | Dialect::Percona);
        entries.push(Owned {
            at: 0,
            line: 0,
            time: Some(Time::from(now) * 1_000_000),
            user: known.user.clone(),
            host: known.host.clone(),
            database: if tells_database { known.database.clone() } else { used.clone() },
            values: values(dialect, known),
            kind: if known.is_command { Kind::AdministratorCommand } else { Kind::Statement },
            statement: known.statement.replace('\n', line_end).into_bytes(),
        });
    }
    (log, entries)
}

fn header(dialect: Dialect, known: &Known, now: i64) -> Vec<String> {
    let Known { user, host, database, rows: [sent, examined, affected, bytes], .. } = known;
    let seconds = |micros: u64| format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000);
    let (query, lock) = (seconds(known.query_time), seconds(known.lock_time));
    let who = format!("# User@Host: {user}[{user}] @ {host} [192.0.2.1]");
    let yes_no = if known.is_full_scan { "Yes" } else { "No" };
    match dialect {
        Dialect::Mysql51 => vec![
            who,
            format!(
                "# Query_time: {query}  Lock_time: {lock} Rows_sent: {sent}  Rows_examined: {examined}"
            ),
        ],
        Dialect::Mysql80 => vec![
            format!("{who}  Id:    12"),
            format!(
                "# Query_time: {query}  Lock_time: {lock} Rows_sent: {sent}  Rows_examined: {examined}"
            ),
        ],
        Dialect::Mysql80Extra => vec![
            format!("{who}  Id:    12"),
            format!(
                "# Query_time: {query}  Lock_time: {lock} Rows_sent: {sent}  Rows_examined: {examined} \
                 Thread_id: 12 Errno: 0 Killed: 0 Bytes_received: {affected} Bytes_sent: {bytes} \
                 Start: {} End: {}",
                time(dialect, now),
                time(dialect, now)
            ),
        ],
        Dialect::MariaDb => vec![
            who,
            format!("# Thread_id: 12  Schema: {database}  QC_hit: No"),
            format!(
                "# Query_time: {query}  Lock_time: {lock}  Rows_sent: {sent}  Rows_examined: {examined}"
            ),
            format!("# Rows_affected: {affected}  Bytes_sent: {bytes}"),
            format!("# Full_scan: {yes_no}  Full_join: No  Tmp_table: No  Tmp_table_on_disk: No"),
        ],
        Dialect::Percona => vec![
            format!("{who}  Id:    12"),
            format!("# Schema: {database}  Last_errno: 0  Killed: 0"),
            format!(
                "# Query_time: {query}  Lock_time: {lock}  Rows_sent: {sent}  Rows_examined: {examined}  \
                 Rows_affected: {affected}"
            ),
            format!("# Bytes_sent: {bytes}"),
            format!(
                "# QC_Hit: No  Full_scan: {yes_no}  Full_join: No  Tmp_table: No  Tmp_table_on_disk: No"
            ),
            "# InnoDB_trx_id: F00".into(),
        ],
    }
}

fn values(dialect: Dialect, known: &Known) -> Vec<(Attribute, u64)> {
    let [sent, examined, affected, bytes] = known.rows.map(u64::from);
    let mut values = vec![
        (Attribute::QueryTime, known.query_time),
        (Attribute::LockTime, known.lock_time),
        (Attribute::RowsSent, sent),
        (Attribute::RowsExamined, examined),
    ];
    let flags = [
        (Attribute::QueryCacheHit, 0),
        (Attribute::FullScan, u64::from(known.is_full_scan)),
        (Attribute::FullJoin, 0),
        (Attribute::TmpTable, 0),
        (Attribute::TmpTableOnDisk, 0),
    ];
    let is_well = [(Attribute::Failed, 0), (Attribute::Killed, 0)];
    match dialect {
        Dialect::Mysql51 | Dialect::Mysql80 => (),
        Dialect::Mysql80Extra => {
            values.extend([(Attribute::BytesReceived, affected), (Attribute::BytesSent, bytes)]);
            values.extend(is_well);
        }
        Dialect::MariaDb | Dialect::Percona => {
            values.extend([(Attribute::RowsAffected, affected), (Attribute::BytesSent, bytes)]);
            values.extend(flags);
            if dialect == Dialect::Percona {
                values.extend(is_well);
            }
        }
    }
    values.sort();
    values
}

/// 24 hours are enough here, so no calendar is needed.
fn time(dialect: Dialect, now: i64) -> String {
    let of_day = now - BEGIN_S + 3 * 3600;
    let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
    match dialect {
        Dialect::Mysql51 | Dialect::MariaDb => format!("261122 {hour:2}:{minute:02}:{second:02}"),
        _ => format!("2026-11-22T{hour:02}:{minute:02}:{second:02}.000000Z"),
    }
}
