use super::*;
use proptest::collection::vec;
use proptest::prelude::*;

const FIRST: Read = Read { columns: 1, row: ReadRow::First };

fn packet(payload: &[u8]) -> Packet<'_> {
    Packet { length: payload.len() as u32, sequence: 0, head: payload }
}

fn definition(kind: u8, flags: u16, decimals: u8) -> Vec<u8> {
    let mut bytes = Vec::new();
    for text in ["def", "test", "t", "t", "c", "c"] {
        bytes.push(text.len() as u8);
        bytes.extend(text.bytes());
    }
    bytes.extend([12, 45, 0, 11, 0, 0, 0, kind]);
    bytes.extend(flags.to_le_bytes());
    bytes.extend([decimals, 0, 0]);
    bytes
}

/// What is captured of rows of text columns.
fn text(read: Read, columns: usize, rows: &[&[u8]]) -> Result<Option<Vec<Option<String>>>, u16> {
    let mut capture = Capture::new(FIRST);
    capture.begin(read, false);
    (0..columns).for_each(|_| capture.definition(packet(&definition(253, 0, 0))));
    rows.iter().for_each(|row| capture.row(packet(row)));
    found(&capture)
}

fn found(capture: &Capture) -> Result<Option<Vec<Option<String>>>, u16> {
    let mut space = [None; MOST_READ];
    let row = capture.finish(&mut space).map_err(|error| error.code)?;
    Ok(row.map(|columns| {
        columns.iter().map(|value| value.map(|v| String::from_utf8_lossy(v).into())).collect()
    }))
}

/// One value of the binary protocol as text.
fn binary(kind: u8, flags: u16, decimals: u8, value: &[u8]) -> String {
    let mut capture = Capture::new(FIRST);
    capture.begin(FIRST, true);
    capture.definition(packet(&definition(kind, flags, decimals)));
    capture.row(packet(&[&[0, 0][..], value].concat()));
    found(&capture).unwrap().unwrap().remove(0).unwrap()
}

fn words(row: &[Option<&str>]) -> Result<Option<Vec<Option<String>>>, u16> {
    Ok(Some(row.iter().map(|word| word.map(str::to_owned)).collect()))
}

#[test]
fn the_first_row_gives_its_first_columns_with_null_apart_from_empty() {
    let read = Read { columns: 3, row: ReadRow::First };
    let rows: [&[u8]; 2] = [b"\x02ab\xfb\x00\x01x", b"\x01c\x01d\x01e\x01f"];
    assert_eq!(text(read, 4, &rows), words(&[Some("ab"), None, Some("")]));
    assert_eq!(text(read, 4, &[]), Ok(None));
}

#[test]
fn the_middle_row_is_half_the_number_of_rows_rounded_up() {
    let read = Read { columns: 1, row: ReadRow::Middle };
    let rows: [&[u8]; 5] = [b"\x01a", b"\x01b", b"\x01c", b"\x01d", b"\x01e"];
    for (count, middle) in [(1, "a"), (2, "a"), (3, "b"), (4, "b"), (5, "c")] {
        assert_eq!(text(read, 1, &rows[..count]), words(&[Some(middle)]), "{count} rows");
    }
}

#[test]
fn too_few_columns_and_columns_beyond_the_limit_are_errors() {
    let read = Read { columns: 2, row: ReadRow::First };
    assert_eq!(text(read, 1, &[b"\x01a"]), Err(code::UNKNOWN));
    let mut long = vec![0xfc];
    long.extend(5000u16.to_le_bytes());
    long.resize(5003, b'x');
    assert_eq!(text(FIRST, 1, &[&long]), Err(code::UNKNOWN), "the same however it arrived");
}

#[test]
fn binary_values_read_as_the_text_protocol_would_show_them() {
    const UNSIGNED: u16 = 0x20;
    for (kind, flags, decimals, value, expected) in [
        (1, 0, 0, &[0xff][..], "-1"),
        (1, UNSIGNED, 0, &[0xff], "255"),
        (2, 0, 0, &[0xfe, 0xff], "-2"),
        (13, UNSIGNED, 0, &[0xea, 0x07], "2026"),
        (3, 0, 0, &[0, 0, 0, 0x80], "-2147483648"),
        (9, UNSIGNED, 0, &[1, 0, 0, 0], "1"),
        (8, UNSIGNED, 0, &[0xff; 8], "18446744073709551615"),
        (4, 0, 31, &1.5f32.to_le_bytes(), "1.5"),
        (5, 0, 31, &(-0.1f64).to_le_bytes(), "-0.1"),
        (246, 0, 2, b"\x06-12.50", "-12.50"),
        (253, 0, 0, b"\x03abc", "abc"),
        (10, 0, 0, &[4, 0xea, 0x07, 11, 21], "2026-11-21"),
        (10, 0, 0, &[0], "0000-00-00"),
        (12, 0, 0, &[7, 0xea, 0x07, 1, 2, 3, 4, 5], "2026-01-02 03:04:05"),
        (7, 0, 3, &[11, 0xea, 0x07, 1, 2, 3, 4, 5, 0x40, 0xe2, 1, 0], "2026-01-02 03:04:05.123"),
        (12, 0, 0, &[4, 0xea, 0x07, 1, 2], "2026-01-02 00:00:00"),
        (11, 0, 0, &[8, 1, 1, 0, 0, 0, 2, 3, 4], "-26:03:04"),
        // A server may send any number of days.
        (11, 0, 0, &[8, 0, 255, 255, 255, 255, 2, 3, 4], "103079215082:03:04"),
        (11, 0, 0, &[0], "00:00:00"),
    ] {
        assert_eq!(binary(kind, flags, decimals, value), expected, "type {kind}");
    }
}

#[test]
fn a_binary_row_reports_its_nulls_in_bits_that_begin_at_the_third() {
    let mut capture = Capture::new(FIRST);
    capture.begin(Read { columns: 8, row: ReadRow::First }, true);
    (0..8).for_each(|_| capture.definition(packet(&definition(1, 0, 0))));
    // Columns 2 and 7 (from 1) are NULL: bits 3 and 8.
    capture.row(packet(&[0, 0b0000_1000, 0b0000_0001, 1, 3, 4, 5, 6, 8]));
    let expected = ["1", "", "3", "4", "5", "6", "", "8"].map(|word| match word {
        "" => None,
        word => Some(word),
    });
    assert_eq!(found(&capture), words(&expected));
}

proptest! {
    #[test]
    fn no_bytes_from_a_server_make_the_capture_panic(
        definitions in vec(vec(any::<u8>(), 0..40), 0..6),
        kinds in vec((any::<u8>(), any::<u16>(), any::<u8>()), 0..6),
        rows in vec(vec(any::<u8>(), 0..60), 0..6),
        columns in 0usize..8,
        (binary, middle) in any::<(bool, bool)>(),
    ) {
        let row = if middle { ReadRow::Middle } else { ReadRow::First };
        let mut capture = Capture::new(FIRST);
        capture.begin(Read { columns, row }, binary);
        definitions.iter().for_each(|bytes| capture.definition(packet(bytes)));
        capture.begin(Read { columns, row }, binary);
        for (kind, flags, decimals) in kinds {
            capture.definition(packet(&definition(kind, flags, decimals)));
        }
        rows.iter().for_each(|bytes| capture.row(packet(bytes)));
        let mut space = [None; MOST_READ];
        let _ = capture.finish(&mut space);
    }
}
