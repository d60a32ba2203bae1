//! A statement compiled once, so that sending it is copying bytes and writing a few numbers.

use super::commands;
use super::literal::write_literal;
use super::values::{Value, Values};

const QUERY: u8 = 0x03;
const STMT_EXECUTE: u8 = 0x17;
const TYPE_DOUBLE: u8 = 0x05;
const TYPE_NULL: u8 = 0x06;
const TYPE_LONGLONG: u8 = 0x08;
const TYPE_NEWDECIMAL: u8 = 0xf6;
const TYPE_STRING: u8 = 0xfe;

/// SQL cut at its parameters.
#[derive(Clone, Debug)]
pub struct Template {
    sql: Box<[u8]>,
    /// The text before the first parameter, with the packet's header and command in front.
    opening: Box<[u8]>,
    /// The text after each parameter.
    pieces: Box<[Box<[u8]>]>,
}

impl Template {
    /// The texts before, between and after the parameters: one more than there are parameters. A
    /// question mark inside them is a question mark.
    pub fn new<T: AsRef<[u8]>>(texts: &[T]) -> Self {
        let (first, rest) = texts.split_first().expect("there is text around the parameters");
        let texts: Vec<&[u8]> = texts.iter().map(AsRef::as_ref).collect();
        Self {
            sql: texts.join(&b'?').into(),
            opening: [&[0, 0, 0, 0, QUERY], first.as_ref()].concat().into(),
            pieces: rest.iter().map(|text| text.as_ref().into()).collect(),
        }
    }

    /// The statement with a question mark for each parameter, as the server prepares it.
    pub fn sql(&self) -> &[u8] {
        &self.sql
    }

    /// Appends the statement as text with its values in place.
    #[inline]
    pub fn write_query(&self, values: &Values, out: &mut Vec<u8>) {
        debug_assert_eq!(values.len(), self.pieces.len(), "values do not fit the statement");
        let start = out.len();
        out.extend_from_slice(&self.opening);
        for (value, piece) in values.iter().zip(&self.pieces) {
            write_literal(value, out);
            out.extend_from_slice(piece);
        }
        commands::finish(start, out);
    }

    /// Appends the execution of the statement as the server prepared it (binary protocol). The
    /// types travel every time: remembering per connection which statements have sent them costs
    /// more than the bytes.
    pub fn write_execute(&self, statement_id: u32, values: &Values, out: &mut Vec<u8>) {
        debug_assert_eq!(values.len(), self.pieces.len(), "values do not fit the statement");
        commands::packet(0, out, |out| {
            out.push(STMT_EXECUTE);
            out.extend(statement_id.to_le_bytes());
            out.push(0); // no cursor
            out.extend(1u32.to_le_bytes()); // executed once
            if values.is_empty() {
                return;
            }
            write_nulls(values, out);
            out.push(1); // types follow
            for value in values.iter() {
                out.extend([kind(value), 0]);
            }
            for value in values.iter() {
                match value {
                    Value::Integer(number) => out.extend(number.to_le_bytes()),
                    Value::Text(text) | Value::Decimal(text) => write_long_text(text, out),
                    Value::Float(number) if number.is_finite() => out.extend(number.to_le_bytes()),
                    Value::Float(_) | Value::Null => {}
                }
            }
        });
    }
}

fn kind(value: Value<'_>) -> u8 {
    match value {
        Value::Integer(_) => TYPE_LONGLONG,
        Value::Text(_) => TYPE_STRING,
        Value::Decimal(_) => TYPE_NEWDECIMAL,
        Value::Float(number) if number.is_finite() => TYPE_DOUBLE,
        Value::Float(_) | Value::Null => TYPE_NULL,
    }
}

/// One bit for each parameter, set where it is NULL.
fn write_nulls(values: &Values, out: &mut Vec<u8>) {
    let start = out.len();
    out.resize(start + values.len().div_ceil(8), 0);
    for (number, value) in values.iter().enumerate() {
        if kind(value) == TYPE_NULL {
            out[start + number / 8] |= 1 << (number % 8);
        }
    }
}

/// Appends a text behind its length-encoded length.
fn write_long_text(text: &[u8], out: &mut Vec<u8>) {
    let length = text.len() as u64;
    match length {
        0..=0xfa => out.push(length as u8),
        0xfb..=0xffff => {
            out.push(0xfc);
            out.extend(&length.to_le_bytes()[..2]);
        }
        0x1_0000..=0xff_ffff => {
            out.push(0xfd);
            out.extend(&length.to_le_bytes()[..3]);
        }
        _ => {
            out.push(0xfe);
            out.extend(length.to_le_bytes());
        }
    }
    out.extend_from_slice(text);
}

#[cfg(test)]
mod tests {
    use super::super::values::{Slot, Span};
    use super::*;
    use crate::protocol::length_encoded;
    use proptest::prelude::*;

