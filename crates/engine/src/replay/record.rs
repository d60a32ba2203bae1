//! One statement's result, and the file of them: NumPy's format 1.0 with a structured type.
//! docs/reference/replay-results.md explains every field.

/// A field's name and NumPy type, in the order of the record.
const FIELDS: [(&str, &str); 22] = [
    ("statement", "<u8"),
    ("fingerprint", "<u8"),
    ("connection", "<u8"),
    ("trace_start_us", "<u8"),
    ("sent_us", "<u8"),
    ("start_error_us", "<i8"),
    ("latency_us", "<u8"),
    ("service_us", "<u8"),
    ("trace_service_us", "<u8"),
    ("rows", "<u8"),
    ("trace_rows", "<u8"),
    ("affected", "<u8"),
    ("ordered", "<u8"),
    ("unordered", "<u8"),
    ("error", "<u2"),
    ("trace_error", "<u2"),
    ("warnings", "<u2"),
    ("flags", "<u2"),
    ("outcome", "|u1"),
    ("reason", "|u1"),
    ("class", "|u1"),
    ("reserved", "|V5"),
];

/// Bytes of a record.
pub const SIZE: usize = 128;
/// Bytes in front of the first record, whatever their number.
pub const HEADER: usize = 1024;
/// What stands for a number that the trace does not have.
pub const UNKNOWN: u64 = u64::MAX;

/// Bits of `flags`.
pub mod flag {
    pub const TRACE_KNOWS_ERROR: u16 = 1;
    pub const ORDERED: u16 = 2;
    pub const IN_TRANSACTION: u16 = 4;
    pub const LATE: u16 = 8;
    pub const RESULT_SET: u16 = 16;
    pub const LONG_ROW: u16 = 32;
}

/// What became of a statement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Outcome {
    #[default]
    NotReached = 0,
    Replayed = 1,
    Skipped = 2,
    Lost = 3,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Record {
    pub statement: u64,
    pub fingerprint: u64,
    pub connection: u64,
    pub trace_start_us: u64,
    pub sent_us: u64,
    pub start_error_us: i64,
    pub latency_us: u64,
    pub service_us: u64,
    pub trace_service_us: u64,
    pub rows: u64,
    pub trace_rows: u64,
    pub affected: u64,
    pub ordered: u64,
    pub unordered: u64,
    pub error: u16,
    pub trace_error: u16,
    pub warnings: u16,
    pub flags: u16,
    pub outcome: Outcome,
    /// A [`super::choice::Reason`] as a number; 0 unless it was skipped.
    pub reason: u8,
    pub class: u8,
}

impl Record {
    pub fn write_to(&self, out: &mut Vec<u8>) {
        let start = out.len();
        for number in [
            self.statement,
            self.fingerprint,
            self.connection,
            self.trace_start_us,
            self.sent_us,
            self.start_error_us.cast_unsigned(),
            self.latency_us,
            self.service_us,
            self.trace_service_us,
            self.rows,
            self.trace_rows,
            self.affected,
            self.ordered,
            self.unordered,
        ] {
            out.extend(number.to_le_bytes());
        }
        for number in [self.error, self.trace_error, self.warnings, self.flags] {
            out.extend(number.to_le_bytes());
        }
        out.extend([self.outcome as u8, self.reason, self.class]);
        out.resize(start + SIZE, 0);
    }
}

/// What stands in front of so many records.
pub fn header(count: u64) -> Vec<u8> {
    let fields: Vec<String> =
        FIELDS.iter().map(|(name, kind)| format!("('{name}', '{kind}')")).collect();
    let fields = fields.join(", ");
    let mut text =
        format!("{{'descr': [{fields}], 'fortran_order': False, 'shape': ({count},), }}");
    let mut header = b"\x93NUMPY\x01\x00".to_vec();
    let length = HEADER - header.len() - 2;
    header.extend((length as u16).to_le_bytes());
    text.extend(std::iter::repeat_n(' ', length - 1 - text.len()));
    text.push('\n');
    header.extend(text.as_bytes());
    header
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fields_fill_the_record() {
        let size = |kind: &str| kind[2..].parse::<usize>().unwrap();
        assert_eq!(FIELDS.iter().map(|(_, kind)| size(kind)).sum::<usize>(), SIZE);
        let mut bytes = Vec::new();
        let record = Record { start_error_us: -2, class: 3, ..Record::default() };
        record.write_to(&mut bytes);
        assert_eq!(bytes.len(), SIZE);
        assert_eq!(bytes[40..48], (-2i64).to_le_bytes());
        assert_eq!(bytes[122], 3);
    }

    #[test]
    fn the_header_has_its_length_whatever_the_count() {
        assert_eq!((header(0).len(), header(u64::MAX).len()), (HEADER, HEADER));
    }
}
