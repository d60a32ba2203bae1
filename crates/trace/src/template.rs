//! Statements that differ in their literals only share a template, which a block holds once.
//!
//! The split needs no knowledge of SQL to be undone: a template's text with the literals put where its marks
//! are is the statement, byte by byte, whatever was taken for a literal.

use memchr::{memchr, memmem};
use mydyno_digest::fingerprint::bytes::{is_word, word_end};
use mydyno_digest::fingerprint::literals::string_end;

/// Stands in a template for a literal. A statement that holds this byte is one literal as a whole.
pub const MARK: u8 = 0x01;

/// Splits a statement: `template` gets its text with marks, `literals` where each literal begins and ends.
pub fn split(statement: &[u8], template: &mut Vec<u8>, literals: &mut Vec<(usize, usize)>) {
    template.clear();
    literals.clear();
    if memchr(MARK, statement).is_some() {
        template.push(MARK);
        literals.push((0, statement.len()));
        return;
    }
    let (mut at, mut from) = (0, 0);
    while let Some((begin, end, next)) = next_literal(statement, at) {
        template.extend_from_slice(&statement[from..begin]);
        template.push(MARK);
        literals.push((begin, end));
        (from, at) = (end, next);
    }
    template.extend_from_slice(&statement[from..]);
}

/// Where the next text, number or comment begins and ends, and where to look on.
fn next_literal(statement: &[u8], mut at: usize) -> Option<(usize, usize, usize)> {
    loop {
        let byte = *statement.get(at)?;
        match byte {
            b'\'' | b'"' => {
                let end = string_end(statement, at);
                let is_closed = end > at + 1 && statement[end - 1] == byte;
                return Some((at + 1, end - usize::from(is_closed), end));
            }
            b'0'..=b'9' => {
                let end = word_end(statement, at);
                return Some((at, end, end));
            }
            b'`' => at = string_end(statement, at),
            b'/' if is_comment(&statement[at..]) => {
                let inside = at + 2;
                let end = memmem::find(&statement[inside..], b"*/");
                let end = end.map_or(statement.len(), |found| inside + found);
                return Some((inside, end, (end + 2).min(statement.len())));
            }
            _ if is_word(byte) => at = word_end(statement, at),
            _ => at += 1,
        }
    }
}

/// Whether it is one whose text is neither code nor a hint.
fn is_comment(text: &[u8]) -> bool {
    text.starts_with(b"/*") && !matches!(text.get(2), Some(b'!' | b'+' | b'M'))
}

/// The inverse of [`split`]; None where the literals are fewer or more than the marks.
pub fn join<'a>(
    template: &[u8],
    literals: impl IntoIterator<Item = &'a [u8]>,
    statement: &mut Vec<u8>,
) -> Option<()> {
    let mut literals = literals.into_iter();
    let mut rest = template;
    while let Some(at) = memchr(MARK, rest) {
        statement.extend_from_slice(&rest[..at]);
        statement.extend_from_slice(literals.next()?);
        rest = &rest[at + 1..];
    }
    statement.extend_from_slice(rest);
    literals.next().is_none().then_some(())
}

/// How many literals a template takes.
pub fn marks(template: &[u8]) -> usize {
    memchr::memchr_iter(MARK, template).count()
}
