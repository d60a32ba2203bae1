//! What the connections do: events made of statements, compiled once from the job.
//!
//! A new workload is one file that implements [`Workload`] and one line in [`compile`].

mod smack;
mod sysbench;

use std::sync::Arc;

use crate::job::WorkloadJob;
use crate::protocol::values::Values;
use crate::random::Random;

/// Seed of the rows themselves. Fixed, so that a dataset is a function of the workload alone and
/// can be loaded once and cloned for trials with different seeds.
const ROWS_SEED: u64 = 0x6d79_6479_6e6f;

/// One SQL statement with `?` for parameters, and which kind it is counted under.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// Index into [`Workload::kinds`].
    pub kind: usize,
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
    /// The event is over.
    End,
}

/// A program of statements. An event is one transaction, or one round of a query barrel.
pub trait Workload: Send + Sync {
    /// Names under which statements are counted, in the order in which an event uses them.
    fn kinds(&self) -> &[&'static str];

    /// Every statement that an event may send.
    fn statements(&self) -> &[Statement];

    /// Whether an event opens with BEGIN, so that a failed one must be rolled back.
    fn transactional(&self) -> bool;

    /// Goes on to the next action of the event and draws the values of a statement. Draws depend on
    /// `random` and on what the cursor remembers alone.
    fn next(&self, cursor: &mut Cursor, random: &mut Random, values: &mut Values) -> Action;

    /// Takes the cursor back to the start of its event: a new event, or the same one again.
    fn rewind(&self, cursor: &mut Cursor);

    /// Whether statements are prepared on the server and executed in the binary protocol.
    fn prepared(&self) -> bool;

    /// The tables that the statements need.
    fn tables(&self) -> Vec<Table>;
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
        WorkloadJob::SqlBench(_) => unreachable!("sql-bench has a run of its own"),
    }
}
