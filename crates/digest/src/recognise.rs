//! What a file is, told by how it begins: a slow log, or something else that lies about on a database server.

use memchr::memmem;

use crate::banner;
use crate::header::is_header;

/// What [`recognise`] came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Recognised {
    SlowLog,
    /// What it is instead, and what reads it.
    Other(String),
    /// Nothing speaks for anything, as when a log holds no more than the server's banner, or begins in the middle of
    /// a long statement.
    Unclear,
}

/// Looks at the first bytes of a file, uncompressed; 64 KiB are plenty.
pub fn recognise(head: &[u8]) -> Recognised {
    if let Some(what) = by_magic(head) {
        return Recognised::Other(what.into());
    }
    if has_header(head) {
        return Recognised::SlowLog;
    }
    match by_text(head) {
        Some(what) => Recognised::Other(what.into()),
        None => Recognised::Unclear,
    }
}

/// The server that wrote the log, as its banner has it: `8.0.36 (MySQL Community Server - GPL)`.
pub fn server(head: &[u8]) -> Option<String> {
    banner::server(head)
}

fn has_header(head: &[u8]) -> bool {
    let head = head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(head);
    is_header(head) || memmem::find_iter(head, b"\n#").any(|at| is_header(&head[at + 1..]))
}

fn by_magic(_head: &[u8]) -> Option<&'static str> {
    None
}

fn by_text(_head: &[u8]) -> Option<&'static str> {
    None
}
