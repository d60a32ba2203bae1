//! What is wrong with a program, and at which key.

use std::fmt;

use crate::failure::{Fatal, FatalCode};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    path: String,
    reason: String,
}

impl Fault {
    pub fn new(reason: impl Into<String>) -> Self {
        Self { path: String::new(), reason: reason.into() }
    }

    /// Puts the key of the object, or the `[number]` of the list, that holds the wrong place in
    /// front of its path.
    pub fn within(self, key: &str) -> Self {
        let joint = if self.path.is_empty() || self.path.starts_with('[') { "" } else { "." };
        Self { path: format!("{key}{joint}{}", self.path), reason: self.reason }
    }

    pub fn into_fatal(self) -> Fatal {
        Fatal::new(FatalCode::BadJob, self.to_string())
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}", self.path, self.reason)
    }
}

/// Names the place of an error on its way out.
pub trait At: Sized {
    fn key(self, key: &str) -> Self;

    fn index(self, index: usize) -> Self {
        self.key(&format!("[{index}]"))
    }
}

impl<T> At for Result<T, Fault> {
    fn key(self, key: &str) -> Self {
        self.map_err(|fault| fault.within(key))
    }
}

pub fn fault<T>(reason: impl Into<String>) -> Result<T, Fault> {
    Err(Fault::new(reason))
}

pub fn not_empty(text: &str) -> Result<(), Fault> {
    if text.trim().is_empty() {
        return fault("is empty");
    }
    Ok(())
}
