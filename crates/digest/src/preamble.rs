//! The statements that servers write in front of the one that they log, so that it could be run again.

use memchr::memchr;

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
        let equals = place + memchr(b'=', &rest[place..rest.len().min(place + 16)])?;
        let (number, mut end) = digits(rest, equals + 1);
        if end == equals + 1 || end - equals > 20 {
            return None;
        }
        match &rest[place..equals] {
            b"timestamp" => {
                let mut micros = i64::try_from(number).ok()?.checked_mul(1_000_000)?;
                if rest.get(end) == Some(&b'.') {
                    let (fraction, fraction_end) = clock::fraction(rest, end);
                    micros = micros.checked_add(fraction)?;
                    end = fraction_end;
                }
                timestamp = Some(micros);
            }
            b"insert_id" | b"last_insert_id" => (),
            _ => return None,
        }
        place = end + 1;
        match rest.get(end) {
            Some(b',') => (),
            Some(b';') => {
                let (line, next) = line_end(rest, place);
                return (line == place).then_some((timestamp, at + 4 + next));
            }
            _ => return None,
        }
    }
}
