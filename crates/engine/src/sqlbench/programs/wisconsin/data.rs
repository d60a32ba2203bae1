//! The rows of the Wisconsin benchmark, as sql-bench has them: sixteen columns that all follow from
//! the first two.

use std::fmt::Write;

use crate::random::Random;

const COLUMNS: &str = "unique1 int NOT NULL,unique2 int NOT NULL,two int,four int,ten int,\
    twenty int,hundred int NOT NULL,thousand int,twothousand int,fivethous int,tenthous int,\
    odd int,even int,stringu1 char(16),stringu2 char(16),string4 char(16),UNIQUE (unique1),\
    UNIQUE (unique2)";

/// The definition of the table with this number, from 1 on, which is in the name of its index.
pub fn definition(number: usize) -> String {
    format!("{COLUMNS},INDEX hundred{number} (hundred)")
}

pub const NAMES: [&str; 16] = [
    "unique1",
    "unique2",
    "two",
    "four",
    "ten",
    "twenty",
    "hundred",
    "thousand",
    "twothousand",
    "fivethous",
    "tenthous",
    "odd",
    "even",
    "stringu1",
    "stringu2",
    "string4",
];

/// Any fixed order gives the same row counts.
const ORDER_SEED: u64 = 0x7769_7363;
const TENK: u64 = 10_000;
const ONEK: u64 = 1000;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    pub unique1: u64,
    pub unique2: u64,
    /// From `two` to `tenthous`: unique1 modulo these.
    pub parts: [u64; 9],
    pub stringu1: String,
    pub stringu2: String,
    pub string4: &'static str,
}

pub fn tenk() -> Vec<Row> {
    rows(TENK, [2, 4, 10, 20, 100, 1000, 2000, 5000, 10_000])
}

/// The larger divisors are a tenth of what the columns are called.
pub fn onek() -> Vec<Row> {
    rows(ONEK, [2, 4, 10, 20, 10, 100, 200, 500, 1000])
}

fn rows(count: u64, divisors: [u64; 9]) -> Vec<Row> {
    let mut order: Vec<u64> = (0..count).collect();
    let mut random = Random::stream(ORDER_SEED, &[count]);
    for i in (1..count).rev() {
        order.swap(i as usize, random.below(i + 1) as usize);
    }
    let numbered = order.into_iter().zip(0..);
    numbered.map(|(unique1, unique2)| Row::new(unique1, unique2, divisors)).collect()
}

impl Row {
    /// A row of the tables of ten thousand.
    pub fn of_tenk(unique1: u64, unique2: u64) -> Self {
        Self::new(unique1, unique2, [2, 4, 10, 20, 100, 1000, 2000, 5000, 10_000])
    }

    fn new(unique1: u64, unique2: u64, divisors: [u64; 9]) -> Self {
        const CYCLE: [&str; 4] = ["AAAAxx", "HHHHxx", "OOOOxx", "VVVVxx"];
        Self {
            unique1,
            unique2,
            parts: divisors.map(|divisor| unique1 % divisor),
            stringu1: letters(unique1, 2, 6),
            stringu2: letters(unique2, 3, 6),
            string4: CYCLE[(unique2 % 4) as usize],
        }
    }

    /// Twice `hundred`; the column `even` is one more, whatever the names say.
    fn odd(&self) -> u64 {
        2 * self.parts[4]
    }

    /// `(value, ...)`, as INSERT takes it.
    pub fn values(&self) -> String {
        let mut sql = format!("({},{}", self.unique1, self.unique2);
        for part in self.parts {
            write!(sql, ",{part}").expect("writing to a string does not fail");
        }
        let Row { stringu1, stringu2, string4, .. } = self;
        let (odd, even) = (self.odd(), self.odd() + 1);
        write!(sql, ",{odd},{even},'{stringu1}','{stringu2}','{string4}')")
            .expect("writing to a string does not fail");
        sql
    }
}

/// The low `digits` digits of a number in base 26, lowest first, filled up with A.
fn letters(mut number: u64, digits: usize, width: usize) -> String {
    let mut text = String::with_capacity(width);
    for _ in 0..digits {
        text.push(char::from(b'A' + (number % 26) as u8));
        number /= 26;
    }
    text.extend(std::iter::repeat_n('A', width - digits));
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn distinct<T: std::hash::Hash + Eq>(rows: &[Row], of: impl Fn(&Row) -> T) -> usize {
        rows.iter().map(of).collect::<HashSet<T>>().len()
    }

    #[test]
    fn unique1_is_a_permutation_and_unique2_the_order() {
        for (rows, count) in [(onek(), ONEK), (tenk(), TENK)] {
            assert!(rows.iter().map(|row| row.unique2).eq(0..count));
            let mut found: Vec<u64> = rows.iter().map(|row| row.unique1).collect();
            assert!(!found.is_sorted());
            found.sort_unstable();
            assert!(found.into_iter().eq(0..count));
        }
    }

    #[test]
    fn texts_have_as_many_distinct_values_as_in_the_suite() {
        let rows = tenk();
        assert_eq!(distinct(&rows, |row| row.stringu1.clone()), 676);
        assert_eq!(distinct(&rows, |row| row.stringu2.clone()), 10_000);
        assert_eq!(distinct(&rows, |row| row.string4), 4);
    }

    #[test]
    fn the_small_table_is_scaled_and_the_large_one_not() {
        assert_eq!(distinct(&tenk(), |row| row.parts[4]), 100);
        assert_eq!(distinct(&onek(), |row| row.parts[4]), 10);
        assert_eq!(distinct(&onek(), |row| row.parts[8]), 1000);
    }

    #[test]
    fn a_row_is_written_column_by_column() {
        let row = Row::of_tenk(1234, 29);
        let values = "(1234,29,0,2,4,14,34,234,1234,1234,1234,68,69,'MVAAAA','DBAAAA','HHHHxx')";
        assert_eq!(row.values(), values);
        assert_eq!(NAMES.len(), values.split(',').count());
    }
}
