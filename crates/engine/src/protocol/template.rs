//! A statement compiled once, so that sending it is copying bytes and writing a few numbers.

use super::commands;
use super::values::{Value, Values};

const QUERY: u8 = 0x03;
const STMT_EXECUTE: u8 = 0x17;
const TYPE_LONG: u8 = 0x03;
const TYPE_STRING: u8 = 0xfe;
/// Texts longer than this need a wider length than one byte; no workload has them.
const SHORT_TEXT: usize = 250;

/// SQL with `?` in the place of each parameter, cut at the question marks.
#[derive(Clone, Debug)]
pub struct Template {
    sql: Box<[u8]>,
    /// The text before the first parameter, with the packet's header and command in front.
    opening: Box<[u8]>,
    /// The text after each parameter.
    pieces: Box<[Box<[u8]>]>,
}

impl Template {
    /// `sql` must hold no question mark that is not a parameter.
    pub fn new(sql: &str) -> Self {
        let mut parts = sql.split('?').map(|part| part.as_bytes());
        let before = parts.next().unwrap_or_default();
        Self {
            sql: sql.as_bytes().into(),
            opening: [&[0, 0, 0, 0, QUERY], before].concat().into(),
            pieces: parts.map(Box::from).collect(),
        }
    }

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
            match value {
                Value::Integer(number) => write_decimal(number, out),
                Value::Text(text) => {
                    out.push(b'\'');
                    out.extend_from_slice(text);
                    out.push(b'\'');
                }
            }
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
            let nulls = values.len().div_ceil(8);
            out.resize(out.len() + nulls, 0);
            out.push(1); // types follow
            for value in values.iter() {
                let kind = match value {
                    Value::Integer(_) => TYPE_LONG,
                    Value::Text(_) => TYPE_STRING,
                };
                out.extend([kind, 0]);
            }
            for value in values.iter() {
                match value {
                    Value::Integer(number) => out.extend(number.to_le_bytes()),
                    Value::Text(text) => {
                        debug_assert!(text.len() <= SHORT_TEXT);
                        out.push(text.len() as u8);
                        out.extend_from_slice(text);
                    }
                }
            }
        });
    }
}

/// Appends a whole number in decimal.
pub fn write_decimal(number: i32, out: &mut Vec<u8>) {
    let mut digits = [0u8; 10];
    let mut at = digits.len();
    let mut left = number.unsigned_abs();
    loop {
        at -= 1;
        digits[at] = b'0' + (left % 10) as u8;
        left /= 10;
        if left == 0 {
            break;
        }
    }
    if number < 0 {
        out.push(b'-');
    }
    out.extend_from_slice(&digits[at..]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn values(id: i32, text: &[u8]) -> Values {
        let mut values = Values::default();
        values.push_integer(id);
        values.push_text(text);
        values
    }

    proptest! {
        #[test]
        fn decimal_numbers_are_written_as_the_standard_library_does(number: i32) {
            let mut out = Vec::new();
            write_decimal(number, &mut out);
            prop_assert_eq!(out, number.to_string().into_bytes());
        }
    }

    #[test]
    fn a_query_is_one_packet_with_the_values_in_place() {
        let template = Template::new("UPDATE t SET k=? WHERE c=?");
        let mut out = b"before".to_vec();
        template.write_query(&values(-12, b"ab-1"), &mut out);
        let sql = b"UPDATE t SET k=-12 WHERE c='ab-1'";
        assert_eq!(out, [b"before", &[sql.len() as u8 + 1, 0, 0, 0, 3][..], sql].concat());
    }

    #[test]
    fn an_execution_carries_types_and_values_in_the_binary_protocol() {
        let template = Template::new("UPDATE t SET k=? WHERE c=?");
        let mut out = Vec::new();
        template.write_execute(0x0102, &values(258, b"ab"), &mut out);
        let payload: &[u8] = &[
            0x17, 2, 1, 0, 0, 0, 1, 0, 0, 0, // command, id, no cursor, once
            0, 1, 3, 0, 0xfe, 0, // no nulls, types
            2, 1, 0, 0, 2, b'a', b'b',
        ];
        assert_eq!(out, [&[payload.len() as u8, 0, 0, 0], payload].concat());
    }

    #[test]
    fn an_execution_without_parameters_is_ten_bytes() {
        let mut out = Vec::new();
        Template::new("BEGIN").write_execute(1, &Values::default(), &mut out);
        assert_eq!(out, [10, 0, 0, 0, 0x17, 1, 0, 0, 0, 0, 1, 0, 0, 0]);
    }
}
