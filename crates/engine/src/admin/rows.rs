//! Columns of the text protocol, as rows that are kept.

use crate::protocol::length_encoded;
use crate::workload::Literal;

/// Columns that are read of a row (MySQL manual, "Table Column-Count Limits").
const MOST_COLUMNS: usize = 4096;

/// Whether a column definition is that of a whole or decimal number.
pub(super) fn is_numeric(definition: &[u8]) -> bool {
    /// Catalog, schema, table and column with their aliases, then the length of what follows.
    const TEXTS: usize = 6;
    const CHARACTER_SET_AND_LENGTH: usize = 6;
    let mut rest = definition;
    for _ in 0..TEXTS {
        let Some((length, text)) = length_encoded(rest) else { return false };
        rest = text.get(length as usize..).unwrap_or_default();
    }
    let kind = rest.get(1 + CHARACTER_SET_AND_LENGTH);
    // DECIMAL to DOUBLE, LONGLONG and INT24, YEAR, NEWDECIMAL.
    matches!(kind, Some(0..=5 | 8 | 9 | 13 | 246))
}

/// The first column of a row.
pub(super) fn word(row: &[u8], numeric: bool) -> Literal {
    let text = length_encoded(row).and_then(|(length, rest)| rest.get(..length as usize));
    match text {
        None => Literal::Null,
        Some(text) if numeric => {
            let number = str::from_utf8(text).ok().and_then(|text| text.parse().ok());
            number.map_or_else(|| Literal::Decimal(text.into()), Literal::Integer)
        }
        Some(text) => Literal::Text(text.into()),
    }
}

pub(super) fn text_columns(mut payload: &[u8]) -> Vec<Option<String>> {
    const NULL: u8 = 0xfb;
    let mut columns = Vec::new();
    while let Some(&first) = payload.first()
        && columns.len() < MOST_COLUMNS
    {
        if first == NULL {
            columns.push(None);
            payload = &payload[1..];
            continue;
        }
        let Some((length, rest)) = length_encoded(payload) else {
            break;
        };
        let Some((text, rest)) = rest.split_at_checked(length as usize) else {
            break;
        };
        columns.push(Some(String::from_utf8_lossy(text).into_owned()));
        payload = rest;
    }
    columns
}
