//! Logs to traces, and traces edited.

use std::fs;
use std::path::{Path, PathBuf};

use mydyno_digest::stop::Stop;
use mydyno_trace::capture::{Options, Refused, capture};
use mydyno_trace::merge::{Align, merge};
use mydyno_trace::select::{Selection, select};
use mydyno_trace::summary::summary;
use mydyno_trace::{Footer, Header, Record, Statement, Trace};

const MARIADB: &str = include_str!("mariadb.log");

const MYSQL: &str = "# Time: 2026-11-22T03:00:02.500000Z\n# User@Host: app[app] @ web [10.0.0.1]  Id:    12\n\
    # Query_time: 0.500000  Lock_time: 0.000000 Rows_sent: 1  Rows_examined: 5\nuse shop;\n\
    SET timestamp=1795316402;\nSELECT 'second';\n\
    # Time: 2026-11-22T03:00:03.000000Z\n# User@Host: app[app] @ web [10.0.0.1]  Id:    13\n\
    # Query_time: 2.500000  Lock_time: 0.000000 Rows_sent: 1  Rows_examined: 5\n\
    SET timestamp=1795316400;\nSELECT 'first';\n\
    # Time: 2026-11-22T03:00:04.000000Z\n# User@Host: app[app] @ web [10.0.0.1]  Id:    12\n\
    # Query_time: 0.000001  Lock_time: 0.000000 Rows_sent: 0  Rows_examined: 0\n\
    SET timestamp=1795316404;\n# administrator command: Quit;\n";

