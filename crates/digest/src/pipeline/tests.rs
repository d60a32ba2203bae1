use std::fs;
use std::path::PathBuf;

use proptest::prelude::*;

use super::*;
use crate::problem::ProblemKind;

struct Logs(PathBuf, Vec<String>);

impl Logs {
    fn new(name: &str, logs: &[Vec<u8>]) -> Self {
        let folder =
            std::env::temp_dir().join(format!("mydyno-pipeline-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let names = logs.iter().enumerate().map(|(at, log)| {
            let path = folder.join(format!("slow.log.{at}"));
            fs::write(&path, log).unwrap();
            path.to_str().unwrap().to_owned()
        });
        Self(folder.clone(), names.collect())
    }

    fn job(&self) -> Job {
        Job {
            sources: self.1.clone(),
            filters: Filters::default(),
            grouping: Grouping::default(),
            out_log: None,
            limit: None,
            example_bytes: 200,
            threads: Some(1),
            sizes: Sizes::default(),
        }
    }
}

impl Drop for Logs {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn digested(job: &Job) -> Digest {
    digest(job, &Stop::new().unwrap(), |_| ()).0
}

fn digested_in_full(job: &Job) -> String {
    let (digest, groups) = digest(job, &Stop::new().unwrap(), |_| ());
    serde_json::to_string(&(digest, groups.collect::<Vec<_>>())).unwrap()
}

fn entry(second: u32, user: &str, statement: &str) -> Vec<u8> {
    format!(
        "# Time: 2026-01-01T00:00:{second:02}.000000Z\n# User@Host: {user}[{user}] @ web1 [10.0.0.1]  Id:     7\n\
         # Query_time: 0.{second:06}  Lock_time: 0.000010 Rows_sent: {second}  Rows_examined: 100\n\
         SET timestamp=17672256{second:02};\n{statement};\n"
    )
    .into_bytes()
}

fn part() -> impl Strategy<Value = Vec<u8>> {
    let statement = prop_oneof![
        Just("SELECT * FROM orders WHERE id = 7".to_owned()),
        "[a-c]{1,3}".prop_map(|table| format!("select a from {table} where b in (1, 2, 3)")),
        "[a-z#\\n ;']{0,60}".prop_map(|text| format!("INSERT INTO notes VALUES ('{text}')")),
        Just("SELECT '\n# User@Host: in a text\n'".to_owned()),
    ];
    prop_oneof![
        8 => (0u32..60, "[ab]", statement)
            .prop_map(|(second, user, statement)| entry(second, &user, &statement)),
        1 => "[ -~\\n]{0,80}".prop_map(String::into_bytes),
        1 => prop::collection::vec(any::<u8>(), 0..40),
        1 => Just(b"# User@Host: x[x] @ y []\n# Query_time: broken  Lock_time: 1\nuse shop;\nSELECT 1;\n".to_vec()),
        1 => Just(b"# Time: 260101  0:00:09\n# User@Host: x[x] @ y []\n# administrator command: Quit;\n".to_vec()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn the_digest_is_the_same_for_any_number_of_threads_and_any_size_of_buffers(
        parts in prop::collection::vec(part(), 1..60),
        split in any::<prop::sample::Index>(),
        threads in 2usize..=8,
        buffer_bytes in prop_oneof![Just(1usize), 2usize..300, 300usize..5_000],
        most_bytes in prop_oneof![Just(16usize << 20), 150usize..600],
    ) {
        let split = split.index(parts.len());
        let logs = Logs::new("same", &[parts[..split].concat(), parts[split..].concat()]);
        let sizes = Sizes { buffer_bytes: most_bytes, most_bytes };
        let one = digested_in_full(&Job { sizes, ..logs.job() });
        let sizes = Sizes { buffer_bytes, most_bytes };
        prop_assert_eq!(one, digested_in_full(&Job { threads: Some(threads), sizes, ..logs.job() }));
    }
}

#[test]
fn sources_are_distinguished_and_what_cannot_be_read_is_a_problem_of_its_own() {
    let logs = Logs::new(
        "apart",
        &[entry(1, "a", "SELECT 1"), Vec::new(), b"nothing\nof the kind\n".to_vec()],
    );
    let mut job = logs.job();
    job.sources.insert(1, "/nonexistent/slow.log".to_owned());
    let digest = digested(&job);
    assert_eq!(digest.total.count, 1);
    let entries: Vec<u64> = digest.sources.iter().map(|source| source.entries).collect();
    assert_eq!(entries, [1, 0, 0, 0]);
    let problems: Vec<_> = digest.problems.iter().map(|each| (&each.source, each.kind)).collect();
    assert_eq!(
        problems,
        [
            (&job.sources[1], ProblemKind::Unreadable),
            (&job.sources[2], ProblemKind::Empty),
            (&job.sources[3], ProblemKind::NotASlowLog),
        ]
    );
}

#[test]
fn a_time_or_a_database_is_not_taken_from_another_source() {
    let second =
        b"# User@Host: b[b] @ web1 []\n# Query_time: 1  Lock_time: 0\nSELECT 2;\n".to_vec();
    let logs = Logs::new("sources", &[[entry(1, "a", "use shop;\nSELECT 1")].concat(), second]);
    let digest = digested(&logs.job());
    assert_eq!(digest.sources[1].entries, 1);
    assert_eq!((digest.sources[1].first_us, digest.sources[1].last_us), (None, None));
}

#[test]
fn what_the_filters_leave_out_is_counted_but_not_digested() {
    let logs =
        Logs::new("filters", &[[entry(1, "a", "SELECT 1"), entry(2, "b", "SELECT 2")].concat()]);
    let filters = Filters::new(None, None, &["user=b"]).unwrap();
    let digest = digested(&Job { filters, ..logs.job() });
    assert_eq!((digest.filtered, digest.total.count, digest.sources[0].entries), (1, 1, 2));
}

#[test]
fn an_end_that_was_asked_for_is_reported_and_nothing_more_is_read() {
    let logs = Logs::new("ended", &[entry(1, "a", "SELECT 1"), entry(2, "b", "SELECT 2")]);
    let stop = Stop::new().unwrap();
    stop.ask();
    let (digest, _) = digest(&logs.job(), &stop, |_| ());
    let kinds: Vec<ProblemKind> = digest.problems.iter().map(|problem| problem.kind).collect();
    assert_eq!(kinds, [ProblemKind::Interrupted, ProblemKind::Interrupted]);
    assert_eq!(digest.total.count, 0);
}

#[test]
fn a_log_that_begins_inside_a_long_statement_is_read_from_its_first_entry_on() {
    for bytes in [17 << 10, 100 << 10, 600 << 10] {
        let rest = "(1, 'a row of many'),\n".repeat(bytes / 22);
        let log = [format!("{rest}(2, 'the last');\n").into_bytes(), entry(1, "a", "SELECT 1")];
        let logs = Logs::new(&format!("inside-{bytes}"), &[log.concat()]);
        let sizes = Sizes { buffer_bytes: 4 << 10, most_bytes: 200 << 10 };
        let digest = digested(&Job { sizes, ..logs.job() });
        assert_eq!(digest.total.count, 1, "{bytes}");
        let problems: Vec<_> =
            digest.problems.iter().map(|each| (each.kind, each.line, each.count)).collect();
        assert_eq!(problems, [(ProblemKind::NoHeader, Some(1), 1)], "{bytes}");
    }
}

#[test]
fn a_last_entry_that_is_longer_than_what_is_kept_is_counted_without_being_taken_for_a_broken_one() {
    let long = format!("SELECT '{}'", "x".repeat(50_000));
    let logs = Logs::new("long-last", &[entry(1, "a", &long)]);
    let sizes = Sizes { buffer_bytes: 500, most_bytes: 20_000 };
    let digest = digested(&Job { sizes, ..logs.job() });
    let kinds: Vec<_> = digest.problems.iter().map(|each| each.kind).collect();
    assert_eq!((digest.total.count, kinds), (1, vec![ProblemKind::LongStatement]));
}

#[test]
fn a_file_or_a_copy_of_it_is_counted_once_and_a_log_that_begins_alike_is_read() {
    let log = [entry(1, "a", "SELECT 1"), entry(2, "a", "SELECT 2")].concat();
    let longer = [log.clone(), entry(3, "a", "SELECT 3")].concat();
    let logs = Logs::new("twice", &[log.clone(), log, longer]);
    let mut job = logs.job();
    job.sources.push(logs.1[2].clone());
    let digest = digested(&job);
    assert_eq!(digest.total.count, 5);
    let problems: Vec<_> =
        digest.problems.iter().map(|each| (&each.source, each.kind, &each.says)).collect();
    let copy = format!("it holds the same as {}: counted once", logs.1[0]);
    let same = format!("it is the same file as {}: counted once", logs.1[2]);
    assert_eq!(
        problems,
        [(&logs.1[1], ProblemKind::ReadTwice, &copy), (&logs.1[2], ProblemKind::ReadTwice, &same)]
    );
}

/// Written by workers, read by the test.
#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Written {
    fn write(&mut self, text: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(text);
        Ok(text.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn entries_are_written_as_a_log_that_has_the_same_digest_whatever_was_filtered_before_them() {
    let later = b"# User@Host: a[a] @ web1 []\n# Query_time: 2  Lock_time: 0\nSELECT a;\n".to_vec();
    let command = b"# User@Host: a[a] @ web1 []\n# Query_time: 1  Lock_time: 0\n\
        # administrator command: Ping;\n";
    let mut log = [entry(1, "b", "SELECT 1"), entry(2, "a", "SELECT 2")].concat();
    let with_database = String::from_utf8(entry(3, "b", "SELECT 3")).unwrap();
    log.extend_from_slice(with_database.replace("SET", "use shop;\nSET").as_bytes());
    log.extend_from_slice(&later);
    log.extend_from_slice(command);
    let logs = Logs::new("written", &[log]);
    let written = Written::default();
    let filters = || Filters::new(None, None, &["user=a"]).unwrap();
    let sizes = Sizes { buffer_bytes: 300, most_bytes: 4_000 };
    let out_log = Some(Arc::new(crate::out_log::OutLog::new(written.clone())));
    let first =
        digested(&Job { filters: filters(), sizes, out_log, threads: Some(3), ..logs.job() });
    let again = Logs::new("written-again", &[written.0.lock().unwrap().clone()]);
    let second = digested(&again.job());
    assert_eq!(second.problems.len(), 0);
    assert_eq!(
        serde_json::to_string(&first.total).unwrap(),
        serde_json::to_string(&second.total).unwrap()
    );
    assert_eq!(second.total.databases, [("shop".to_owned(), 2)]);
}
