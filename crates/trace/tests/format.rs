//! The file: what is written is read back, and nothing else is.

use std::fs;
use std::path::{Path, PathBuf};

use mydyno_trace::{
    Closed, Error, Footer, Header, Opened, Record, Sorter, Source, Statement, Trace, Writer, block,
};
use proptest::prelude::*;

/// A folder that goes with the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("mydyno-trace-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}

fn header() -> Header {
    Header {
        source: Source::SlowLog,
        server: Some("11.8.3-MariaDB".into()),
        masked: false,
        start_us: Some(1_795_316_400_000_000),
        resolution_us: 1,
    }
}

fn opened(connection: u32, at_us: u64) -> Record {
    let (user, schema) = (b"app"[..].into(), b"shop"[..].into());
    Record::Opened(Opened { connection, at_us, server_id: Some(7), user, schema })
}

fn statement(connection: u32, at_us: u64, sql: &[u8]) -> Statement {
    Statement {
        connection,
        at_us,
        duration_us: Some(3),
        schema: b"shop"[..].into(),
        sql: sql.to_vec(),
        rows_sent: Some(1),
        rows_examined: None,
        rows_affected: Some(0),
        error: None,
        prepared: false,
    }
}

fn write(path: &Path, records: &[Record]) -> Footer {
    let mut writer = Writer::create(path, &header()).unwrap();
    records.iter().for_each(|record| writer.push(record).unwrap());
    writer.finish(Vec::new(), Vec::new()).unwrap()
}

fn read(path: &Path) -> Result<Vec<Record>, Error> {
    Trace::open(path)?.records()?.collect()
}

/// Statements with and without literals, and bytes of any kind.
fn sql() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        (any::<u64>(), "[a-z' \\\\\"]{0,12}").prop_map(|(number, text)| {
            format!("select * from t where id = {number} and name = '{text}' /* {number} */").into()
        }),
        (0..200_u32)
            .prop_map(|number| format!("update t{number} set a = 0{number}, b = -1.5e3").into()),
        proptest::collection::vec(any::<u8>(), 1..60),
    ]
}

