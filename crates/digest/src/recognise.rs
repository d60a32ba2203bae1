//! What a file is, recognized by how it begins: a slow log, or something else that lies about on a database server.

mod magic;
mod text;

use memchr::memmem;

pub use text::is_slow_log_row;

use crate::banner;
use crate::line::{BYTE_ORDER_MARK, is_header};

/// Bytes of a file's beginning that are enough to decide.
pub const LOOKED_AT: usize = 64 * 1024;

/// What [`recognise`] came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Recognised {
    SlowLog,
    /// What it is instead, and what reads it: `a binary log: mysqlbinlog reads it`.
    Other(String),
    /// Nothing speaks for anything: no more than the server's banner, or the middle of a very long statement.
    Unclear,
}

/// Looks at the first [`LOOKED_AT`] bytes of a file, uncompressed, or at all of a shorter one.
pub fn recognise(head: &[u8]) -> Recognised {
    let head = &head[..head.len().min(LOOKED_AT)];
    if let Some(what) = magic::named(head) {
        return Recognised::Other(what.into());
    }
    let head = head.strip_prefix(BYTE_ORDER_MARK).unwrap_or(head);
    // General logs have the same banner, and may hold statements that quote a slow log.
    let behind_banner = banner::behind(head);
    if behind_banner.is_some_and(text::is_general_log) {
        return Recognised::Other(text::GENERAL_LOG.into());
    }
    if is_header(head) || memmem::find_iter(head, b"\n#").any(|at| is_header(&head[at + 1..])) {
        return Recognised::SlowLog;
    }
    if let Some(what) = text::named(head) {
        return Recognised::Other(what.into());
    }
    if magic::is_binary(head) {
        return Recognised::Other("binary data of a kind that is not known here".into());
    }
    if head.len() == LOOKED_AT || behind_banner.is_some() {
        return Recognised::Unclear;
    }
    Recognised::Other("text without a line that begins an entry of a slow log".into())
}

/// Whether it is a general log, which has every statement but no times of theirs.
pub fn is_general_log(head: &[u8]) -> bool {
    text::is_general_log(banner::behind(head).unwrap_or(head))
}

/// The server that wrote the log, as its banner has it: `8.0.36 (MySQL Community Server - GPL)`.
pub fn server(head: &[u8]) -> Option<String> {
    banner::server(head)
}
