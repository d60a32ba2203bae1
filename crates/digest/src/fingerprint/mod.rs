//! What statements that differ in their literals have in common.
//!
//! A statement becomes tokens ([`lexer`]), runs of literals become one ([`reducer`]), and the tokens go into a
//! sink: [`id`] hashes them and keeps nothing, [`text`] writes them down. Both see the same tokens, so two
//! statements have the same id where their whole texts are the same, and the text is a fingerprint of itself.
//! docs/reference/digest-fingerprints.md says what is taken together, and where performance_schema and pt-query-digest
//! decide otherwise.

pub mod bytes;
pub mod comments;
pub mod effect;
mod hash;
mod keywords;
mod lexer;
pub mod literals;
mod naming;
mod reducer;
mod tables;
mod text;
mod token;

#[cfg(test)]
mod tests;

use std::fmt;

use crate::entry::{Entry, Kind};
use hash::Hash;
use lexer::Lexer;
pub use naming::TableName;
use naming::{Listing, Merging};
use text::Text;

/// The hash of a fingerprint: the same for the same fingerprint, anywhere and always.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id(pub u64);

impl fmt::Display for Id {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:016x}", self.0)
    }
}

/// A statement without its literals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fingerprint {
    pub text: Vec<u8>,
    /// Whether `text` shows the beginning only.
    pub is_cut: bool,
}

/// Whether tables whose names differ in a number or a hash only are one table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TableNames {
    #[default]
    Kept,
    Merged,
}

/// [`id`], with the names of tables as wanted.
#[inline]
pub fn id_with(statement: &[u8], names: TableNames) -> Id {
    match names {
        TableNames::Kept => id(statement),
        TableNames::Merged => {
            Id(Lexer::new(statement, Merging::new(Hash::new())).run().into_sink().finish())
        }
    }
}

/// [`text`], with the names of tables as wanted.
pub fn text_with(statement: &[u8], most_bytes: usize, names: TableNames) -> Fingerprint {
    match names {
        TableNames::Kept => text(statement, most_bytes),
        TableNames::Merged => {
            let sink = Merging::new(Text::new(most_bytes));
            Lexer::new(statement, sink).run().into_sink().finish()
        }
    }
}

/// The tables that a statement names, in alphabetical order, each once.
pub fn tables(statement: &[u8], names: TableNames) -> Vec<TableName> {
    Lexer::new(statement, Listing::new(names)).run().finish()
}

/// The id of a group that is not a fingerprint's: of a `kind` (user, host ...) and a name in it.
pub fn id_of_name(kind: u8, name: &[u8]) -> Id {
    Id(Hash::of_name(kind, name))
}

/// Whose fingerprint a statement has. Allocates nothing.
pub fn id(statement: &[u8]) -> Id {
    Id(Lexer::new(statement, Hash::new()).run().finish())
}

/// A statement's fingerprint, written down up to `most_bytes`.
pub fn text(statement: &[u8], most_bytes: usize) -> Fingerprint {
    Lexer::new(statement, Text::new(most_bytes)).run().finish()
}

/// An administrator command's name is its fingerprint, behind words that no statement begins with.
const COMMAND: &[u8] = b"administrator command: ";

/// The id of a statement or of an administrator command.
#[inline]
pub fn id_of(entry: &Entry, names: TableNames) -> Id {
    match entry.kind {
        Kind::Statement => id_with(entry.statement, names),
        Kind::AdministratorCommand => Id(Hash::of_command(entry.statement)),
    }
}

/// The fingerprint of a statement or of an administrator command.
pub fn text_of(entry: &Entry, most_bytes: usize, names: TableNames) -> Fingerprint {
    match entry.kind {
        Kind::Statement => text_with(entry.statement, most_bytes, names),
        Kind::AdministratorCommand => {
            let mut text = [COMMAND, entry.statement].concat();
            let is_cut = text.len() > most_bytes;
            text.truncate(most_bytes);
            Fingerprint { text, is_cut }
        }
    }
}
