//! What ends a run before its time, in the words of the `fatal` message.

use std::fmt;

use serde::Serialize;

/// Which part failed; the spelling is part of the message format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FatalCode {
    /// The job cannot be understood or cannot be carried out as written.
    BadJob,
    /// The server cannot be reached.
    Connect,
    /// The server refused the user or the password.
    Auth,
    /// The server refused a statement of the preparation.
    Sql,
    /// A table that mydyno did not make is in the way.
    NotOurs,
    /// A table has other columns than wanted.
    BadTable,
    /// The engine or the operating system failed.
    Internal,
}

impl FatalCode {
    /// Exit status of the process: 2 for a job that must be changed, 3 for everything else.
    pub fn exit_status(self) -> u8 {
        match self {
            FatalCode::BadJob => 2,
            _ => 3,
        }
    }
}

/// A reason to stop at once, with advice on its own line where there is any.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fatal {
    pub code: FatalCode,
    pub message: String,
    pub hint: Option<String>,
}

impl Fatal {
    pub fn new(code: FatalCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), hint: None }
    }

    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for Fatal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.message)?;
        match &self.hint {
            Some(hint) => write!(out, "\nhint: {hint}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Fatal {}
