//! Rows as texts have them: of the CSV engine, of `mysql -B`, of mysqldump. NULL is None.

use memchr::{memchr, memchr2, memmem};

use super::row::{Columns, Field};

/// A line of the CSV engine, which has quotes, backslashes and ends of lines behind a backslash (source:
/// `ha_tina::encode_quote` of MySQL).
pub fn of_csv_engine(line: &[u8]) -> Vec<Field> {
    let mut fields = Vec::new();
    let mut at = 0;
    while at < line.len() {
        if line[at] == b'"' {
            let (field, end) = escaped(line, at + 1, b'"').unwrap_or_default();
            fields.push(Some(field));
            at = if end == 0 { line.len() } else { end };
        } else {
            let end = memchr(b',', &line[at..]).map_or(line.len(), |length| at + length);
            fields.push(Some(line[at..end].to_vec()));
            at = end;
        }
        at += 1; // the comma
    }
    fields
}

/// A line of `mysql -B`, which escapes tabs, ends of lines, zeros and backslashes.
pub fn tabbed(line: &[u8]) -> Vec<Field> {
    let field = |text: &[u8]| (text != b"NULL").then(|| unescaped(text));
    line.split(|&byte| byte == b'\t').map(field).collect()
}

fn unescaped(text: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(text.len());
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        at += 1;
        match (byte, text.get(at)) {
            (b'\\', Some(&next)) => {
                plain.push(escape(next));
                at += 1;
            }
            _ => plain.push(byte),
        }
    }
    plain
}

/// What a backslash and this byte stand for.
fn escape(byte: u8) -> u8 {
    match byte {
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'0' => 0,
        b'Z' => 26,
        b'b' => 8,
        other => other,
    }
}

/// The text up to the closing quote, and the place behind it; a doubled quote is one. None when it is not closed.
fn escaped(text: &[u8], begin: usize, quote: u8) -> Option<(Vec<u8>, usize)> {
    let mut plain = Vec::new();
    let mut at = begin;
    loop {
        let found = at + memchr2(quote, b'\\', text.get(at..)?)?;
        plain.extend_from_slice(&text[at..found]);
        let next = text.get(found + 1);
        at = found + 2;
        match (text[found], next) {
            (b'\\', next) => plain.push(escape(*next?)),
            (_, Some(&next)) if next == quote => plain.push(quote),
            _ => return Some((plain, found + 1)),
        }
    }
}

const INSERT: &[u8] = b"INSERT INTO ";

/// Whether a dump that begins like this has rows of a slow log's table.
pub fn is_dump(head: &[u8]) -> bool {
    memmem::find(head, INSERT).is_some_and(|at| {
        let name = &head[at..head.len().min(at + 200)];
        memmem::find(name, b"slow_log").is_some()
    })
}

/// INSERT statements with any number of rows; all else is passed over.
#[derive(Default)]
pub struct Dump {
    /// Of the statement whose rows come next; None outside of any.
    columns: Option<Columns>,
}

impl Dump {
    pub fn record(&mut self, text: &[u8], log: &mut Vec<u8>) -> Option<usize> {
        let Some(columns) = &self.columns else { return self.statement(text) };
        let begin = text.iter().position(|byte| !byte.is_ascii_whitespace() && *byte != b',')?;
        if text[begin] != b'(' {
            self.columns = None;
            return Some(begin + 1);
        }
        let (fields, end) = values(text, begin + 1)?;
        columns.push_row(&fields, log);
        Some(end)
    }

    /// Up to the first row of the next INSERT.
    fn statement(&mut self, text: &[u8]) -> Option<usize> {
        let Some(begin) = memmem::find(text, INSERT) else {
            // It may begin in the last bytes.
            return text.len().checked_sub(INSERT.len()).filter(|&length| length > 0);
        };
        const VALUES: &[u8] = b" VALUES";
        let head = &text[begin + INSERT.len()..];
        let end = memmem::find(head, VALUES)?;
        let names = &head[..end];
        if memmem::find(names, b"slow_log").is_some() {
            let list = memchr(b'(', names).map(|open| {
                let names = names[open + 1..].split(|&byte| byte == b',');
                let bare = |name: &[u8]| Some(trimmed(name).to_vec());
                names.map(bare).collect::<Vec<_>>()
            });
            self.columns =
                Some(list.and_then(|names| Columns::of_header(&names)).unwrap_or_default());
        }
        Some(begin + INSERT.len() + end + VALUES.len())
    }
}

fn trimmed(name: &[u8]) -> &[u8] {
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let begin = name.iter().position(is_name).unwrap_or(name.len());
    let end = name.iter().rposition(is_name).map_or(begin, |last| last + 1);
    &name[begin..end]
}

/// `'text',_binary 'text',0x41,12,NULL)`, and the place behind the bracket. None when it is not closed.
fn values(text: &[u8], begin: usize) -> Option<(Vec<Field>, usize)> {
    let mut fields = Vec::new();
    let mut at = begin;
    loop {
        let length = text.get(at..)?.iter().position(|byte| b"',)".contains(byte))?;
        let plain = text[at..at + length].trim_ascii();
        at += length;
        let field = match text[at] {
            b'\'' => {
                let (field, end) = escaped(text, at + 1, b'\'')?;
                at = end + text[end..].iter().position(|byte| b",)".contains(byte))?;
                Some(field)
            }
            _ if plain == b"NULL" => None,
            _ => Some(unhexed(plain).unwrap_or_else(|| plain.to_vec())),
        };
        fields.push(field);
        at += 1;
        if text[at - 1] == b')' {
            return Some((fields, at));
        }
    }
}

/// mysqldump's `--hex-blob`.
fn unhexed(text: &[u8]) -> Option<Vec<u8>> {
    let digits = text.strip_prefix(b"0x")?;
    let digit = |byte: u8| (byte as char).to_digit(16);
    let pair = |pair: &[u8]| Some((digit(pair[0])? * 16 + digit(*pair.get(1)?)?) as u8);
    digits.chunks(2).map(pair).collect()
}