    fn values(slots: &[Value<'_>]) -> Values {
        let mut values = Values::default();
        for &slot in slots {
            let (slots, buffer) = values.parts();
            let mut text = |bytes: &[u8]| {
                let start = buffer.len();
                buffer.extend_from_slice(bytes);
                Span { start, end: buffer.len() }
            };
            let slot = match slot {
                Value::Null => Slot::Null,
                Value::Integer(number) => Slot::Integer(number),
                Value::Float(number) => Slot::Float(number),
                Value::Text(bytes) => Slot::Text(text(bytes)),
                Value::Decimal(bytes) => Slot::Decimal(text(bytes)),
            };
            slots.push(slot);
        }
        values
    }

    fn executed(template: &Template, slots: &[Value<'_>]) -> Vec<u8> {
        let mut out = Vec::new();
        template.write_execute(0x0102, &values(slots), &mut out);
        let length = u32::from_le_bytes([out[0], out[1], out[2], 0]) as usize;
        assert_eq!((length, out[3]), (out.len() - 4, 0));
        out.split_off(4)
    }

    #[test]
    fn a_query_is_one_packet_with_the_values_in_place() {
        let template = Template::new(&["UPDATE t SET k=", " WHERE c=", " AND d='?'"]);
        let mut out = b"before".to_vec();
        let slots = [Value::Integer(-12), Value::Text(b"it's")];
        template.write_query(&values(&slots), &mut out);
        let sql = br"UPDATE t SET k=-12 WHERE c='it\'s' AND d='?'";
        assert_eq!(out, [b"before", &[sql.len() as u8 + 1, 0, 0, 0, 3][..], sql].concat());
    }

    #[test]
    fn the_server_prepares_the_statement_with_a_question_mark_for_each_parameter() {
        assert_eq!(Template::new(&["SELECT ", "+", ""]).sql(), b"SELECT ?+?");
        assert_eq!(Template::new(&["COMMIT"]).sql(), b"COMMIT");
    }

    #[test]
    fn an_execution_carries_types_and_values_in_the_binary_protocol() {
        let template = Template::new(&["", "", "", "", "", ""]);
        let slots = [
            Value::Integer(258),
            Value::Text(b"ab"),
            Value::Null,
            Value::Float(1.5),
            Value::Decimal(b"-0.5"),
        ];
        let expected: &[u8] = &[
            0x17, 2, 1, 0, 0, 0, 1, 0, 0, 0, // command, id, no cursor, once
            0b100, 1, 8, 0, 0xfe, 0, 6, 0, 5, 0, 0xf6, 0, // the third is null; types
            2, 1, 0, 0, 0, 0, 0, 0, 2, b'a', b'b', 0, 0, 0, 0, 0, 0, 0xf8, 0x3f, 4, b'-', b'0',
            b'.', b'5',
        ];
        assert_eq!(executed(&template, &slots), expected);
    }

    #[test]
    fn an_execution_without_parameters_is_ten_bytes() {
        let begin = Template::new(&["BEGIN"]);
        assert_eq!(executed(&begin, &[]), [0x17, 2, 1, 0, 0, 0, 1, 0, 0, 0]);
    }

    #[test]
    fn thousands_of_parameters_have_a_null_bit_each() {
        let count = 3000;
        let template = Template::new(&vec![""; count + 1]);
        let slots: Vec<Value<'_>> = (0..count)
            .map(|number| if number % 3 == 0 { Value::Null } else { Value::Integer(7) })
            .collect();
        let out = executed(&template, &slots);
        let bits = &out[10..10 + count.div_ceil(8)];
        for number in 0..count {
            let null = bits[number / 8] >> (number % 8) & 1 == 1;
            assert_eq!(null, number % 3 == 0, "parameter {number}");
        }
        assert_eq!(out.len(), 10 + bits.len() + 1 + 2 * count + 8 * 2000);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]
        #[test]
        fn a_text_of_any_length_is_whole_in_the_binary_protocol(length in prop_oneof![
            0usize..600, 65_000usize..66_000, 16_777_000usize..16_777_100
        ]) {
            let text = vec![b'x'; length];
            let out = executed(&Template::new(&["", ""]), &[Value::Text(&text)]);
            let (found, rest) = length_encoded(&out[14..]).unwrap();
            prop_assert_eq!(found, length as u64);
            prop_assert_eq!(rest.len(), length);
        }
    }

    #[test]
    fn a_statement_beyond_one_packet_is_continued_in_the_next() {
        let text = vec![b'x'; 2 * 0xff_ffff];
        let mut out = Vec::new();
        Template::new(&["SELECT ", ""]).write_query(&values(&[Value::Text(&text)]), &mut out);
        let mut payload = Vec::new();
        let mut left = out.as_slice();
        let mut lengths = Vec::new();
        while let Some((header, rest)) = left.split_first_chunk::<4>() {
            let length = u32::from_le_bytes([header[0], header[1], header[2], 0]) as usize;
            assert_eq!(usize::from(header[3]), lengths.len(), "sequence numbers count up");
            lengths.push(length);
            payload.extend_from_slice(&rest[..length]);
            left = &rest[length..];
        }
        assert_eq!(lengths, [0xff_ffff, 0xff_ffff, 1 + "SELECT ''".len()]);
        assert_eq!(payload, [b"\x03SELECT '", &text[..], b"'"].concat());
    }
}
