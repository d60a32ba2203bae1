//! The statements that servers write in front of the one that they log, so that it could be run again.

use crate::clock;
use crate::entry::Time;
use crate::line::line_end;
use crate::number::digits;

/// `use shop;` as servers write it in front of a statement: the database, and where the next line begins.
#[inline]
pub fn use_line(log: &[u8], at: usize) -> Option<(&[u8], usize)> {
    let rest = log[at..].strip_prefix(b"use ")?;
    let (end, next) = line_end(rest, 0);
    let name = rest[..end].strip_suffix(b";")?;
    let name = name.strip_prefix(b"`").and_then(|name| name.strip_suffix(b"`")).unwrap_or(name);
    (!name.is_empty()).then_some((name, at + 4 + next))
}

/// `SET last_insert_id=1,insert_id=2,timestamp=3;` as servers write it in front of a statement: the timestamp, if
/// it has one, and where the next line begins.
#[inline]
pub fn set_line(log: &[u8], at: usize) -> Option<(Option<Time>, usize)> {
    let rest = log[at..].strip_prefix(b"SET ")?;
    let mut timestamp = None;
    let mut place = 0;
    loop {
        let variable = VARIABLES.iter().find(|name| rest[place..].starts_with(name.as_bytes()))?;
        let (number, mut end) = digits(rest, place + variable.len());
        if end == place + variable.len() || end - place > variable.len() + 19 {
            return None;
        }
        if *variable == TIMESTAMP {
            let mut micros = i64::try_from(number).ok()?.checked_mul(1_000_000)?;
            if rest.get(end) == Some(&b'.') {
                let (fraction, fraction_end) = clock::fraction(rest, end);
                micros = micros.checked_add(fraction)?;
                end = fraction_end;
            }
            timestamp = Some(micros);
        }
        match rest.get(end) {
            Some(b',') => place = end + 1,
            Some(b';') => {
                let next = end_of_line(rest, end + 1)?;
                return Some((timestamp, at + 4 + next));
            }
            _ => return None,
        }
    }
}

/// Whether `text`, behind which a log ends, may be the beginning of one of these lines.
pub fn may_begin_one(text: &[u8]) -> bool {
    let text = text.trim_ascii();
    let begins = |whole: &[u8]| text.starts_with(whole) || whole.starts_with(text);
    !text.contains(&b'\n')
        && (begins(b"use ")
            || VARIABLES.iter().any(|name| begins(&[b"SET ", name.as_bytes()].concat())))
}

const TIMESTAMP: &str = "timestamp=";
const VARIABLES: [&str; 3] = [TIMESTAMP, "last_insert_id=", "insert_id="];

/// Where the next line begins, if the line ends here.
#[inline]
fn end_of_line(text: &[u8], at: usize) -> Option<usize> {
    match text.get(at) {
        None => Some(at),
        Some(b'\n') => Some(at + 1),
        Some(b'\r') if text.get(at + 1) == Some(&b'\n') => Some(at + 2),
        _ => None,
    }
}
