//! What grouping costs an entry: `cargo run --release --example grouping_speed`.

use std::fs;

use mydyno_digest::attribute::Attribute;
use mydyno_digest::entry::{Entry, Kind, Values};
use mydyno_digest::fingerprint;
use mydyno_digest::groups::Groups;

const STATEMENTS: usize = 1_000_000;
const USERS: [&str; 4] = ["shop", "billing", "cron", "report"];

const LONG_BYTES: usize = 100_000_000;
/// What it is, how it begins, what it repeats, how it ends.
const LONG: [(&str, &str, &str, &str); 7] = [
    ("a string", "select '", "x", "'"),
    ("a list", "select a from t where b in (", "12345,", "1)"),
    ("rows", "insert into t values (1, 'a')", ",(12345,'some text')", ""),
    ("words", "select ", "column_a, ", "b"),
    ("signs", "select ", "- ", "b"),
    ("quotes", "", "'", ""),
    ("brackets", "", "(", ""),
];

/// Statements of a dozen kinds in an order that nothing can foresee.
fn statements() -> Vec<String> {
    let mut state = 42_u64;
    let mut random = |below: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    (0..STATEMENTS)
        .map(|_| {
            let (kind, number, other) = (random(12), random(1_000_000), random(100_000));
            match kind {
                0 => format!("SELECT c FROM sbtest{} WHERE id={number}", other % 8),
                1 => format!("SELECT c FROM sbtest1 WHERE id BETWEEN {number} AND {other} ORDER BY c"),
                2 => format!("UPDATE accounts SET balance = balance - {other}.25, changed = '2026-11-22 03:{}:00' WHERE account_id = {number} AND version = {other}", other % 60),
                3 => format!("INSERT INTO `orders` (`customer_id`,`total`,`state`,`note`,`created_at`) VALUES ({number},{other}.99,'new','please call {other}',NOW())"),
                4 => format!("SELECT o.id, o.total, c.name FROM orders o JOIN customers c ON c.id = o.customer_id WHERE o.state IN ('new','paid','sent') AND o.created_at > '2026-11-{:02}' AND c.country = 'DE' ORDER BY o.created_at DESC LIMIT {}", other % 28, other % 100),
                5 => format!("SELECT `users`.* FROM `users` WHERE `users`.`email` = 'user{number}@example.com' LIMIT 1"),
                6 => format!("DELETE FROM sessions WHERE expires < '2026-11-22 {:02}:00:00' LIMIT 1000", other % 24),
                7 => format!("SELECT COUNT(*) FROM events WHERE kind = {} AND payload LIKE '%{other}%'", other % 9),
                8 => format!("SELECT product_id, SUM(quantity) FROM lines WHERE order_id IN ({number},{other},{},{},{}) GROUP BY product_id HAVING SUM(quantity) > 5", number / 2, number / 3, number / 5),
                9 => "COMMIT".to_owned(),
                10 => format!("SET @last = {number}"),
                _ => format!("SELECT DISTINCT c FROM sbtest2 WHERE id BETWEEN {number} AND {other} + 99 ORDER BY c /* page {other} */"),
            }
        })
        .collect()
}

/// Time that this process has had a CPU for, in nanoseconds (Linux, proc(5)): others do not disturb it much.
fn cpu_ns() -> u64 {
    let times = fs::read_to_string("/proc/thread-self/schedstat").expect("Linux has it");
    times.split_whitespace().next().and_then(|word| word.parse().ok()).expect("a number")
}

fn print(what: &str, bytes: usize, took_ns: u64) {
    let each = took_ns as f64 / STATEMENTS as f64;
    println!("{what}: {each:.1} ns a statement, {:.2} GB/s", bytes as f64 / took_ns as f64);
}

fn main() {
    let statements = statements();
    let bytes: usize = statements.iter().map(String::len).sum();
    println!("{} bytes a statement", bytes / STATEMENTS);

    let start = cpu_ns();
    let sum = statements.iter().fold(0_u64, |sum, text| sum ^ fingerprint::id(text.as_bytes()).0);
    print("id", bytes, cpu_ns() - start);

    let mut groups = Groups::default();
    let start = cpu_ns();
    for (number, statement) in statements.iter().enumerate() {
        let number = number as u64;
        let mut values = Values::default();
        values.set(Attribute::QueryTime, number * 7919 % 1_000_003);
        values.set(Attribute::LockTime, number % 50);
        values.set(Attribute::RowsSent, number % 10);
        values.set(Attribute::RowsExamined, number * 31 % 10_007);
        let entry = Entry {
            at: number * 300,
            line: number * 6 + 1,
            time: Some(1_700_000_000_000_000 + number as i64 * 1000),
            user: USERS[number as usize * 31 % 97 % 4].as_bytes(),
            host: b"10.0.0.1",
            database: b"shop",
            values: &values,
            kind: Kind::Statement,
            statement: statement.as_bytes(),
            error: 0,
            raw: Default::default(),
            beyond: 0,
        };
        groups.add(&entry, 0);
    }
    print("grouping", bytes, cpu_ns() - start);
    println!("ids come to {sum:016x}");

    for (what, first, piece, last) in LONG {
        let statement = [first, &piece.repeat(LONG_BYTES / piece.len()), last].concat();
        let start = cpu_ns();
        let id = fingerprint::id(statement.as_bytes());
        println!("100 MB of {what}: {:.2} s ({id})", (cpu_ns() - start) as f64 / 1e9);
    }
}
