//! Checksums of result sets, with and without the order of their rows.
//!
//! Names of columns and texts of values are covered, types are not: docs/reference/replay-results.md says
//! what counts as the same result.

use crate::protocol::frames::Packet;
use crate::protocol::length_encoded;
use crate::protocol::response::Part;

/// Bytes of a row that are looked at.
pub const LONGEST_ROW: usize = 1 << 20;

const SEED: u64 = 0x7265_706c_6179_2031;
const FIRST: u64 = 0x9e37_79b9_7f4a_7c15;
const SECOND: u64 = 0xd1b5_4a32_d192_ed03;
const NULL: u8 = 0xfb;
/// Types of columns whose values are numbers written in one of several ways.
const FLOAT: u8 = 4;
const DOUBLE: u8 = 5;

/// The checksum of an answer under way.
#[derive(Clone, Debug, Default)]
pub struct Checksum {
    ordered: u64,
    unordered: u64,
    results: u32,
    in_rows: bool,
    /// For each column of the result whether it is a floating-point number.
    floats: Vec<bool>,
    has_floats: bool,
    /// A row was longer than is looked at.
    pub has_long_row: bool,
}

impl Checksum {
    /// Begins with another answer.
    pub fn begin(&mut self) {
        let floats = std::mem::take(&mut self.floats);
        *self = Self { floats, ..Self::default() };
    }

    /// Takes a packet, of which the answer says what it is.
    pub fn take(&mut self, part: Part, packet: Packet<'_>) {
        match part {
            Part::Definition => self.definition(packet),
            Part::Row => self.row(packet),
            Part::Other => {}
        }
    }

    fn definition(&mut self, packet: Packet<'_>) {
        if self.in_rows || self.results == 0 {
            self.results += 1;
            self.in_rows = false;
            self.has_floats = false;
            self.floats.clear();
            self.add(hash(SEED, b"result"), u64::from(self.results));
        }
        let (name, kind) = name_and_kind(packet.head).unwrap_or((packet.head, 0));
        let is_float = matches!(kind, FLOAT | DOUBLE);
        self.has_floats |= is_float;
        self.floats.push(is_float);
        self.add(hash(SEED, name), self.floats.len() as u64);
    }

    fn row(&mut self, packet: Packet<'_>) {
        self.in_rows = true;
        let row = &packet.head[..packet.head.len().min(LONGEST_ROW)];
        self.has_long_row |= packet.length as usize > LONGEST_ROW;
        let hash = match self.has_floats {
            true => self.with_floats(row),
            false => hash(SEED ^ u64::from(packet.length), row),
        };
        self.add(hash, 0);
    }

    /// A row's hash, in which a number is itself and not its digits.
    fn with_floats(&self, mut row: &[u8]) -> u64 {
        let mut state = SEED;
        for &is_float in &self.floats {
            if let Some((&NULL, rest)) = row.split_first() {
                row = rest;
                state = fold(state ^ FIRST, SECOND);
                continue;
            }
            let value = length_encoded(row)
                .and_then(|(length, rest)| rest.split_at_checked(usize::try_from(length).ok()?));
            // Only a row that is longer than is looked at ends within a value.
            let Some((value, rest)) = value else { return hash(state, row) };
            let number = if is_float { number(value) } else { None };
            state = match number {
                Some(number) => fold(state ^ number.to_bits(), FIRST),
                None => hash(state ^ value.len() as u64, value),
            };
            row = rest;
        }
        state
    }

    /// Adds a part that stands at `place` whatever the order of rows.
    fn add(&mut self, part: u64, place: u64) {
        self.ordered = fold(self.ordered ^ part, FIRST);
        self.unordered = self.unordered.wrapping_add(fold(part ^ place, SECOND));
    }

    /// Both checksums, not 0; 0 where there was no result set.
    pub fn finish(&self) -> (u64, u64) {
        match self.results {
            0 => (0, 0),
            _ => (self.ordered.max(1), self.unordered.max(1)),
        }
    }
}

fn number(text: &[u8]) -> Option<f64> {
    let number: f64 = std::str::from_utf8(text).ok()?.parse().ok()?;
    // -0 is 0.
    Some(number + 0.0)
}

/// A column's name, as the statement calls it, and its type.
fn name_and_kind(mut packet: &[u8]) -> Option<(&[u8], u8)> {
    const NAME: usize = 4;
    let mut name: &[u8] = &[];
    for place in 0..6 {
        let (length, rest) = length_encoded(packet)?;
        let (text, rest) = rest.split_at_checked(usize::try_from(length).ok()?)?;
        packet = rest;
        if place == NAME {
            name = text;
        }
    }
    Some((name, *packet.get(7)?))
}

