//! What the connections do: events made of statements, compiled once from the job.
//!
//! A new workload is one file that implements [`Workload`] and one line in [`compile`].

mod smack;
mod sysbench;

use std::sync::Arc;

use crate::job::WorkloadJob;
use crate::protocol::values::Values;
use crate::random::Random;

pub use crate::protocol::capture::{MOST_READ, Read, WhichRow};

/// Seed of the rows themselves. Fixed, so that a dataset is a function of the workload alone and
/// can be loaded once and cloned for trials with different seeds.
const ROWS_SEED: u64 = 0x6d79_6479_6e6f;

/// One SQL statement with `?` for parameters, and which kind it is counted under.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// Index into [`Workload::kinds`].
    pub kind: usize,
    pub sql: String,
    /// What the workload wants to know of the answer.
    pub read: Option<Read>,
    /// The error that counts as success.
    pub expect_error: Option<u16>,
    pub boundary: Boundary,
}

impl Statement {
    /// A statement that is neither read nor expected to fail.
    pub fn new(kind: usize, sql: impl Into<String>) -> Self {
        let sql = sql.into();
        let boundary = Boundary::of(&sql);
        Self { kind, sql, read: None, expect_error: None, boundary }
    }
}

/// What a statement does to the transaction of its connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Boundary {
    None,
    Begin,
    End,
}

impl Boundary {
    /// Judges by the first words, in capital or small letters.
    pub fn of(sql: &str) -> Self {
        let mut words = sql.split(|letter: char| !letter.is_ascii_alphanumeric());
        let mut next = || words.find(|word| !word.is_empty()).unwrap_or("").to_ascii_uppercase();
        match (next().as_str(), next().as_str()) {
            ("BEGIN", _) | ("START", "TRANSACTION") => Boundary::Begin,
            ("ROLLBACK", "TO") => Boundary::None,
            ("COMMIT" | "ROLLBACK", _) => Boundary::End,
            _ => Boundary::None,
        }
    }
}

/// How a workload treats its connections, and which errors it takes as part of its work.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    pub open: Open,
    /// A lost connection is opened again; else it stays closed.
    pub reopen: bool,
    /// Errors after which the event starts again with new values.
    pub retry: Vec<u16>,
    /// Statements that each new connection sends first; they are not counted.
    pub session: Vec<String>,
}

/// Errors that sysbench ignores: deadlock, lock wait timeout, row changed since it was read.
const SYSBENCH_RETRIES: [u16; 3] = [1213, 1205, 1020];

impl Policy {
    /// All connections opened before the clock starts, none opened again.
    pub fn retrying(errors: &[u16]) -> Self {
        Self { retry: errors.to_vec(), ..Self::default() }
    }
}

/// When connections are opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Open {
    /// All before the phase's clock starts.
    #[default]
    Phase,
    /// Each when its first event begins.
    Lazy,
    /// At the start of each event, and closed at its end.
    Event,
}

/// A query that must return no row once the load is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    pub name: String,
    pub sql: String,
}

/// Where a connection is in its event, and what it remembers from one statement to the next.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cursor {
    /// Statements of the event that were sent.
    pub step: usize,
    /// Table chosen for the group of statements under way (0-based).
    pub table: u32,
    /// Row that a DELETE removed and the next INSERT puts back.
    pub id: i32,
}

/// What a connection does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Send this statement, an index into [`Workload::statements`], with the values that were drawn.
    Send(usize),
    /// Rest for so many nanoseconds.
    Pause(u64),
    /// Close the connection and open it anew.
    Reconnect,
    /// The event is over; whether it counts as a transaction.
    End { counts: bool },
}

/// What follows from the row that a statement has read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Captured {
    GoOn,
    /// The row was needed and there is none: the event is given up.
    GiveUp,
}

/// A program of statements. An event is one transaction, or one round of a query barrel.
pub trait Workload: Send + Sync {
    /// Names under which statements are counted, in the order in which an event uses them.
    fn kinds(&self) -> &[&'static str];

    /// Every statement that an event may send.
    fn statements(&self) -> &[Statement];

    fn policy(&self) -> &Policy;

    /// A cursor for a connection, numbered from 1 within the `connections` of its phase.
    fn cursor(&self, connection: u32, connections: u32) -> Cursor;

    /// Goes on to the next action of the event and draws the values of a statement. Draws depend on
    /// `random` and on what the cursor remembers alone.
    fn next(&self, cursor: &mut Cursor, random: &mut Random, values: &mut Values) -> Action;

    /// Takes the row that the statement just sent was to read: its first columns, each `None` when it
    /// is NULL; `None` when there is no such row.
    fn capture(&self, cursor: &mut Cursor, row: Option<&[Option<&[u8]>]>) -> Captured {
        let _ = (cursor, row);
        Captured::GoOn
    }

    /// Takes the cursor back to the start of its event: a new event, or the same one again.
    fn rewind(&self, cursor: &mut Cursor);

    /// Whether statements are prepared on the server and executed in the binary protocol.
    fn prepared(&self) -> bool;

    /// The tables that the statements need.
    fn tables(&self) -> Vec<Table>;

    /// What must hold once the load is over.
    fn checks(&self) -> &[Check] {
        &[]
    }
}

/// Appends one row after the other.
pub type RowWriter = Box<dyn FnMut(&mut Vec<u8>)>;

/// How to make and fill one table.
pub struct Table {
    pub name: String,
    pub create: String,
    /// `INSERT INTO ... VALUES `, to be followed by rows.
    pub insert: String,
    pub rows: u64,
    /// Appends the next row, `(value, value)`.
    pub write_row: RowWriter,
    /// Statements once the rows are in, such as making a secondary index.
    pub finish: Vec<String>,
}

/// Compiles the job's workload.
pub fn compile(job: &WorkloadJob) -> Arc<dyn Workload> {
    match job {
        WorkloadJob::Smack(job) => Arc::new(smack::Smack::new(job)),
        WorkloadJob::Sysbench(job) => Arc::new(sysbench::Sysbench::new(job)),
        WorkloadJob::SqlBench(_) | WorkloadJob::Watch(_) => unreachable!("have runs of their own"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_of_a_transaction_are_known_by_their_first_words() {
        for (sql, boundary) in [
            ("BEGIN", Boundary::Begin),
            ("start transaction read only", Boundary::Begin),
            (" Commit;", Boundary::End),
            ("ROLLBACK", Boundary::End),
            ("ROLLBACK TO SAVEPOINT a", Boundary::None),
            ("START SLAVE", Boundary::None),
            ("SELECT begin FROM t", Boundary::None),
        ] {
            assert_eq!(Boundary::of(sql), boundary, "{sql}");
        }
    }
}
