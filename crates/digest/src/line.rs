//! What a line of a log is, recognized by its first bytes alone.

use memchr::{memchr2, memchr2_iter};

use crate::clock;
use crate::key::{self, Key};
use crate::number::{self, ends};

/// Some editors of Windows begin files with it.
pub const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Whether a line with these first bytes begins with a known key and a value that can be its: such a line ends
/// a statement, whatever is around it. `text` goes on beyond the line.
#[inline]
pub fn is_header(text: &[u8]) -> bool {
    if text.starts_with(b"# Time: ") {
        return clock::is_like_one(&text[8..]) || stands_above_header(text);
    }
    if text.starts_with(b"# User@Host: ") {
        return tells_who(&text[13..]) || stands_above_header(text);
    }
    text.starts_with(b"# ") && is_other_header(text)
}

/// Whether the line below is a header's beyond doubt: then this one, whose value cannot be read, is that
/// header's first. A line that ends with a semicolon is a statement's last.
#[cold]
fn stands_above_header(text: &[u8]) -> bool {
    let (end, next) = line_end(text, 0);
    let below = &text[next..];
    let is_header = below
        .strip_prefix(b"# User@Host: ")
        .map_or_else(|| below.starts_with(b"# ") && is_other_header(below), tells_who);
    is_header && !text[..end].trim_ascii_end().ends_with(b";")
}

/// `user[user] @ host [address]`.
#[inline]
fn tells_who(text: &[u8]) -> bool {
    for at in memchr2_iter(b'@', b'\n', text) {
        if text[at] == b'\n' {
            return false;
        }
        if text[..at].ends_with(b" ") && text[at + 1..].starts_with(b" ") {
            return memchr2(b'[', b'\n', &text[at..]).is_some_and(|next| text[at + next] == b'[');
        }
    }
    false
}

fn is_other_header(text: &[u8]) -> bool {
    let begin = blank_end(text, 1);
    let Some((key, colon)) = key::read(text, begin) else { return false };
    let value = colon + 2;
    if text.get(colon + 1) != Some(&b' ') {
        return false;
    }
    let first = text.get(value).copied().unwrap_or(b'\n');
    match key {
        Key::Seconds(_) | Key::Milliseconds(_) | Key::Count(_) | Key::Code(_) => {
            first.is_ascii_digit() || first == b'-'
        }
        Key::Time => clock::is_like_one(&text[value..]),
        Key::YesNo(_) => matches!(first, b'Y' | b'N'),
        Key::Number => text[begin..].starts_with(b"Thread_id") && first.is_ascii_digit(),
        Key::UserHost => tells_who(&text[value..]),
        Key::Schema => true,
        // Start, End and explain may well begin a comment.
        Key::Word | Key::Line => [&b"InnoDB_"[..], b"Log_slow_", b"Stored_routine"]
            .iter()
            .any(|beginning| text[begin..].starts_with(beginning)),
    }
}

/// Whether such a line can stand in the middle of a header: it has a key, or is one of the few that have none.
#[inline]
pub fn may_be_header(text: &[u8]) -> bool {
    let begin = blank_end(text, 1);
    if matches!(text.get(begin), None | Some(b'\n')) {
        return true;
    }
    if begin == 1 {
        return false;
    }
    let rest = &text[begin..];
    key::colon(rest, 0).is_some_and(|colon| ends(rest, colon + 1)) || is_wordy(rest)
}

/// Percona's `No InnoDB statistics ...` and `Stored routine: ...`; MariaDB's `Warnings`, and below it
/// `Note   1003 message`.
#[cold]
fn is_wordy(rest: &[u8]) -> bool {
    if rest.starts_with(b"No InnoDB statistics") || rest.starts_with(b"Stored routine: ") {
        return true;
    }
    if rest.starts_with(b"Warnings") {
        return number::ends(rest, 8);
    }
    [&b"Note "[..], b"Warning ", b"Error "].iter().any(|level| {
        rest.strip_prefix(*level)
            .is_some_and(|rest| rest.get(blank_end(rest, 0)).is_some_and(u8::is_ascii_digit))
    })
}

/// Where a line names the database: `# Schema: shop`, `# Thread_id: 1  Schema: shop`. Nowhere else, so that it is
/// found again by how lines begin.
#[inline]
pub fn schema_at(line: &[u8]) -> Option<usize> {
    const SCHEMA: &[u8] = b"Schema: ";
    if line.starts_with(b"# Schema: ") {
        return Some(2 + SCHEMA.len());
    }
    let number = line.strip_prefix(b"# Thread_id: ")?;
    let end = line.len() - number.len() + number::digits(number, 0).1;
    let begin = blank_end(line, end);
    line[begin..].starts_with(SCHEMA).then_some(begin + SCHEMA.len())
}

/// The first place that is neither a blank nor a carriage return.
#[inline]
pub fn blank_end(text: &[u8], at: usize) -> usize {
    let mut end = at;
    while matches!(text.get(end), Some(b' ' | b'\r' | b'\t')) {
        end += 1;
    }
    end
}

/// Where the line ends without its end of line, and where the next begins.
#[inline]
pub fn line_end(log: &[u8], at: usize) -> (usize, usize) {
    match memchr::memchr(b'\n', &log[at..]) {
        Some(length) => {
            let end = at + length;
            (if length > 0 && log[end - 1] == b'\r' { end - 1 } else { end }, end + 1)
        }
        None => (log.len(), log.len()),
    }
}
