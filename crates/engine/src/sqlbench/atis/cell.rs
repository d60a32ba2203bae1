//! Values of a generated row, and how SQL writes them.

use std::fmt::{self, Display};

/// One value of a row.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cell {
    Integer(i64),
    /// So many tenths or hundredths: the number, and the places behind the point.
    Decimal(i64, u32),
    Text(String),
}

/// A row, in the order of the table's columns.
pub type Row = Vec<Cell>;

impl Display for Cell {
    /// As an SQL literal.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(value) => write!(out, "{value}"),
            Self::Decimal(value, places) => {
                let unit = 10i64.pow(*places);
                let width = *places as usize;
                write!(out, "{}.{:0width$}", value / unit, value % unit)
            }
            Self::Text(text) => write!(out, "'{}'", text.replace('\'', "''")),
        }
    }
}

impl From<i64> for Cell {
    fn from(value: i64) -> Self {
        Self::Integer(value)
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

/// A row of values of several types.
macro_rules! row {
    ($($value:expr),+ $(,)?) => { vec![$($crate::sqlbench::atis::cell::Cell::from($value)),+] };
}
pub(crate) use row;

/// Puts the rows' literals in brackets, as VALUES wants them.
pub fn literal(row: &Row) -> String {
    let values: Vec<String> = row.iter().map(Cell::to_string).collect();
    format!("({})", values.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_written_as_sql_literals() {
        let row = row![7, "it's", Cell::Decimal(1205, 2), Cell::Decimal(3, 1), ""];
        assert_eq!(literal(&row), "(7,'it''s',12.05,0.3,'')");
    }
}
