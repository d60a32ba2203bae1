//! Keeps the columns that a statement reads of one row of its answer, in text as the text protocol
//! would give them.
//!
//! One capture belongs to one connection and is used again: after the first answers nothing is
//! allocated.

use std::io::Write;

use super::frames::{KEPT, Packet};
use super::{ServerError, code, length_encoded};
use crate::job::program::ReadRow;

/// Most columns that a statement may read.
pub const MOST_READ: usize = 64;

/// Bytes that are kept of an answer at most, for each connection.
const MOST_KEPT: usize = 1 << 20;

/// Columns of one row of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Read {
    /// The first so many columns, at most [`MOST_READ`]. They must end within the first 4096 bytes
    /// of the row.
    pub columns: usize,
    pub row: ReadRow,
}

/// The columns of the row that was asked for.
pub type Columns<'a> = &'a [Option<&'a [u8]>];

/// A column's type, where rows come in the binary protocol.
#[derive(Clone, Copy, Debug)]
struct Column {
    kind: u8,
    unsigned: bool,
    decimals: u8,
}

/// Where a value ends in the buffer; it begins where the one before ends.
#[derive(Clone, Copy, Debug)]
struct Slot {
    end: usize,
    null: bool,
}

/// What has been kept of the answer under way.
#[derive(Debug)]
pub struct Capture {
    read: Read,
    binary: bool,
    columns: Vec<Column>,
    /// The rows kept: the first one, or all of them to choose the middle one at the end.
    slots: Vec<Slot>,
    text: Vec<u8>,
    rows: usize,
    broken: Option<&'static str>,
}

impl Capture {
    pub fn new(read: Read) -> Self {
        let (columns, slots, text) = Default::default();
        Self { read, binary: false, columns, slots, text, rows: 0, broken: None }
    }

    /// Begins with an answer, in the binary protocol or as text.
    pub fn begin(&mut self, read: Read, binary: bool) {
        self.read = read;
        self.binary = binary;
        self.columns.clear();
        self.slots.clear();
        self.text.clear();
        self.rows = 0;
        self.broken = None;
    }

    /// Takes the definition of a column.
    pub fn definition(&mut self, packet: Packet<'_>) {
        // The same limit whether the definition came in one piece or not.
        match column(&packet.head[..packet.head.len().min(KEPT)]) {
            Some(column) => self.columns.push(column),
            None => self.broken = Some("the definition of a column cannot be read"),
        }
    }

    /// Takes a row.
    pub fn row(&mut self, packet: Packet<'_>) {
        self.rows += 1;
        if self.broken.is_some() || (self.rows > 1 && self.read.row == ReadRow::First) {
            return;
        }
        if self.columns.len() < self.read.columns {
            self.broken = Some("the result has fewer columns than the workload reads");
            return;
        }
        if self.text.len() + self.slots.len() * size_of::<Slot>() > MOST_KEPT {
            self.broken = Some("the rows that the workload reads are more than 1 MiB");
            return;
        }
        // The same limit whether the row came in one piece or not.
        let row = &packet.head[..packet.head.len().min(KEPT)];
        let taken = if self.binary { self.binary_row(row) } else { self.text_row(row) };
        if taken.is_none() {
            self.broken =
                Some("a column that the workload reads ends beyond 4096 bytes of its row");
        }
    }

    /// The row that was asked for, put into `space`; `None` when the answer had no row.
    ///
    /// # Errors
    /// The columns could not be read.
    pub fn finish<'a>(
        &'a self,
        space: &'a mut [Option<&'a [u8]>; MOST_READ],
    ) -> Result<Option<Columns<'a>>, ServerError> {
        if let Some(reason) = self.broken {
            return Err(ServerError::new(code::UNKNOWN, reason));
        }
        if self.rows == 0 {
            return Ok(None);
        }
        let count = self.read.columns;
        let first = match self.read.row {
            ReadRow::First => 0,
            ReadRow::Middle => (self.rows.div_ceil(2) - 1) * count,
        };
        for (column, place) in space[..count].iter_mut().enumerate() {
            let at = first + column;
            let start = if at == 0 { 0 } else { self.slots[at - 1].end };
            let slot = self.slots[at];
            *place = (!slot.null).then(|| &self.text[start..slot.end]);
        }
        Ok(Some(&space[..count]))
    }

    fn keep(&mut self, null: bool) {
        self.slots.push(Slot { end: self.text.len(), null });
    }

    fn text_row(&mut self, mut row: &[u8]) -> Option<()> {
        const NULL: u8 = 0xfb;
        for _ in 0..self.read.columns {
            if let Some((&NULL, rest)) = row.split_first() {
                row = rest;
                self.keep(true);
                continue;
            }
            let (length, rest) = length_encoded(row)?;
            let (value, rest) = rest.split_at_checked(length as usize)?;
            self.text.extend_from_slice(value);
            self.keep(false);
            row = rest;
        }
        Some(())
    }

    /// A zero byte, one bit for each column that is NULL (after two that are unused), the values.
    fn binary_row(&mut self, row: &[u8]) -> Option<()> {
        let nulls = row.get(1..)?;
        let mut rest = nulls.get((self.columns.len() + 7 + 2) / 8..)?;
        for at in 0..self.read.columns {
            let null = nulls[(at + 2) / 8] & (1 << ((at + 2) % 8)) != 0;
            if !null {
                rest = append(self.columns[at], rest, &mut self.text)?;
            }
            self.keep(null);
        }
        Some(())
    }
}

