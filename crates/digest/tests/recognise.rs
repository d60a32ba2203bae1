//! What is taken for a slow log, and what everything else is called.

use mydyno_digest::recognise::{LOOKED_AT, Recognised, recognise, server};

const BANNER: &str = "/usr/sbin/mysqld, Version: 8.0.36 (MySQL Community Server - GPL). started with:\n\
    Tcp port: 3306  Unix socket: /run/mysqld/mysqld.sock\n\
    Time                 Id Command    Argument\n";
const ENTRY: &str = "# Time: 2026-11-22T03:00:00.123456Z\n\
    # User@Host: app[app] @ localhost []  Id:     8\n\
    # Query_time: 1.5  Lock_time: 0.0 Rows_sent: 1  Rows_examined: 2\n\
    SET timestamp=1795316400;\nSELECT 1;\n";

fn named(head: &[u8]) -> String {
    match recognise(head) {
        Recognised::Other(what) => what,
        other => panic!("{other:?}: {}", head.escape_ascii()),
    }
}

#[test]
fn a_slow_log_is_one_with_a_banner_or_without_and_from_the_middle_of_an_entry_on() {
    for log in [
        ENTRY.to_string(),
        format!("{BANNER}{ENTRY}"),
        format!("\u{FEFF}{ENTRY}"),
        format!(" WHERE id = 7;\r\n{}", ENTRY.replace('\n', "\r\n")),
        format!("SELECT '\0\u{1}\u{2}';\n{ENTRY}"),
        "# Query_time: 1  Lock_time: 0  Rows_sent: 1  Rows_examined: 0\nSELECT 1;\n".into(),
    ] {
        assert_eq!(recognise(log.as_bytes()), Recognised::SlowLog, "{log}");
    }
}

#[test]
fn a_general_log_has_the_same_banner_and_is_distinguished() {
    let newer = format!(
        "{BANNER}2026-11-22T03:00:00.123456Z\t    8 Connect\troot@localhost on  using Socket\n"
    );
    let older = format!("{BANNER}261122  3:00:00\t    8 Query\tSELECT 1\n");
    let same_second = "\t\t    8 Init DB\tshop\n";
    let quoting = format!("{BANNER}2026-11-22T03:00:00.123456Z\t    8 Query\tSELECT '\n{ENTRY}'\n");
    for log in [&newer, &older, same_second, &quoting] {
        assert!(named(log.as_bytes()).starts_with("a general log"), "{log}");
    }
}

#[test]
fn an_error_log_is_named_in_every_format() {
    for line in [
        "261122  3:00:00 [Note] /usr/sbin/mysqld: ready for connections.\n",
        "261122 03:00:00 mysqld_safe Starting mysqld daemon with databases from /var/lib/mysql\n",
        "2026-11-22  3:00:00 0 [Note] InnoDB: Using Linux native AIO\n",
        "2026-11-22T03:00:00.123456Z 0 [System] [MY-010116] [Server] /usr/sbin/mysqld starting\n",
        "{ \"prio\" : 3, \"err_code\" : 10116, \"source_line\" : 6, \"msg\" : \"starting\" }\n",
    ] {
        assert!(named(line.as_bytes()).starts_with("an error log"), "{line}");
    }
}

#[test]
fn binary_logs_are_named_and_relay_logs_by_their_flag() {
    let mut log = b"\xFEbin".to_vec();
    log.extend([0; 40]);
    assert_eq!(named(&log), "a binary log: mysqlbinlog reads it");
    log[4 + 17] = 0x40;
    assert_eq!(
        named(&log),
        "a relay log, which is a binary log on a replica: mysqlbinlog reads it"
    );
    assert!(named(b"\xFEbin").starts_with("a binary log"));
    assert!(named(b"\xFDbin\0\0").starts_with("an encrypted binary log"));
}

#[test]
fn files_of_innodb_are_named() {
    let mut page = vec![0; 16 * 1024];
    page[25] = 8;
    page[34..42].copy_from_slice(&[0, 0, 0, 7, 0, 0, 0, 7]);
    assert!(named(&page).starts_with("a tablespace of InnoDB"));
    let mut redo = vec![0; 512];
    redo[3] = 6;
    redo[16..28].copy_from_slice(b"MySQL 8.0.36");
    assert!(named(&redo).starts_with("InnoDB's redo log"));
}

#[test]
fn other_texts_are_named_with_what_reads_them() {
    for (text, expected) in [
        ("-- MySQL dump 10.13  Distrib 8.0.36\n", "an SQL dump"),
        ("/*M!999999\\- enable the sandbox mode */ \n-- MariaDB dump\n", "an SQL dump"),
        ("DELIMITER /*!*/;\n# at 4\n", "what mysqlbinlog made"),
        ("\n# 390ms user time, 20ms system time\n# Overall: 3 total, 2 unique\n", "a report"),
        ("[mysqld]\nslow_query_log=1\n", "an option file"),
        ("{\"format\": 1}\n", "JSON"),
        ("Dear diary,\n# Time: to go\n", "text without a line"),
        ("", "empty"),
        ("\0\u{1}\u{2}\u{3}", "binary data"),
    ] {
        assert!(named(text.as_bytes()).starts_with(expected), "{text}: {}", named(text.as_bytes()));
    }
    let mut utf16 = b"\xFF\xFE".to_vec();
    utf16.extend(ENTRY.encode_utf16().flat_map(u16::to_le_bytes));
    assert!(named(&utf16).contains("iconv"));
}

#[test]
fn what_may_still_be_a_slow_log_is_unclear() {
    assert_eq!(recognise(BANNER.as_bytes()), Recognised::Unclear);
    assert_eq!(recognise(&b"(1, 'a'),\n".repeat(LOOKED_AT / 4)), Recognised::Unclear);
}

#[test]
fn the_server_is_read_off_the_banner() {
    assert_eq!(server(BANNER.as_bytes()).as_deref(), Some("8.0.36 (MySQL Community Server - GPL)"));
    assert_eq!(server(ENTRY.as_bytes()), None);
}
