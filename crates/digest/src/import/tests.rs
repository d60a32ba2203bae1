//! Each kind of export, whole and byte by byte, comes to the entries that it was made of.

use super::*;
use crate::context::Context;
use crate::problem::Problems;
use crate::read::read;

/// Who, where, in which database, how long (microseconds), rows examined, what.
type Row = (String, String, String, Option<u64>, Option<u64>, String);

fn entries(export: &[u8]) -> Vec<Row> {
    let format = Format::of(export).expect("it is an export");
    let whole = log_of(format, export, export.len());
    for size in [1, 7, 64] {
        let parts = log_of(format, export, size);
        assert_eq!(whole.escape_ascii().to_string(), parts.escape_ascii().to_string(), "{size}");
    }
    let (mut context, mut problems) = (Context::default(), Problems::default());
    let mut rows = Vec::new();
    read(&whole, &mut context, &mut problems, true, |entry| {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        rows.push((
            text(entry.user),
            text(entry.host),
            text(entry.database),
            entry.values.get(crate::attribute::Attribute::QueryTime),
            entry.values.get(crate::attribute::Attribute::RowsExamined),
            text(entry.statement),
        ));
        assert_eq!(entry.time, Some(1_795_316_400_123_456));
    });
    assert!(problems.is_empty(), "{problems:?}\n{}", whole.escape_ascii());
    rows
}

fn log_of(format: Format, export: &[u8], size: usize) -> Vec<u8> {
    let (mut importer, mut log) = (Importer::new(format), Vec::new());
    for part in export.chunks(size) {
        importer.feed(part, false, &mut log);
    }
    importer.feed(b"", true, &mut log);
    log
}

fn entry(user: &str, examined: u64, statement: &str) -> Row {
    let text = str::to_owned;
    (text(user), text("web1"), text("shop"), Some(2_000_000), Some(examined), text(statement))
}

const EVENT: &str = "# Time: 2026-11-22T03:00:00.123456Z\n\
    # User@Host: app[app] @ web1 [10.0.0.1]  Id:     8\n\
    # Query_time: 2.000000  Lock_time: 0.000000 Rows_sent: 1  Rows_examined: 7\n\
    use shop;\nSELECT \"a\tb\"\n FROM t;";

const ROWS: [(&str, u64, &str); 2] =
    [("app", 7, "SELECT 'it''s', \"x\\n\"\n FROM t"), ("cron", 9, "delete from t")];

fn expected_rows() -> Vec<Row> {
    ROWS.iter().map(|(user, examined, statement)| entry(user, *examined, statement)).collect()
}

#[test]
fn events_of_cloudwatch_are_read_in_json_of_each_command() {
    let message = serde_json::to_string(EVENT).unwrap();
    for json in [
        format!(
            "{{\"events\": [{{\"timestamp\": 1795316400123, \"message\": {message}, \
             \"ingestionTime\": 1}}], \"nextForwardToken\": \"f/1\"}}"
        ),
        format!(
            "{{\n  \"searchedLogStreams\": [],\n  \"events\": [\n    {{\n \"logStreamName\": \"db\\\"1\",\n \
             \"message\" : {message},\n \"eventId\": \"3\"\n}}]\n}}\n"
        ),
        format!(
            "{{\"results\": [[{{\"field\": \"@timestamp\", \"value\": \"2026\"}}, \
             {{\"field\": \"@message\", \"value\": {message}}}, {{\"field\": \"@ptr\", \"value\": \"x\"}}]]}}"
        ),
        format!("{{\"timestamp\":1,\"message\":{message}}}\n"),
    ] {
        assert_eq!(
            entries(json.as_bytes()),
            [entry("app", 7, "SELECT \"a\tb\"\n FROM t")],
            "{json}"
        );
    }
}

#[test]
fn events_are_read_in_csv_and_in_lines_with_a_time_in_front() {
    let quoted = EVENT.replace('"', "\"\"");
    let lines = EVENT.replace("# Time", "2026-11-22T03:00:00.123000+00:00 db1-stream # Time");
    for export in [
        format!("timestamp,message\n1795316400123,\"{quoted}\"\n"),
        format!("\u{FEFF}@timestamp,@message,@logStream\r\n2026,\"{quoted}\",db1\r\n"),
        format!("{lines}\n"),
        EVENT.replace("# Time", "2026-11-22T03:00:00 # Time"),
        EVENT.replace("# Time", "2026-11-22T03:00:00.123Z # Time"),
        lines.replace("\nuse", "\n2026-11-22T03:00:00.123000+00:00 db1-stream use"),
    ] {
        assert_eq!(
            entries(export.as_bytes()),
            [entry("app", 7, "SELECT \"a\tb\"\n FROM t")],
            "{export}"
        );
    }
}

