//! What a trace is made of. Texts are bytes: nothing promises that they are UTF-8.

use std::sync::Arc;

/// A name that many records share.
pub type Name = Arc<[u8]>;

/// One record. `at_us` is its start instant in microseconds since the trace's start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    Opened(Opened),
    Statement(Statement),
    Closed(Closed),
}

/// A connection begins. Connections are numbered from 0 in the order in which they open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opened {
    pub connection: u32,
    pub at_us: u64,
    /// What the server called it; None where the source has no such number.
    pub server_id: Option<u64>,
    /// Empty where it is not known.
    pub user: Name,
    /// The database that it began in; empty for none.
    pub schema: Name,
}

/// One statement. What the source does not say is None, which is not 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    pub connection: u32,
    pub at_us: u64,
    pub duration_us: Option<u64>,
    /// The current database of the connection; empty for none.
    pub schema: Name,
    /// Without a semicolon at its end; never empty.
    pub sql: Vec<u8>,
    pub rows_sent: Option<u64>,
    pub rows_examined: Option<u64>,
    pub rows_affected: Option<u64>,
    /// The number of the server's error; 0 when it is known that there was none.
    pub error: Option<u16>,
    /// Whether it was the execution of a prepared statement, whose values stand in `sql`.
    pub prepared: bool,
}

/// A connection ends. One without such a record was still open when the trace ended, or its source does not
/// show ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Closed {
    pub connection: u32,
    pub at_us: u64,
}

impl Record {
    pub fn at_us(&self) -> u64 {
        match self {
            Self::Opened(opened) => opened.at_us,
            Self::Statement(statement) => statement.at_us,
            Self::Closed(closed) => closed.at_us,
        }
    }

    pub fn connection(&self) -> u32 {
        match self {
            Self::Opened(opened) => opened.connection,
            Self::Statement(statement) => statement.connection,
            Self::Closed(closed) => closed.connection,
        }
    }

    /// The same record of another connection at another instant.
    #[must_use]
    pub fn moved(mut self, connection: u32, at_us: u64) -> Self {
        let (number, at) = match &mut self {
            Self::Opened(opened) => (&mut opened.connection, &mut opened.at_us),
            Self::Statement(statement) => (&mut statement.connection, &mut statement.at_us),
            Self::Closed(closed) => (&mut closed.connection, &mut closed.at_us),
        };
        (*number, *at) = (connection, at_us);
        self
    }
}