fn records() -> impl Strategy<Value = Vec<Record>> {
    let one = (
        0..4_u32,
        0..5_000_u64,
        sql(),
        any::<[Option<u64>; 4]>(),
        any::<Option<u16>>(),
        any::<bool>(),
    );
    proptest::collection::vec(one, 0..80).prop_map(|all| {
        let mut records: Vec<Record> = (0..4).map(|connection| opened(connection, 0)).collect();
        let mut at_us = 0;
        for (connection, since, sql, [duration_us, sent, examined, affected], error, prepared) in
            all
        {
            at_us += since;
            records.push(Record::Statement(Statement {
                duration_us,
                rows_sent: sent,
                rows_examined: examined,
                rows_affected: affected,
                error,
                prepared,
                ..statement(connection, at_us, &sql)
            }));
        }
        records.push(Record::Closed(Closed { connection: 2, at_us }));
        records
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn records_are_read_back_as_they_were_written(records in records()) {
        let folder = Folder::new("round");
        let footer = write(&folder.file("a.trace"), &records);
        prop_assert_eq!(read(&folder.file("a.trace")).unwrap(), &records[..]);
        prop_assert_eq!(footer.statements as usize, records.len() - 5);
        let trace = Trace::open(folder.file("a.trace")).unwrap();
        prop_assert_eq!(trace.footer(), &footer);
    }

    #[test]
    fn a_flipped_bit_is_noticed(records in records(), at in any::<prop::sample::Index>(), bit in 0..8) {
        let folder = Folder::new("flip");
        let path = folder.file("a.trace");
        write(&path, &records);
        let mut bytes = fs::read(&path).unwrap();
        let at = at.index(bytes.len());
        bytes[at] ^= 1_u8 << bit;
        fs::write(&path, &bytes).unwrap();
        prop_assert!(read(&path).is_err(), "byte {} bit {}", at, bit);
    }

    #[test]
    fn no_bytes_of_a_block_make_reading_it_panic(
        records in records(),
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..5),
    ) {
        let mut builder = block::Builder::default();
        records.iter().for_each(|record| builder.push(record));
        let mut bytes = builder.finish();
        prop_assert_eq!(block::read(&bytes), Some(records));
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let _ = block::read(&bytes);
    }

    #[test]
    fn a_torn_tail_is_named(records in records(), at in any::<prop::sample::Index>()) {
        let folder = Folder::new("torn");
        let path = folder.file("a.trace");
        write(&path, &records);
        let bytes = fs::read(&path).unwrap();
        let length = at.index(bytes.len());
        fs::write(&path, &bytes[..length]).unwrap();
        match Trace::open(&path) {
            Err(Error::Torn { at, .. }) => prop_assert!(at <= length as u64),
            Err(Error::NotATrace { .. }) => prop_assert_eq!(length, 0),
            other => prop_assert!(false, "{:?}", other),
        }
    }
}

#[test]
fn records_out_of_order_are_sorted_and_connections_numbered_as_they_open() {
    let folder = Folder::new("sorted");
    for memory in [1 << 30, 4_000] {
        let mut sorter = Sorter::new(folder.file("a.trace")).with_memory(memory);
        for number in (0..500_u32).rev() {
            let at_us = i64::from(number) * 10 - 1_000;
            sorter.push(at_us, opened(number, 0)).unwrap();
            sorter.push(at_us, Record::Statement(statement(number, 0, b"select 1"))).unwrap();
        }
        assert_eq!(sorter.first_us(), Some(-1_000));
        let footer = sorter.finish(&header(), -1_000, Vec::new(), Vec::new()).unwrap();
        assert_eq!((footer.connections, footer.statements), (500, 500));
        let records = read(&folder.file("a.trace")).unwrap();
        for (place, pair) in records.chunks(2).enumerate() {
            assert_eq!(pair[0].connection() as usize, place);
            assert_eq!(pair[1].connection() as usize, place);
            assert_eq!(pair[1].at_us(), place as u64 * 10);
        }
    }
    assert_eq!(fs::read_dir(&folder.0).unwrap().count(), 1, "no run is left behind");
}

#[test]
fn a_writer_that_does_not_finish_leaves_the_file_that_was_there() {
    let folder = Folder::new("unfinished");
    let path = folder.file("a.trace");
    write(&path, &[opened(0, 0)]);
    let before = fs::read(&path).unwrap();
    let mut writer = Writer::create(&path, &header()).unwrap();
    writer.push(&opened(0, 5)).unwrap();
    drop(writer);
    assert_eq!(fs::read(&path).unwrap(), before);
    assert_eq!(fs::read_dir(&folder.0).unwrap().count(), 1);
}

#[test]
fn a_writer_refuses_what_no_reader_expects() {
    let folder = Folder::new("refused");
    let mut writer = Writer::create(folder.file("a.trace"), &header()).unwrap();
    writer.push(&opened(0, 5)).unwrap();
    let early = Record::Statement(statement(0, 4, b"select 1"));
    let unknown = Record::Statement(statement(1, 6, b"select 1"));
    for (record, why) in [
        (early, "connection 0 begins before the record in front of it"),
        (unknown, "connection 1 is not open"),
        (opened(2, 6), "connection 2 opens out of turn"),
    ] {
        assert_eq!(writer.push(&record).unwrap_err().to_string(), why);
    }
}

#[test]
fn what_is_no_trace_of_this_format_is_named() {
    let folder = Folder::new("named");
    let path = folder.file("a.trace");
    let says = |bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        Trace::open(&path).unwrap_err().to_string()
    };
    assert!(
        says(b"# Time: 2026-11-22T03:00:00.123456Z\n# User@Host: a[a] @ b []\n")
            .ends_with("a slow log")
    );
    assert!(says(b"").contains("empty"));
    assert!(
        says(b"\x89MYDYNO\n\x02\0\0\0rest")
            .contains("format 2, and this mydyno reads formats up to 1")
    );
    assert!(
        Trace::open(folder.file("none")).unwrap_err().to_string().contains("there is no such file")
    );
}

/// Statements of a release build; a debug build has a tenth of them.
const STATEMENTS: u32 = if cfg!(debug_assertions) { 100_000 } else { 1_000_000 };

#[test]
fn all_statements_of_200_connections_are_there_and_in_order_within_each() {
    let folder = Folder::new("million");
    let path = folder.file("a.trace");
    let mut sorter = Sorter::new(&path).with_memory(8 << 20);
    for connection in 0..200 {
        sorter.push(0, opened(connection, 0)).unwrap();
    }
    for number in 0..STATEMENTS {
        // Each connection in its own disorder with the others.
        let connection = number.wrapping_mul(2_654_435_761) % 200;
        let at_us = i64::from(number) + i64::from(connection % 7) * 10_000;
        let sql = format!("select c from sbtest{} where id = {number}", connection % 4);
        sorter.push(at_us, Record::Statement(statement(connection, 0, sql.as_bytes()))).unwrap();
    }
    sorter.finish(&header(), 0, Vec::new(), Vec::new()).unwrap();
    let mut last = vec![None; 200];
    let mut count = 0;
    for record in Trace::open(&path).unwrap().records().unwrap() {
        let Record::Statement(statement) = record.unwrap() else { continue };
        let sql = String::from_utf8(statement.sql).unwrap();
        let number: u32 = sql.rsplit(' ').next().unwrap().parse().unwrap();
        let before = last[statement.connection as usize].replace(number);
        assert!(before.is_none_or(|before| before < number), "connection {}", statement.connection);
        count += 1;
    }
    assert_eq!(count, STATEMENTS);
    let bytes = fs::metadata(&path).unwrap().len();
    assert!(bytes < u64::from(STATEMENTS) * 15, "{bytes} bytes for {STATEMENTS} statements");
}
