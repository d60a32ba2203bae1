//! The ten selects with the rows that they must return, and the fourteen changes.

use super::data::{NAMES, Row};

/// Under LOCK TABLES, what is read under another name must be locked under it too.
pub const ALIASES: &str = "onek o READ,tenk1 t1 READ,tenk1 t2 READ";

pub fn selects() -> Vec<(String, u64)> {
    let range = "SELECT * FROM tenk1 WHERE unique2 BETWEEN 302 AND 401";
    let both = columns(&["t1", "t2"]);
    let two_tables = columns(&["tenk1", "Bprime"]);
    vec![
        (range.to_owned(), 100),
        ("SELECT * FROM tenk1 WHERE unique1 BETWEEN 648 AND 1647".to_owned(), 1000),
        ("SELECT * FROM tenk1 WHERE unique2=2001".to_owned(), 1),
        (range.to_owned(), 100),
        (
            format!(
                "SELECT {both} FROM tenk1 t1,tenk1 t2 \
                 WHERE t1.unique2=t2.unique2 AND t2.unique2<1000"
            ),
            1000,
        ),
        (format!("SELECT {two_tables} FROM tenk1,Bprime WHERE tenk1.unique2=Bprime.unique2"), 1000),
        (
            format!(
                "SELECT {both} FROM onek o,tenk1 t1,tenk1 t2 \
                 WHERE o.unique2=t1.unique2 AND t1.unique2=t2.unique2 \
                 AND t1.unique2<1000 AND t2.unique2<1000"
            ),
            1000,
        ),
        ("SELECT two,four,ten,twenty,hundred,string4 FROM tenk1".to_owned(), 10_000),
        ("SELECT * FROM onek".to_owned(), 1000),
        ("SELECT MIN(unique2) FROM tenk1".to_owned(), 1),
    ]
}

/// Each changes one row of tenk1. Rows that are added or moved get keys beyond those that are there.
pub fn changes() -> Vec<String> {
    let names = NAMES.join(",");
    let insert = |key: u64| {
        let values = Row::of_tenk(key, key).values();
        format!("INSERT INTO tenk1 ({names}) VALUES {values}")
    };
    let delete = |key: u64| format!("DELETE FROM tenk1 WHERE unique2={key}");
    let update = |key: u64, to: u64| format!("UPDATE tenk1 SET unique2={to} WHERE unique2={key}");
    vec![
        insert(10_010),
        insert(10_011),
        delete(877),
        delete(876),
        update(1491, 10_001),
        update(1480, 10_002),
        insert(10_012),
        insert(10_013),
        delete(10_001),
        delete(900),
        update(187, 10_187),
        update(2000, 12_000),
        update(1974, 11_974),
        update(1140, 11_140),
    ]
}

/// All sixteen columns of each table, under names of their own.
fn columns(tables: &[&str]) -> String {
    let of = |table: &&str| NAMES.map(|name| format!("{table}.{name} AS {table}_{name}"));
    tables.iter().flat_map(of).collect::<Vec<_>>().join(",")
}