/// Reads a definition: six texts (catalog, schema, table, its own name, column, its own name), then
/// 12, character set, length, type, flags, decimals.
fn column(mut packet: &[u8]) -> Option<Column> {
    const UNSIGNED: u16 = 0x20;
    for _ in 0..6 {
        let (length, rest) = length_encoded(packet)?;
        packet = rest.get(length as usize..)?;
    }
    let [_, _, _, _, _, _, _, kind, low, high, decimals, ..] = *packet else { return None };
    let unsigned = u16::from_le_bytes([low, high]) & UNSIGNED != 0;
    Some(Column { kind, unsigned, decimals })
}

/// Appends a value of the binary protocol as text; gives what follows it.
fn append<'a>(column: Column, bytes: &'a [u8], out: &mut Vec<u8>) -> Option<&'a [u8]> {
    const TINY: u8 = 1;
    const SHORT: u8 = 2;
    const LONG: u8 = 3;
    const FLOAT: u8 = 4;
    const DOUBLE: u8 = 5;
    const NULL: u8 = 6;
    const TIMESTAMP: u8 = 7;
    const LONGLONG: u8 = 8;
    const INT24: u8 = 9;
    const DATE: u8 = 10;
    const TIME: u8 = 11;
    const DATETIME: u8 = 12;
    const YEAR: u8 = 13;
    let shown = |value: std::fmt::Arguments<'_>, out: &mut Vec<u8>| {
        out.write_fmt(value).expect("writing to memory does not fail");
    };
    macro_rules! number {
        ($signed:ty, $unsigned:ty) => {{
            let (value, rest) = bytes.split_first_chunk()?;
            match column.unsigned {
                true => shown(format_args!("{}", <$unsigned>::from_le_bytes(*value)), out),
                false => shown(format_args!("{}", <$signed>::from_le_bytes(*value)), out),
            }
            Some(rest)
        }};
    }
    match column.kind {
        TINY => number!(i8, u8),
        SHORT | YEAR => number!(i16, u16),
        LONG | INT24 => number!(i32, u32),
        LONGLONG => number!(i64, u64),
        FLOAT => number!(f32, f32),
        DOUBLE => number!(f64, f64),
        NULL => Some(bytes),
        DATE | DATETIME | TIMESTAMP | TIME => {
            let (&length, rest) = bytes.split_first()?;
            let (value, rest) = rest.split_at_checked(length.into())?;
            match column.kind {
                DATE => date(value, out),
                TIME => time(value, column.decimals, out),
                _ => {
                    date(value, out);
                    out.push(b' ');
                    clock(value.get(4..).unwrap_or_default(), 0, column.decimals, out);
                }
            }
            Some(rest)
        }
        // Texts, decimals, bits, documents: as they are.
        _ => {
            let (length, rest) = length_encoded(bytes)?;
            let (value, rest) = rest.split_at_checked(length as usize)?;
            out.extend_from_slice(value);
            Some(rest)
        }
    }
}

/// Year, month, day; nothing for the zero date.
fn date(value: &[u8], out: &mut Vec<u8>) {
    let (year, month, day) = match *value {
        [low, high, month, day, ..] => (u16::from_le_bytes([low, high]), month, day),
        _ => (0, 0, 0),
    };
    write!(out, "{year:04}-{month:02}-{day:02}").expect("writing to memory does not fail");
}

/// Sign, days, then hour, minute, second and microseconds; nothing for zero.
fn time(value: &[u8], decimals: u8, out: &mut Vec<u8>) {
    let (negative, days, rest) = match value {
        [negative, a, b, c, d, rest @ ..] => {
            (*negative != 0, u32::from_le_bytes([*a, *b, *c, *d]), rest)
        }
        _ => (false, 0, &[][..]),
    };
    if negative {
        out.push(b'-');
    }
    clock(rest, days, decimals, out);
}

fn clock(value: &[u8], days: u32, decimals: u8, out: &mut Vec<u8>) {
    // 64 bits, since a server may send any number of days.
    let hours = u64::from(days) * 24;
    let (hour, minute, second) = match *value {
        [hour, minute, second, ..] => (hours + u64::from(hour), minute, second),
        _ => (hours, 0, 0),
    };
    write!(out, "{hour:02}:{minute:02}:{second:02}").expect("writing to memory does not fail");
    if (1..=6).contains(&decimals) {
        let micros = match value.get(3..7) {
            Some(bytes) => u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]),
            None => 0,
        };
        out.push(b'.');
        let digits = format!("{micros:06}");
        out.extend_from_slice(&digits.as_bytes()[..decimals.into()]);
    }
}

#[cfg(test)]
mod tests;
