//! What a test program talks to: one connection to a server, opened and closed at will.

use std::time::Duration;

use crate::admin::Admin;
use crate::os::address::Address;
use crate::protocol::handshake::Login;
use crate::protocol::{ServerError, code, length_encoded};

/// How a statement should end, where the program knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expected<'a> {
    Anything,
    Rows(u64),
    /// One row whose first column is this text.
    Value(&'a str),
    /// One row whose first column is this many bytes long.
    Length(u64),
    /// The server's error of this code.
    Error(u16),
}

/// What a statement gave.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// Rows returned or changed.
    pub rows: u64,
    /// Length in bytes of the first column of the last row.
    pub first_length: u64,
    /// The first column of the last row, when it is short.
    pub first: String,
}

/// A server, or what stands for one: `expected` lets a stand-in answer as a server would.
pub trait Link {
    fn open(&mut self) -> Result<(), ServerError>;

    fn close(&mut self);

    /// Runs a statement, which fails when the connection is not open.
    fn run(&mut self, sql: &str, expected: &Expected<'_>) -> Result<Answer, ServerError>;

    /// The server's number of the connection, by which a statement that still runs can be ended.
    fn connection_id(&self) -> Option<u32>;
}

/// A real server.
pub struct ServerLink {
    pub address: Address,
    pub login: Login,
    /// How long an answer may take.
    pub answer_limit: Duration,
    pub admin: Option<Admin>,
}

/// Longer values are not kept.
const SHORT: usize = 64;

impl Link for ServerLink {
    fn open(&mut self) -> Result<(), ServerError> {
        self.admin = None;
        self.admin = Some(Admin::connect(&self.address, &self.login, self.answer_limit)?);
        Ok(())
    }

    fn close(&mut self) {
        self.admin = None;
    }

    fn run(&mut self, sql: &str, _: &Expected<'_>) -> Result<Answer, ServerError> {
        let Some(admin) = self.admin.as_mut() else {
            return Err(ServerError::new(code::SERVER_GONE, "the connection is closed"));
        };
        let mut answer = Answer::default();
        answer.rows = admin.fetch(sql.as_bytes(), |row| {
            let (length, rest) = length_encoded(row).unwrap_or((0, &[]));
            answer.first_length = length;
            answer.first.clear();
            if let Some(text) = rest.get(..length as usize)
                && text.len() <= SHORT
            {
                answer.first.push_str(&String::from_utf8_lossy(text));
            }
        })?;
        Ok(answer)
    }

    fn connection_id(&self) -> Option<u32> {
        self.admin.as_ref().map(|admin| admin.session().connection_id)
    }
}
