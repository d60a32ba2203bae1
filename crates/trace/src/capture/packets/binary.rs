//! Values of prepared statements, bound into the text.
//!
//! Source: MySQL's protocol, "COM_STMT_EXECUTE" and "Binary Protocol Value"; MariaDB's, "COM_STMT_EXECUTE".

use mydyno_digest::fingerprint::bytes::{is_word, word_end};
use mydyno_digest::fingerprint::comments::comment_end;
use mydyno_digest::fingerprint::literals::string_end;

use super::bytes::Bytes;

const UNSIGNED: u16 = 0x8000;

/// A value as a literal; None where it cannot be read.
pub fn literal(kind: u16, bytes: &mut Bytes<'_>) -> Option<Vec<u8>> {
    let is_unsigned = kind & UNSIGNED != 0;
    let signed = |value: i64, unsigned: u64| {
        if is_unsigned { unsigned.to_string() } else { value.to_string() }
    };
    let text = match kind as u8 {
        0x01 => {
            let value = bytes.array::<1>()?;
            signed(i8::from_le_bytes(value).into(), u8::from_le_bytes(value).into())
        }
        0x02 | 0x0d => {
            let value = bytes.array::<2>()?;
            signed(i16::from_le_bytes(value).into(), u16::from_le_bytes(value).into())
        }
        0x03 | 0x09 => {
            let value = bytes.array::<4>()?;
            signed(i32::from_le_bytes(value).into(), u32::from_le_bytes(value).into())
        }
        0x08 => {
            let value = bytes.array::<8>()?;
            signed(i64::from_le_bytes(value), u64::from_le_bytes(value))
        }
        0x04 => format!("{:e}", f32::from_le_bytes(bytes.array()?)),
        0x05 => format!("{:e}", f64::from_le_bytes(bytes.array()?)),
        0x06 => "NULL".to_owned(),
        0x07 | 0x0a | 0x0c => date(bytes)?,
        0x0b => time(bytes)?,
        0x00 | 0xf6 => return Some(bytes.text()?.to_vec()),
        0x0f | 0x10 | 0xf5 | 0xf7..=0xff => return Some(quoted(bytes.text()?)),
        _ => return None,
    };
    Some(text.into_bytes())
}

fn date(bytes: &mut Bytes<'_>) -> Option<String> {
    let length = bytes.array::<1>()?[0];
    if length == 0 {
        return Some("'0000-00-00'".to_owned());
    }
    let year = u16::from_le_bytes(bytes.array()?);
    let [month, day] = bytes.array()?;
    let mut text = format!("'{year:04}-{month:02}-{day:02}");
    if length > 4 {
        let [hour, minute, second] = bytes.array()?;
        text += &format!(" {hour:02}:{minute:02}:{second:02}");
    }
    if length > 7 {
        text += &format!(".{:06}", u32::from_le_bytes(bytes.array()?));
    }
    Some(text + "'")
}

fn time(bytes: &mut Bytes<'_>) -> Option<String> {
    let length = bytes.array::<1>()?[0];
    if length == 0 {
        return Some("'00:00:00'".to_owned());
    }
    let sign = if bytes.array::<1>()?[0] == 0 { "" } else { "-" };
    let days = u64::from(u32::from_le_bytes(bytes.array()?));
    let [hour, minute, second] = bytes.array()?;
    let mut text = format!("'{sign}{:02}:{minute:02}:{second:02}", days * 24 + u64::from(hour));
    if length > 8 {
        text += &format!(".{:06}", u32::from_le_bytes(bytes.array()?));
    }
    Some(text + "'")
}

/// As a string where it is UTF-8, else in hexadecimal digits.
pub fn quoted(text: &[u8]) -> Vec<u8> {
    if std::str::from_utf8(text).is_err() {
        let digits = text.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        return format!("x'{digits}'").into_bytes();
    }
    let mut quoted = vec![b'\''];
    for &byte in text {
        match byte {
            b'\'' => quoted.extend_from_slice(b"''"),
            b'\\' => quoted.extend_from_slice(b"\\\\"),
            0 => quoted.extend_from_slice(b"\\0"),
            _ => quoted.push(byte),
        }
    }
    quoted.push(b'\'');
    quoted
}

/// The statement with a literal for each marker; None where there are more or fewer of them.
pub fn bound(sql: &[u8], literals: &[Vec<u8>]) -> Option<Vec<u8>> {
    let mut text = Vec::with_capacity(sql.len() + literals.iter().map(Vec::len).sum::<usize>());
    let mut literals = literals.iter();
    let (mut at, mut code) = (0, 0);
    while let Some(&byte) = sql.get(at) {
        if byte == b'?' {
            text.extend_from_slice(literals.next()?);
            at += 1;
            continue;
        }
        let end = if matches!(byte, b'\'' | b'"' | b'`') {
            string_end(sql, at)
        } else if let Some(end) = comment_end(sql, at, &mut code) {
            end
        } else if is_word(byte) {
            word_end(sql, at)
        } else {
            at + 1
        };
        text.extend_from_slice(&sql[at..end]);
        at = end;
    }
    literals.next().is_none().then_some(text)
}
