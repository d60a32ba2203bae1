//! The ten selects with the rows that they must return, and the fourteen changes.

use super::data::{NAMES, Row};

/// The names under which the selects join the tables.
pub const ALIASES: [&str; 5] = ["tenk1 t", "tenk1 t1", "tenk1 t2", "Bprime B", "onek o"];

pub fn selects() -> Vec<(String, u64)> {
    let range = "SELECT * FROM tenk1 WHERE (unique2>301) AND (unique2<402)";
    vec![
        (range.to_owned(), 100),
        ("SELECT * FROM tenk1 WHERE (unique1>647) AND (unique1<1648)".to_owned(), 1000),
        ("SELECT * FROM tenk1 WHERE unique2=2001".to_owned(), 1),
        (range.to_owned(), 100),
        (
            format!(
                "SELECT t1.*,{} FROM tenk1 t1,tenk1 t2 \
                 WHERE (t1.unique2=t2.unique2) AND (t2.unique2<1000)",
                renamed("t2")
            ),
            1000,
        ),
        (
            format!("SELECT t.*,{} FROM tenk1 t,Bprime B WHERE t.unique2=B.unique2", renamed("B")),
            1000,
        ),
        (
            format!(
                "SELECT t1.*,{} FROM onek o,tenk1 t1,tenk1 t2 \
                 WHERE (o.unique2=t1.unique2) AND (t1.unique2=t2.unique2) \
                 AND (t1.unique2<1000) AND (t2.unique2<1000)",
                renamed("o")
            ),
            1000,
        ),
        ("SELECT two,four,ten,twenty,hundred,string4 FROM tenk1".to_owned(), 10_000),
        ("SELECT * FROM onek".to_owned(), 1000),
        ("SELECT MIN(unique2) AS x FROM tenk1".to_owned(), 1),
    ]
}

/// Each changes one row of tenk1. Rows that are added or moved get keys beyond those that are there.
pub fn changes() -> Vec<String> {
    let names = NAMES.join(",");
    let insert = |unique1: u64, unique2: u64| {
        let values = Row::of_tenk(unique1, unique2).values();
        format!("INSERT INTO tenk1 ({names}) VALUES {values}")
    };
    let delete = |key: u64| format!("DELETE FROM tenk1 WHERE tenk1.unique2={key}");
    let update =
        |key: u64, to: u64| format!("UPDATE tenk1 SET unique2={to} WHERE tenk1.unique2={key}");
    vec![
        insert(10_001, 74_001),
        insert(19_991, 60_001),
        delete(877),
        delete(876),
        update(1491, 10_001),
        update(1480, 10_023),
        insert(20_002, 70_002),
        insert(50_002, 40_002),
        delete(10_001),
        delete(900),
        update(187, 10_088),
        update(2000, 10_003),
        update(1974, 10_020),
        update(1140, 16_001),
    ]
}

/// All sixteen columns of a table, under names of their own.
fn renamed(table: &str) -> String {
    NAMES.map(|name| format!("{table}.{name} AS {table}{name}")).join(",")
}
