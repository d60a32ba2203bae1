//! What the connections do: events made of statements, compiled once from the job's program.

mod arithmetic;
mod compile;
mod dictionaries;
mod expression;
mod fault;
mod fold;
mod instruction;
mod operators;
mod pattern;
mod permutation;
mod program;
mod rows;
mod scope;
mod signatures;
mod statements;
mod tables;
mod texts;
mod unique;
mod value;

#[cfg(test)]
mod tests;

use crate::protocol::template::Template;
use crate::protocol::values::Values;
use crate::random::Random;

pub use crate::job::program::{Check, Open, ReadRow};
pub use crate::protocol::capture::{MOST_READ, Read};
pub use compile::compile;
pub use program::{Cursor, Program};
pub use rows::Rows;
pub use signatures::operators;
pub use value::Literal;

/// One SQL statement, and what the load must know of it.
#[derive(Clone, Debug)]
pub struct Statement {
    /// Index into [`Workload::kinds`].
    pub kind: usize,
    pub template: Template,
    /// What of its result the program wants back.
    pub read: Option<Read>,
    /// This error is success; any other outcome is an error.
    pub expect_error: Option<u16>,
    /// The client does not fetch a result set of it, which stands in the way of what is sent next.
    pub unread: bool,
    pub boundary: Boundary,
    pub class: Class,
}

/// What a statement does, as sysbench counts it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Class {
    Read,
    Write,
    #[default]
    Other,
}

/// Whether a statement opens or ends a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Boundary {
    None,
    Begin,
    End,
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
    /// The event is over, and counts as the transaction of this number, if as any.
    End { counts: Option<usize> },
}

/// What follows from a result that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Captured {
    GoOn,
    /// A row was needed and there was none: the event is over.
    GiveUp,
}

/// How connections are opened, and what happens when something fails.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    pub open: Open,
    /// Open a lost connection again.
    pub reopen: bool,
    /// Errors after which the event starts again with new values.
    pub retry: Vec<u16>,
    /// Sent on each new connection after the login; not counted.
    pub session: Vec<String>,
}

/// Name under which the program's own reconnects are counted.
pub const CONNECT: &str = "connect";

/// A program of statements. An event is one transaction, or one round of a query barrel.
pub trait Workload: Send + Sync {
    /// Names under which statements are counted, in the order of the program.
    fn kinds(&self) -> &[&'static str];

    /// Names of the transactions, by their numbers.
    fn transactions(&self) -> &[&'static str];

    /// Every statement that an event may send.
    fn statements(&self) -> &[Statement];

    /// The place before the first event of a connection, numbered from 1, of so many in its phase.
    fn cursor(&self, connection: u32, connections: u32) -> Cursor;

    /// Goes on to the next action of the event and draws the values of a statement. Draws depend on
    /// `random`, on what the cursor remembers and on counters that connections share.
    fn next(&self, cursor: &mut Cursor, random: &mut Random, values: &mut Values) -> Action;

    /// Takes the columns that the last statement was to read, as text; no row when there was none.
    fn capture(&self, cursor: &mut Cursor, row: Option<&[Option<&[u8]>]>) -> Captured;

    /// Takes the cursor to the start of a new event.
    fn rewind(&self, cursor: &mut Cursor);

    /// Takes the cursor back to the start of the same event: the same transaction with new values.
    fn restart(&self, cursor: &mut Cursor);

    fn policy(&self) -> &Policy;

    /// Whether statements are prepared on the server and executed in the binary protocol.
    fn prepared(&self) -> bool;

    /// The tables that the statements need.
    fn tables(&self) -> Vec<Table<'_>>;

    /// Queries that return no row when the data are as they should be after the load.
    fn checks(&self) -> &[Check];
}

/// How to make and fill one table.
pub struct Table<'a> {
    pub name: &'a str,
    pub create: &'a str,
    /// Columns that the rows fill, in order.
    pub columns: &'a [String],
    pub count: u64,
    pub rows: Rows<'a>,
    /// Statements once the rows are in, such as making a secondary index.
    pub then: &'a [String],
}