const GENERAL: &str = "mysqld, Version: 8.0.36 (Source). started with:\nTcp port: 0  Unix socket: /s\n\
    Time                 Id Command    Argument\n\
    2026-11-22T03:00:00.000001Z\t    3 Connect\tapp@web on shop using Socket\n\
    2026-11-22T03:00:00.000002Z\t    3 Query\tselect 1,\n  2\n\
    2026-11-22T03:00:00.000003Z\t    4 Query\tSET PASSWORD = 'hunter2'\n\
    2026-11-22T03:00:00.000004Z\t    3 Prepare\tselect ?\n\
    2026-11-22T03:00:00.000005Z\t    3 Execute\tselect 5\n\
    2026-11-22T03:00:00.000006Z\t    3 Init DB\tother\n\
    2026-11-22T03:00:00.000007Z\t    3 Query\texecute s using @a\n\
    2026-11-22T03:00:00.000008Z\t    3 Execute\tselect 6\n\
    2026-11-22T03:00:00.000009Z\t    3 Quit\t\n";

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path =
            std::env::temp_dir().join(format!("mydyno-capture-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    fn capture(&self, log: &str) -> Result<(Header, Footer), Refused> {
        fs::write(self.file("log"), log).unwrap();
        let name = self.file("log").display().to_string();
        capture(&[name], &self.file("trace"), &Options::default(), &Stop::new().unwrap(), |_| ())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}

fn records(path: &Path) -> Vec<Record> {
    Trace::open(path).unwrap().records().unwrap().map(Result::unwrap).collect()
}

fn statements(path: &Path) -> Vec<Statement> {
    let of =
        |record| if let Record::Statement(statement) = record { Some(statement) } else { None };
    records(path).into_iter().filter_map(of).collect()
}

fn texts(path: &Path) -> Vec<String> {
    statements(path).into_iter().map(|one| String::from_utf8(one.sql).unwrap()).collect()
}

#[test]
fn a_statement_starts_its_duration_before_the_time_of_the_log() {
    let folder = Folder::new("starts");
    let (header, footer) = folder.capture(MYSQL).unwrap();
    assert_eq!((header.start_us, header.resolution_us), (Some(1_795_316_400_500_000), 1));
    assert_eq!((footer.connections, footer.closed, footer.statements), (2, 1, 2));
    assert_eq!(footer.length_us, 3_499_999);
    let starts: Vec<(u64, String)> = statements(&folder.file("trace"))
        .into_iter()
        .map(|one| (one.at_us, String::from_utf8(one.sql).unwrap()))
        .collect();
    assert_eq!(
        starts,
        [(0, "SELECT 'first'".to_owned()), (1_500_000, "SELECT 'second'".to_owned())]
    );
}

#[test]
fn statements_of_a_log_with_whole_seconds_are_spread_over_them() {
    let folder = Folder::new("spread");
    let (header, footer) = folder.capture(MARIADB).unwrap();
    assert_eq!(header.resolution_us, 1_000_000);
    assert_eq!(header.server.as_deref(), Some("10.11.19-MariaDB (Debian 12)"));
    assert_eq!((footer.connections, footer.statements), (1, 5));
    let starts: Vec<u64> = statements(&folder.file("trace")).iter().map(|one| one.at_us).collect();
    // The third one slept from the first second to the fourth.
    assert_eq!(starts, [0, 333_333, 333_333, 3_000_000, 3_500_000]);
}

#[test]
fn a_general_log_gives_connections_statements_and_prepared_executions() {
    let folder = Folder::new("general");
    let (header, footer) = folder.capture(GENERAL).unwrap();
    assert_eq!(header.start_us, Some(1_795_316_400_000_001));
    assert_eq!((footer.connections, footer.closed, footer.statements), (2, 1, 4));
    let all = statements(&folder.file("trace"));
    let shown: Vec<(&[u8], &[u8], bool)> =
        all.iter().map(|one| (&one.sql[..], &one.schema[..], one.prepared)).collect();
    let expected: [(&[u8], &[u8], bool); 4] = [
        (b"select 1,\n  2", b"shop", false),
        (b"SET PASSWORD = '***'", b"", false),
        (b"select 5", b"shop", true),
        (b"execute s using @a", b"other", false),
    ];
    assert_eq!(shown, expected);
    assert!(all.iter().all(|one| one.duration_us.is_none() && one.error.is_none()));
}

#[test]
fn what_is_cut_is_located_and_not_written() {
    let folder = Folder::new("cut");
    let whole = MYSQL.find("# Time: 2026-11-22T03:00:03").unwrap();
    let (_, footer) = folder.capture(&MYSQL[..MYSQL.find("first").unwrap()]).unwrap();
    assert_eq!(footer.statements, 1);
    let skipped = &footer.skipped[0];
    assert_eq!((skipped.kind.as_str(), skipped.at_byte), ("broken-tail", Some(whole as u64)));
    assert_eq!(texts(&folder.file("trace")), ["SELECT 'second'"]);
}

#[test]
fn a_trace_or_an_empty_log_is_no_log() {
    let folder = Folder::new("no-log");
    folder.capture(MYSQL).unwrap();
    let stop = Stop::new().unwrap();
    let of = |name: &Path| match capture(
        &[name.display().to_string()],
        &folder.file("other"),
        &Options::default(),
        &stop,
        |_| (),
    ) {
        Err(Refused::Nothing(skipped)) => skipped[0].says.clone(),
        other => panic!("{other:?}"),
    };
    assert!(of(&folder.file("trace")).starts_with("a trace of mydyno"));
    fs::write(folder.file("empty"), "").unwrap();
    assert_eq!(of(&folder.file("empty")), "it is empty: nothing was logged");
    assert!(!folder.file("other").exists());
}

#[test]
fn a_masked_trace_has_no_literal_of_its_log() {
    let folder = Folder::new("mask");
    fs::write(folder.file("log"), MYSQL).unwrap();
    let name = folder.file("log").display().to_string();
    let stop = Stop::new().unwrap();
    let options = Options { mask: true, ..Options::default() };
    let (header, _) = capture(&[name], &folder.file("trace"), &options, &stop, |_| ()).unwrap();
    assert!(header.masked);
    let texts = texts(&folder.file("trace"));
    assert_eq!(texts.iter().map(String::len).collect::<Vec<_>>(), [14, 15]);
    assert!(
        texts.iter().all(|text| !text.contains("first") && !text.contains("second")),
        "{texts:?}"
    );
}

#[test]
fn a_trace_is_filtered_cut_and_merged() {
    let folder = Folder::new("edit");
    folder.capture(GENERAL).unwrap();
    let trace = Trace::open(folder.file("trace")).unwrap();
    let part = folder.file("part");
    let reads = Selection { reads_only: true, ..Selection::default() };
    let footer = select(&trace, &reads, &part).unwrap();
    assert_eq!((footer.connections, footer.closed, footer.statements), (1, 1, 2));
    let user = Selection { users: vec![b"nobody".to_vec()], ..Selection::default() };
    assert_eq!(select(&trace, &user, &part).unwrap().connections, 0);
    let late = Selection { from_us: 2, until_us: Some(6), ..Selection::default() };
    select(&trace, &late, &part).unwrap();
    assert_eq!(texts(&part), ["SET PASSWORD = '***'", "select 5"]);
    assert_eq!(Trace::open(&part).unwrap().header().start_us, Some(1_795_316_400_000_003));
    let both = [Trace::open(folder.file("trace")).unwrap(), Trace::open(&part).unwrap()];
    let footer = merge(&both, Align::Clock, &folder.file("both")).unwrap();
    assert_eq!((footer.connections, footer.statements), (4, 6));
    let merged = statements(&folder.file("both"));
    assert_eq!(merged[1].at_us, merged[2].at_us, "the same statement of both");
    assert_ne!(merged[1].connection, merged[2].connection);
}

#[test]
fn a_summary_counts_what_there_is() {
    let folder = Folder::new("summary");
    folder.capture(MYSQL).unwrap();
    let trace = Trace::open(folder.file("trace")).unwrap();
    let summary = summary(&trace, 5).unwrap();
    assert_eq!((summary.reads, summary.writes, summary.errors), (2, 0, None));
    assert_eq!(summary.rate.iter().sum::<u64>(), 2);
    assert_eq!((summary.fingerprints, summary.top[0].statements), (1, 2));
    assert_eq!(summary.top[0].duration_us, Some(3_000_000));
    assert_eq!((summary.users[0].name.as_str(), summary.users[0].statements), ("app", 2));
    assert_eq!(summary.schemas[0].name, "shop");
}

/// As `sysbench oltp_read_write` is logged by MariaDB: point and range selects, updates of a number and of a
/// text of random digits.
fn sysbench(statements: u64) -> String {
    let mut log = String::new();
    let mut random = 88_172_645_463_325_252_u64;
    let mut next = |below: u64| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        (random >> 11) % below
    };
    for number in 0..statements {
        let (table, id) = (next(8) + 1, next(100_000));
        let sql = match number % 18 {
            17 => {
                let digits: Vec<String> =
                    (0..10).map(|_| format!("{:011}", next(99_999_999_999))).collect();
                format!("UPDATE sbtest{table} SET c='{}' WHERE id={id}", digits.join("-"))
            }
            16 => format!("UPDATE sbtest{table} SET k=k+1 WHERE id={id}"),
            10..16 => {
                format!("SELECT SUM(k) FROM sbtest{table} WHERE id BETWEEN {id} AND {}", id + 99)
            }
            _ => format!("SELECT c FROM sbtest{table} WHERE id={id}"),
        };
        let second = 1_795_746_781 + number / 5_000;
        if number % 5_000 == 0 {
            log += &format!("# Time: 261127  2:33:{:02}\n", number / 5_000);
        }
        log += &format!(
            "# User@Host: sbtest[sbtest] @ localhost []\n# Thread_id: {}  Schema: sbtest  QC_hit: No\n\
             # Query_time: 0.000{:03}  Lock_time: 0.0000{:02}  Rows_sent: 1  Rows_examined: 1\n\
             # Rows_affected: 0  Bytes_sent: {}\nSET timestamp={second};\n{sql};\n",
            next(64) + 5,
            next(900) + 50,
            next(90) + 5,
            next(30) + 100,
        );
    }
    log
}

#[test]
fn a_trace_is_at_most_a_tenth_of_its_log() {
    let folder = Folder::new("size");
    let log = sysbench(40_000);
    let (_, footer) = folder.capture(&log).unwrap();
    assert_eq!((footer.statements, footer.connections), (40_000, 64));
    let bytes = fs::metadata(folder.file("trace")).unwrap().len() as usize;
    assert!(bytes * 10 <= log.len(), "{bytes} bytes of a log of {}", log.len());
}