#[test]
fn rows_of_the_table_are_read_from_the_file_of_its_engine() {
    let row = |user: &str, examined: u64, statement: &str| {
        let statement = statement.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
        format!(
            "\"2026-11-22 03:00:00.123456\",\"{user}[{user}] @ web1 []\",\"00:00:02.000000\",\
             \"00:00:00.000000\",1,{examined},\"shop\",0,0,1,\"{statement}\",12\n"
        )
    };
    let file: String =
        ROWS.iter().map(|(user, examined, text)| row(user, *examined, text)).collect();
    assert_eq!(entries(file.as_bytes()), expected_rows());
}

#[test]
fn rows_of_the_table_are_read_from_the_client_with_and_without_names() {
    let row = |user: &str, examined: u64, statement: &str| {
        let statement = statement.replace('\\', "\\\\").replace('\n', "\\n").replace('\t', "\\t");
        format!(
            "2026-11-22 03:00:00.123456\t{user}[{user}] @ web1 []\t00:00:02.000000\t00:00:00\t1\t\
             {examined}\tshop\t0\t0\t1\t{statement}\t12\t0\n"
        )
    };
    let rows: String =
        ROWS.iter().map(|(user, examined, text)| row(user, *examined, text)).collect();
    assert_eq!(entries(rows.as_bytes()), expected_rows());
    let names = "start_time\tuser_host\tquery_time\tlock_time\trows_sent\trows_examined\tdb\t\
        last_insert_id\tinsert_id\tserver_id\tsql_text\tthread_id\trows_affected\n";
    assert_eq!(entries(format!("{names}{rows}").as_bytes()), expected_rows());
    let few = "sql_text\tstart_time\tquery_time\tuser_host\tdb\trows_examined\n\
        delete from t\t2026-11-22 03:00:00.123456\t00:00:02\tcron[cron] @ web1 []\tshop\t9\n";
    assert_eq!(entries(few.as_bytes()), [entry("cron", 9, "delete from t")]);
}

#[test]
fn rows_of_the_table_are_read_from_a_dump() {
    let row = |user: &str, examined: u64, text: String| {
        format!(
            "('2026-11-22 03:00:00.123456','{user}[{user}] @ web1 []','00:00:02.000000','00:00:00.000000',\
             1,{examined},'shop',0,0,1,{text},12)"
        )
    };
    let escaped = |text: &str| {
        let text = text.replace('\\', "\\\\").replace('\'', "\\'").replace('"', "\\\"");
        text.replace('\n', "\\n")
    };
    let hexed =
        |text: &str| text.bytes().fold("0x".to_owned(), |hex, byte| format!("{hex}{byte:02X}"));
    for (names, quoted) in [
        ("", [0, 1].map(|at| format!("'{}'", escaped(ROWS[at].2)))),
        ("", [0, 1].map(|at| format!("_binary '{}'", escaped(ROWS[at].2)))),
        (
            " (`start_time`, `user_host`, `query_time`, `lock_time`, `rows_sent`, `rows_examined`, `db`, \
             `last_insert_id`, `insert_id`, `server_id`, `sql_text`, `thread_id`)",
            [0, 1].map(|at| hexed(ROWS[at].2)),
        ),
    ] {
        let [first, second] = quoted;
        let dump = format!(
            "-- MySQL dump 10.13\n\nCREATE TABLE `slow_log` (x int);\n\
             INSERT INTO `other` VALUES (1,'(');\nINSERT INTO `slow_log`{names} VALUES {},{};\n\
             UNLOCK TABLES;\n",
            row(ROWS[0].0, ROWS[0].1, first),
            row(ROWS[1].0, ROWS[1].1, second),
        );
        let dump = dump.replace("INSERT INTO `other` VALUES (1,'(');\n", "");
        assert_eq!(entries(dump.as_bytes()), expected_rows(), "{dump}");
    }
}

#[test]
fn what_is_no_export_is_left_alone() {
    for text in [
        EVENT,
        "{\"format\":1,\"sources\":[]}",
        "{ \"prio\" : 3, \"err_code\" : 1, \"msg\" : \"x\" }",
        "-- MySQL dump\nINSERT INTO `orders` VALUES (1);\n",
        "id,message\n",
        "2026-11-22T03:00:00.123456Z 0 [System] [MY-010116] starting",
        "",
    ] {
        assert_eq!(Format::of(text.as_bytes()), None, "{text}");
    }
}
