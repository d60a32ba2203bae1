//! A table of sixteen columns that are all in the primary key and all indexed.

use super::Shape;
use crate::sqlbench::bench::{Bench, Stop};

/// Values of field_search that the suite asks for, and those that there are.
const SEARCHED: u64 = 256;
const THERE: u64 = 128;

pub(super) fn run(bench: &mut Bench, shape: &Shape) -> Result<(), Stop> {
    let options = bench.options().clone();
    let transaction = options.fast && options.transactional();
    bench.query(&options.create_table("bench1", &columns()))?;
    bench.lock("bench1 WRITE")?;
    let rows = shape.many_key_rows;
    bench.operation("insert_key", rows, |bench| {
        let mut values = (0..rows).map(|i| row(i, shape.order[i as usize]));
        bench.in_transaction(transaction, |bench| match options.fast_insert {
            true => bench.insert_packed("bench1", values),
            false => values
                .try_for_each(|row| bench.expect(&format!("INSERT INTO bench1 VALUES {row}"), 1)),
        })
    })?;
    bench.optimize("bench1")?;
    bench.operation("update_of_primary_key_many_keys", SEARCHED, |bench| {
        bench.in_transaction(transaction, |bench| {
            (0..SEARCHED).try_for_each(|value| {
                let sql = format!("UPDATE bench1 SET field5=1 WHERE field_search={value}");
                bench.expect(&sql, with_value(rows, value))
            })
        })
    })?;
    bench.operation("delete_big_many_keys", THERE, |bench| {
        (0..THERE).try_for_each(|value| {
            let sql = format!("DELETE FROM bench1 WHERE field_search={value}");
            bench.expect(&sql, with_value(rows, value))
        })
    })?;
    bench.unlock()?;
    // The suite does not start its timer anew for this one.
    bench.operation_with_the_one_before("delete_all_many_keys", 1, |bench| match options.fast {
        true => bench.query("TRUNCATE TABLE bench1").map(drop),
        false => bench.expect("DELETE FROM bench1 WHERE field1>0", 0),
    })?;
    bench.drop_table("bench1")
}

/// Rows whose field_search is `value`.
fn with_value(rows: u64, value: u64) -> u64 {
    if value >= THERE { 0 } else { (rows + THERE - 1 - value) / THERE }
}

fn columns() -> String {
    let kinds = ["tinyint", "mediumint", "smallint", "char(16)", "integer", "float", "double"];
    let kind = |i: usize| kinds.get(i - 1).copied().unwrap_or("char(6)");
    let mut parts = vec!["field1 tinyint NOT NULL,field_search tinyint NOT NULL".to_owned()];
    parts.extend((2..=16).map(|i| format!("field{i} {} NOT NULL", kind(i))));
    let all: Vec<String> = (1..=16).map(|i| format!("field{i}")).collect();
    parts.push(format!("PRIMARY KEY ({})", all.join(",")));
    parts.push("INDEX index2 (field_search)".to_owned());
    parts.extend((3..=16).map(|i| format!("INDEX index{i} (field{i})")));
    parts.join(",")
}

fn row(i: u64, key: u64) -> String {
    let (low, short) = (i & 127, i & 32_767);
    let copies = vec![format!("'{key}'"); 9].join(",");
    format!("({low},{low},{key},{short},'ABCDEF{key}',0,{key},{key}.0,{copies})")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_by_value_are_counted_as_they_are_made() {
        for rows in [100, 128, 1000, 100_000] {
            for value in 0..SEARCHED {
                let found = (0..rows).filter(|i| i & 127 == value).count() as u64;
                assert_eq!(with_value(rows, value), found, "{value} of {rows}");
            }
        }
    }

    #[test]
    fn a_row_has_seventeen_columns() {
        let row = row(32_768, 104_566);
        assert_eq!(row.split(',').count(), 17);
        assert!(row.starts_with("(0,0,104566,0,'ABCDEF104566',0,104566,104566.0,'104566',"));
    }
}