/// Both halves of the product, one over the other.
#[inline]
fn fold(left: u64, right: u64) -> u64 {
    let product = u128::from(left) * u128::from(right);
    product as u64 ^ (product >> 64) as u64
}

/// Bytes, eight at a time, and their number.
fn hash(seed: u64, bytes: &[u8]) -> u64 {
    let mut state = seed ^ (bytes.len() as u64).wrapping_mul(FIRST);
    let (eights, rest) = bytes.as_chunks::<8>();
    for eight in eights {
        state = fold(state ^ u64::from_le_bytes(*eight), SECOND);
    }
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    fold(state ^ u64::from_le_bytes(last), SECOND ^ FIRST)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(name: &str, kind: u8) -> Vec<u8> {
        let mut packet = vec![3];
        packet.extend(b"def");
        packet.extend([0, 0, 0, name.len() as u8]);
        packet.extend(name.as_bytes());
        packet.extend([0, 12, 45, 0, 0, 0, 0, 0, kind, 0, 0, 0, 0, 0]);
        packet
    }

    fn row(values: &[Option<&str>]) -> Vec<u8> {
        let mut packet = Vec::new();
        for value in values {
            match value {
                None => packet.push(NULL),
                Some(text) => {
                    packet.push(text.len() as u8);
                    packet.extend(text.as_bytes());
                }
            }
        }
        packet
    }

    fn sum(columns: &[(&str, u8)], rows: &[&[Option<&str>]]) -> (u64, u64) {
        let mut sum = Checksum::default();
        sum.begin();
        let packets = columns.iter().map(|(name, kind)| (Part::Definition, column(name, *kind)));
        for (part, bytes) in packets.chain(rows.iter().map(|values| (Part::Row, row(values)))) {
            let length = bytes.len() as u32;
            sum.take(part, Packet { length, sequence: 0, head: &bytes });
        }
        sum.finish()
    }

    const TEXT: u8 = 253;

    #[test]
    fn the_order_of_rows_counts_in_one_of_the_two_only() {
        let columns = [("a", TEXT)];
        let one = sum(&columns, &[&[Some("x")], &[Some("y")]]);
        let other = sum(&columns, &[&[Some("y")], &[Some("x")]]);
        assert_ne!(one.0, other.0);
        assert_eq!(one.1, other.1);
        assert_eq!(one, sum(&columns, &[&[Some("x")], &[Some("y")]]));
    }

    #[test]
    fn values_names_nulls_and_repetitions_count() {
        let columns = [("a", TEXT), ("b", TEXT)];
        let base = sum(&columns, &[&[Some("x"), None]]);
        for other in [
            sum(&columns, &[&[Some("x"), Some("")]]),
            sum(&columns, &[&[None, Some("x")]]),
            sum(&columns, &[&[Some("x"), None], &[Some("x"), None]]),
            sum(&[("a", TEXT), ("c", TEXT)], &[&[Some("x"), None]]),
            sum(&[("b", TEXT), ("a", TEXT)], &[&[Some("x"), None]]),
            sum(&columns, &[]),
        ] {
            assert!(base.0 != other.0 && base.1 != other.1);
        }
    }

    #[test]
    fn floating_point_numbers_are_compared_as_numbers_and_types_not_at_all() {
        let short = sum(&[("a", DOUBLE)], &[&[Some("1e20")], &[Some("-0")]]);
        let long = sum(&[("a", FLOAT)], &[&[Some("100000000000000000000")], &[Some("0")]]);
        assert_eq!(short, long);
        assert_ne!(short, sum(&[("a", DOUBLE)], &[&[Some("1e21")], &[Some("0")]]));
        // A DECIMAL and an integer by their digits.
        assert_eq!(sum(&[("a", 3)], &[&[Some("5")]]), sum(&[("a", 8)], &[&[Some("5")]]));
        assert_ne!(sum(&[("a", 246)], &[&[Some("0.5")]]), sum(&[("a", 246)], &[&[Some("0.50")]]));
    }

    #[test]
    fn no_result_set_is_0_and_an_empty_one_is_not() {
        assert_eq!(sum(&[], &[]), (0, 0));
        assert!(sum(&[("a", TEXT)], &[]).0 != 0);
    }
}
