//! Values as SQL text: numbers in decimal, texts quoted and escaped.

use std::io::Write;

use super::values::Value;

/// Numbers from 00 to 99 as text, to write two digits at a time.
const PAIRS: [[u8; 2]; 100] = {
    let mut pairs = [[0u8; 2]; 100];
    let mut number = 0;
    while number < 100 {
        pairs[number] = [b'0' + (number / 10) as u8, b'0' + (number % 10) as u8];
        number += 1;
    }
    pairs
};

/// Appends a value as it stands in a statement. Backslash escapes are used, so the server's sql_mode
/// must not hold NO_BACKSLASH_ESCAPES (no server's default does).
#[inline]
pub fn write_literal(value: Value<'_>, out: &mut Vec<u8>) {
    match value {
        Value::Integer(number) => write_integer(number, out),
        Value::Text(text) => {
            out.push(b'\'');
            write_escaped(text, escape, out);
            out.push(b'\'');
        }
        Value::Decimal(text) => out.extend_from_slice(text),
        Value::Float(number) => write_float(number, out),
        Value::Null => out.extend_from_slice(b"NULL"),
    }
}

/// Appends a value as it stands in a file for LOAD DATA with the statement's default format.
pub fn write_field(value: Value<'_>, out: &mut Vec<u8>) {
    match value {
        Value::Integer(number) => write_integer(number, out),
        Value::Text(text) => write_escaped(text, field_escape, out),
        Value::Decimal(text) => out.extend_from_slice(text),
        Value::Float(number) if number.is_finite() => write_float(number, out),
        Value::Float(_) | Value::Null => out.extend_from_slice(b"\\N"),
    }
}

/// Appends a whole number in decimal.
#[inline]
pub fn write_integer(number: i64, out: &mut Vec<u8>) {
    let mut digits = [0u8; 20];
    let mut at = digits.len();
    let mut left = number.unsigned_abs();
    while left >= 10 {
        at -= 2;
        digits[at..at + 2].copy_from_slice(&PAIRS[(left % 100) as usize]);
        left /= 100;
    }
    // What is left is one digit, or nothing after an even number of digits.
    if left > 0 || at == digits.len() {
        at -= 1;
        digits[at] = b'0' + left as u8;
    }
    if number < 0 {
        out.push(b'-');
    }
    out.extend_from_slice(&digits[at..]);
}

/// Appends the shortest text that reads back as the same number; there is none for infinities and
/// for what is no number, which become NULL.
pub fn write_float(number: f64, out: &mut Vec<u8>) {
    if number.is_finite() {
        write!(out, "{number:?}").expect("writing to memory does not fail");
    } else {
        out.extend_from_slice(b"NULL");
    }
}

/// The letter after the backslash for a byte that cannot stand for itself between quotes.
#[inline]
fn escape(byte: u8) -> Option<u8> {
    match byte {
        0 => Some(b'0'),
        b'\n' => Some(b'n'),
        b'\r' => Some(b'r'),
        0x1a => Some(b'Z'),
        b'\\' | b'\'' | b'"' => Some(byte),
        _ => None,
    }
}

/// The same in a file for LOAD DATA.
#[inline]
fn field_escape(byte: u8) -> Option<u8> {
    match byte {
        0 => Some(b'0'),
        b'\t' => Some(b't'),
        b'\n' => Some(b'n'),
        b'\\' => Some(byte),
        _ => None,
    }
}

#[inline]
fn write_escaped(text: &[u8], escape: impl Fn(u8) -> Option<u8>, out: &mut Vec<u8>) {
    // Without early exit, so that the compiler looks at many bytes at once.
    if text.iter().fold(false, |any, &byte| any | escape(byte).is_some()) {
        write_slowly(text, escape, out);
    } else {
        out.extend_from_slice(text);
    }
}

#[cold]
fn write_slowly(text: &[u8], escape: impl Fn(u8) -> Option<u8>, out: &mut Vec<u8>) {
    for &byte in text {
        match escape(byte) {
            Some(letter) => out.extend_from_slice(&[b'\\', letter]),
            None => out.push(byte),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn literal(value: Value<'_>) -> String {
        let mut out = Vec::new();
        write_literal(value, &mut out);
        String::from_utf8(out).unwrap()
    }

    /// What a server reads between the quotes.
    fn unescape(literal: &str) -> Vec<u8> {
        let inside = literal.strip_prefix('\'').unwrap().strip_suffix('\'').unwrap();
        let mut bytes = inside.bytes();
        let mut text = Vec::new();
        while let Some(byte) = bytes.next() {
            assert_ne!(byte, b'\'', "a bare quote ends the literal early");
            text.push(match byte {
                b'\\' => match bytes.next().unwrap() {
                    b'0' => 0,
                    b'n' => b'\n',
                    b'r' => b'\r',
                    b'Z' => 0x1a,
                    other => other,
                },
                other => other,
            });
        }
        text
    }

    proptest! {
        #[test]
        fn whole_numbers_are_written_as_the_standard_library_does(number: i64, shift in 0u32..64) {
            let number = number >> shift;
            prop_assert_eq!(literal(Value::Integer(number)), number.to_string());
        }

        #[test]
        fn floats_read_back_as_the_same_number(number in any::<f64>()) {
            let text = literal(Value::Float(number));
            if number.is_finite() {
                prop_assert_eq!(text.parse::<f64>().unwrap().to_bits(), number.to_bits());
            } else {
                prop_assert_eq!(text, "NULL");
            }
        }

        #[test]
        fn any_text_survives_its_quotes(text in "\\PC*|[\\x00\\n\\r\\x1a'\"\\\\a]*") {
            prop_assert_eq!(unescape(&literal(Value::Text(text.as_bytes()))), text.into_bytes());
        }
    }

    #[test]
    fn fields_of_a_file_escape_what_ends_them() {
        let field = |value| {
            let mut out = Vec::new();
            write_field(value, &mut out);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(
            field(Value::Text("a\tb\nc\\d\0e'f\"ä\r".as_bytes())),
            "a\\tb\\nc\\\\d\\0e'f\"ä\r"
        );
        assert_eq!([field(Value::Null), field(Value::Float(f64::NAN))], ["\\N", "\\N"]);
        assert_eq!(field(Value::Text(b"\\N")), "\\\\N");
        assert_eq!([field(Value::Integer(-7)), field(Value::Decimal(b"-1.50"))], ["-7", "-1.50"]);
    }

    #[test]
    fn the_smallest_and_the_largest_numbers_are_whole() {
        for number in [i64::MIN, -100, -10, -9, 0, 9, 10, 99, 100, 101, i64::MAX] {
            assert_eq!(literal(Value::Integer(number)), number.to_string());
        }
    }

    #[test]
    fn dangerous_bytes_are_escaped_and_decimals_are_not_quoted() {
        assert_eq!(literal(Value::Text(b"a'b\\c\"\0\n\r\x1a")), r#"'a\'b\\c\"\0\n\r\Z'"#);
        assert_eq!(literal(Value::Decimal(b"-12.30")), "-12.30");
        assert_eq!(literal(Value::Null), "NULL");
        assert_eq!(literal(Value::Float(1.0)), "1.0");
    }
}
