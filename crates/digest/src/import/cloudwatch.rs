//! Exports of CloudWatch Logs, where the slow logs of Amazon RDS and Aurora go: an event holds an entry, which is
//! its message.
//!
//! Sources: the AWS CLI's reference on `logs get-log-events`, `filter-log-events`, `get-query-results` and
//! `tail`, and CloudWatch's user guide on exports.

use memchr::{memchr, memmem};

use crate::number::digits;

const MESSAGE: [&[u8]; 2] = [b"message", b"@message"];

/// Whether a text that begins like this is JSON with events, even without any.
pub fn is_json(head: &[u8]) -> bool {
    const LISTS: [&[u8]; 4] = [b"\"events\"", b"\"logEvents\"", b"\"results\"", b"\"timestamp\""];
    const OTHERS: [&[u8]; 4] =
        [b"\"message\"", b"\"@message\"", b"Token\"", b"\"searchedLogStreams\""];
    let has = |any: &[&[u8]]| any.iter().any(|what| memmem::find(head, what).is_some());
    matches!(head.first(), Some(b'{' | b'[')) && has(&LISTS) && has(&OTHERS)
}

/// Which column of a CSV with this first line holds messages.
pub fn message_column(line: &[u8]) -> Option<usize> {
    let (fields, _) = csv_record(line, true)?;
    let is_time = |field: &Vec<u8>| matches!(&field[..], b"timestamp" | b"@timestamp");
    let column = fields.iter().position(|field| MESSAGE.contains(&&field[..]))?;
    (fields.iter().any(is_time) || fields.len() == 1).then_some(column)
}

/// Takes the strings out that are messages, wherever in the JSON they stand.
#[derive(Default)]
pub struct Json {
    /// The name of the field whose value comes next (`get-query-results`).
    is_message: bool,
}

impl Json {
    pub fn record(&mut self, text: &[u8], is_end: bool, log: &mut Vec<u8>) -> Option<usize> {
        let begin = match memchr(b'"', text) {
            Some(begin) => begin,
            None if text.is_empty() => return None,
            None => return Some(text.len()),
        };
        let end = string_end(text, begin)?;
        let mut next = blanks_end(text, end);
        if text.get(next).is_none() && !is_end {
            return None;
        }
        if text.get(next) != Some(&b':') {
            return Some(next);
        }
        next = blanks_end(text, next + 1);
        if text.get(next).is_none() && !is_end {
            return None;
        }
        if text.get(next) != Some(&b'"') {
            return Some(next);
        }
        let value_end = string_end(text, next)?;
        let key = &text[begin + 1..end - 1];
        let value = || serde_json::from_slice::<String>(&text[next..value_end]).unwrap_or_default();
        match key {
            b"field" => self.is_message = value() == "@message",
            b"value" if self.is_message => push_message(value().as_bytes(), log),
            _ if MESSAGE.contains(&key) => push_message(value().as_bytes(), log),
            _ => {}
        }
        Some(value_end)
    }
}

/// Behind the closing quote of the string that begins at `at`.
fn string_end(text: &[u8], at: usize) -> Option<usize> {
    let mut place = at + 1;
    loop {
        place += memchr::memchr2(b'"', b'\\', text.get(place..)?)?;
        if text[place] == b'"' {
            return Some(place + 1);
        }
        place += 2;
    }
}

fn blanks_end(text: &[u8], at: usize) -> usize {
    at + text[at..].iter().take_while(|byte| byte.is_ascii_whitespace()).count()
}

/// A CSV whose first record names its columns.
#[derive(Default)]
pub struct Messages {
    column: Option<usize>,
}

impl Messages {
    pub fn record(&mut self, text: &[u8], is_end: bool, log: &mut Vec<u8>) -> Option<usize> {
        let (fields, end) = csv_record(text, is_end)?;
        match self.column {
            None => self.column = fields.iter().position(|field| MESSAGE.contains(&&field[..])),
            Some(column) => {
                if let Some(message) = fields.get(column).filter(|message| !message.is_empty()) {
                    push_message(message, log);
                }
            }
        }
        Some(end)
    }
}

/// The first record and its length (RFC 4180: quotes are doubled, and quoted fields may have ends of lines).
fn csv_record(text: &[u8], is_end: bool) -> Option<(Vec<Vec<u8>>, usize)> {
    let mut fields = vec![Vec::new()];
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        let field = fields.last_mut().expect("there is one");
        match byte {
            b'"' => {
                let end = at + 1 + memchr(b'"', &text[at + 1..])?;
                if at > 0 && text[at - 1] == b'"' {
                    field.push(b'"');
                }
                field.extend_from_slice(&text[at + 1..end]);
                at = end + 1;
                if text.get(at).is_none() && !is_end {
                    return None;
                }
                continue;
            }
            b',' => fields.push(Vec::new()),
            b'\n' => return Some((fields, at + 1)),
            b'\r' => {}
            _ => field.push(byte),
        }
        at += 1;
    }
    (is_end && at > 0).then_some((fields, at))
}

/// What is in front of lines: a time, and a stream's name where there is one.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Prefix {
    stream: Vec<u8>,
}

impl Prefix {
    /// Of the first line of an event, which is the first of an entry.
    pub fn of(line: &[u8]) -> Option<Self> {
        let rest = &line[time_end(line)?..];
        if rest.starts_with(b"# ") {
            return Some(Self::default());
        }
        let stream = &rest[..memchr(b' ', rest)?];
        rest[stream.len() + 1..].starts_with(b"# ").then(|| Self { stream: stream.to_vec() })
    }

    /// Without what is in front of it; further lines of an event have nothing there.
    pub fn line(&mut self, line: &[u8], log: &mut Vec<u8>) {
        if let Some(found) = Self::of(line) {
            *self = found;
        }
        let rest = time_end(line).map(|end| &line[end..]).and_then(|rest| match &self.stream[..] {
            b"" => rest.starts_with(b"# ").then_some(rest),
            stream => rest.strip_prefix(stream)?.strip_prefix(b" "),
        });
        log.extend_from_slice(rest.unwrap_or(line));
        log.push(b'\n');
    }
}

/// Behind `2026-11-22T03:00:00.123000+00:00 ` at the beginning of a line.
fn time_end(line: &[u8]) -> Option<usize> {
    let is_time = line.len() > 20
        && digits(line, 0).1 == 4
        && line[4] == b'-'
        && line[7] == b'-'
        && line[10] == b'T'
        && line[13] == b':'
        && line[16] == b':';
    let end = memchr(b' ', line.get(..40.min(line.len()))?)?;
    let is_zone = |byte: &u8| byte.is_ascii_digit() || b".Z+-:".contains(byte);
    (is_time && end >= 19 && line[19..end].iter().all(is_zone)).then_some(end + 1)
}

fn push_message(message: &[u8], log: &mut Vec<u8>) {
    log.extend_from_slice(message);
    if !message.ends_with(b"\n") {
        log.push(b'\n');
    }
}
