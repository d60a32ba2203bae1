//! Runs of the programs without a server: a link that counts statements and answers as expected.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::Hasher;
use std::rc::Rc;
use std::sync::mpsc::channel;

use mydyno_digest::fingerprint::{Id, id, text};

use super::bench::{Bench, Stop};
use super::cpu::Meter;
use super::link::{Answer, Expected, Link};
use super::record::Record;
use super::run::carry_out;
use crate::clock::Clock;
use crate::job::{SqlBenchJob, SqlBenchProgram};
use crate::protocol::ServerError;
use crate::report::messages::{Message, Operation};

/// No shape is longer.
const MOST_BYTES: usize = 1 << 16;

/// What one program did.
pub struct Dry {
    pub operations: Vec<Operation>,
    pub seen: Seen,
    /// Tables that were made and not dropped.
    pub left: Vec<String>,
}

/// What a server would have seen.
#[derive(Default)]
pub struct Seen {
    /// Statements by the server's name for them (`Com_*`).
    pub counts: BTreeMap<&'static str, u64>,
    pub connections: u64,
    /// What the statements look like without their literals, in the order of their first coming.
    pub shapes: Vec<Shape>,
    last_shape: Option<Id>,
    hasher: DefaultHasher,
}

/// Statements that differ in their literals alone.
pub struct Shape {
    id: Id,
    pub fingerprint: String,
    pub statements: u64,
    /// Uninterrupted sequences of them.
    pub stretches: u64,
}

impl Seen {
    fn note_shape(&mut self, sql: &str) {
        let id = id(sql.as_bytes());
        let follows = self.last_shape.replace(id) == Some(id);
        let shape = match self.shapes.iter_mut().find(|shape| shape.id == id) {
            Some(shape) => shape,
            None => {
                let fingerprint = text(sql.as_bytes(), MOST_BYTES).text;
                let fingerprint = String::from_utf8_lossy(&fingerprint).into_owned();
                self.shapes.push(Shape { id, fingerprint, statements: 0, stretches: 0 });
                self.shapes.last_mut().expect("it was pushed")
            }
        };
        shape.statements += 1;
        shape.stretches += u64::from(!follows);
    }
}

impl Dry {
    /// Tests that the suite's totals count.
    pub fn tests(&self) -> u64 {
        self.operations.iter().filter(|op| op.in_totals).map(|op| op.tests).sum()
    }

    /// Of every operation of this name: tests, statements, rows.
    pub fn of(&self, name: &str) -> Vec<(u64, u64, u64)> {
        let named = self.operations.iter().filter(|op| op.name == name);
        named.map(|op| (op.tests, op.statements, op.rows)).collect()
    }

    pub fn count(&self, kind: &str) -> u64 {
        self.seen.counts.get(kind).copied().unwrap_or(0)
    }

    /// A digest of every statement's bytes in their order.
    pub fn digest(&self) -> u64 {
        self.seen.hasher.finish()
    }
}

/// Runs a program with the options of this JSON text.
pub fn dry(program: SqlBenchProgram, options: &str) -> Dry {
    dry_of(program, options, 1, false)
}

pub fn dry_with_seed(program: SqlBenchProgram, options: &str, seed: u64) -> Dry {
    dry_of(program, options, seed, false)
}

/// The same with the statements' shapes, which a full run has too many statements for.
pub fn dry_with_shapes(program: SqlBenchProgram, options: &str) -> Dry {
    dry_of(program, options, 1, true)
}

fn dry_of(program: SqlBenchProgram, options: &str, seed: u64, with_shapes: bool) -> Dry {
    let job: SqlBenchJob = serde_json::from_str(options).unwrap();
    let seen = Rc::new(RefCell::new(Seen::default()));
    let clock = Clock::start();
    let (sender, receiver) = channel();
    let record = Record::new(0, program.name(), clock, u64::MAX);
    let link = Box::new(DryLink { seen: seen.clone(), with_shapes });
    let meter = Meter { server_pid: None };
    let mut bench = Bench::new(link, job.resolved(), seed, clock, meter, sender, record);
    let ended = carry_out(&mut bench, program, &mut super::record::Ending::default());
    assert_eq!(ended, Ok::<(), Stop>(()));
    let left = bench.tables_made().iter().cloned().collect();
    drop(bench);
    let operations = receiver.into_iter().filter_map(|message| match message {
        Message::Operation(operation) => Some(operation),
        _ => None,
    });
    let operations = operations.collect();
    Dry { operations, seen: Rc::into_inner(seen).unwrap().into_inner(), left }
}

struct DryLink {
    seen: Rc<RefCell<Seen>>,
    with_shapes: bool,
}

impl Link for DryLink {
    fn open(&mut self) -> Result<(), ServerError> {
        self.seen.borrow_mut().connections += 1;
        Ok(())
    }

    fn close(&mut self) {}

    fn run(&mut self, sql: &str, expected: &Expected<'_>) -> Result<Answer, ServerError> {
        let mut seen = self.seen.borrow_mut();
        if self.with_shapes {
            seen.note_shape(sql);
        }
        *seen.counts.entry(kind(sql)).or_default() += 1;
        seen.hasher.write(sql.as_bytes());
        let one = Answer { rows: 1, ..Answer::default() };
        match *expected {
            Expected::Anything => Ok(one),
            Expected::Rows(rows) => Ok(Answer { rows, ..one }),
            Expected::Value(value) => Ok(Answer { first: value.to_owned(), ..one }),
            Expected::Length(first_length) => Ok(Answer { first_length, ..one }),
            Expected::Error(code) => Err(ServerError::new(code, "as expected")),
        }
    }

    fn connection_id(&self) -> Option<u32> {
        None
    }
}

/// The server's name for a kind of statement.
fn kind(sql: &str) -> &'static str {
    const KINDS: [(&str, &str); 18] = [
        ("SELECT", "select"),
        ("INSERT INTO bench2 SELECT", "insert_select"),
        ("INSERT INTO bench3 SELECT", "insert_select"),
        ("INSERT", "insert"),
        ("LOAD", "load"),
        ("UPDATE", "update"),
        ("DELETE", "delete"),
        ("CREATE TABLE", "create_table"),
        ("DROP TABLE", "drop_table"),
        ("ALTER TABLE", "alter_table"),
        ("CREATE INDEX", "create_index"),
        ("DROP INDEX", "drop_index"),
        ("SET", "set_option"),
        ("COMMIT", "commit"),
        ("ROLLBACK", "rollback"),
        ("LOCK TABLES", "lock_tables"),
        ("UNLOCK TABLES", "unlock_tables"),
        ("OPTIMIZE TABLE", "optimize"),
    ];
    let found = KINDS.iter().find(|(start, _)| sql.starts_with(start));
    match found {
        Some((_, kind)) => kind,
        None if sql.starts_with("TRUNCATE") => "truncate",
        None if sql.starts_with("SHOW") => "show_status",
        None => panic!("a statement of an unknown kind: {sql}"),
    }
}
