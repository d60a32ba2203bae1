//! What is wrong with a trace, in words, and the way out.

use std::fmt;
use std::io;
use std::path::Path;

#[derive(Debug)]
pub enum Error {
    /// A file cannot be opened, read or written.
    Io { path: String, error: io::Error },
    /// It is something else: `a slow log`.
    NotATrace { path: String, what: String },
    /// A later mydyno wrote it.
    Newer { path: String, version: u32 },
    /// It ends before its footer.
    Torn { path: String, at: u64 },
    /// Its bytes are not those that were written.
    Damaged { path: String, at: u64, why: &'static str },
    /// The records given to a writer cannot be written.
    Order { why: String },
}

impl Error {
    pub(crate) fn io(path: &Path, error: io::Error) -> Self {
        Self::Io { path: path.display().to_string(), error }
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Io { error, .. } if error.kind() == io::ErrorKind::NotFound => {
                Some("mydyno capture --help shows how a trace is made")
            }
            Self::Io { .. } | Self::Order { .. } => None,
            Self::NotATrace { .. } => {
                Some("mydyno capture FILE --out FILE.trace makes a trace of a log")
            }
            Self::Newer { .. } => Some("read it with the mydyno that wrote it, or update this one"),
            Self::Torn { .. } => Some(
                "the file was cut, or its copying has not ended: copy it again; a capture gives a \
                 trace its name only when it is whole",
            ),
            Self::Damaged { .. } => Some("copy it again from where it was made, or capture again"),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { path, error } if error.kind() == io::ErrorKind::NotFound => {
                write!(out, "{path}: there is no such file")
            }
            Self::Io { path, error } => write!(out, "{path}: {error}"),
            Self::NotATrace { path, what } => write!(out, "{path} is no trace: it is {what}"),
            Self::Newer { path, version } => write!(
                out,
                "{path} is a trace of format {version}, and this mydyno reads formats up to {}",
                crate::header::FORMAT
            ),
            Self::Torn { path, at } => {
                write!(out, "{path} is a trace that ends in the middle, at byte {at}")
            }
            Self::Damaged { path, at, why } => {
                write!(out, "{path} is damaged at byte {at}: {why}")
            }
            Self::Order { why } => out.write_str(why),
        }
    }
}

impl std::error::Error for Error {}
