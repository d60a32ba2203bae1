//! transactions: the same changes committed at once, one by one, and rolled back.

use crate::sqlbench::bench::{Bench, Stop};
use crate::sqlbench::options::Options;

/// The first takes transactions, the second single statements.
const TABLES: [&str; 2] = ["bench1", "bench2"];
const ROWS: u64 = 10_000;
const BATCH: u64 = 100;
const REGIONS: u64 = 27;

pub fn tables(_: &Options) -> Vec<String> {
    TABLES.map(str::to_owned).to_vec()
}

pub fn run(bench: &mut Bench) -> Result<(), Stop> {
    let options = bench.options().clone();
    let small = options.small || options.small_tables;
    let rows =
        options.row_count.or(options.loop_count).unwrap_or(ROWS) / if small { 100 } else { 1 };
    let batch = if small { BATCH / 10 } else { BATCH };
    for table in TABLES {
        bench.drop_if_there(table)?;
        let columns = "idn int NOT NULL,rev_idn int NOT NULL,region char(1) NOT NULL,\
                       grp int NOT NULL,updated tinyint NOT NULL,PRIMARY KEY (idn),\
                       UNIQUE (region,grp)";
        bench.query(&options.create_table(table, columns))?;
    }
    let [together, alone] = TABLES;
    let insert = |table: &str, i| insert(table, i, rows);
    let update = |table: &str, i| format!("UPDATE {table} SET updated=1 WHERE idn={i}");
    let delete = |table: &str, i| format!("DELETE FROM {table} WHERE idn={i}");

    autocommit(bench, false)?;
    committed(bench, "insert_commit", rows, |i| insert(together, i))?;
    autocommit(bench, true)?;
    one_by_one(bench, "insert_autocommit", rows, |i| insert(alone, i))?;
    autocommit(bench, false)?;
    // New ids: all of the old ones are there.
    rolled_back(bench, "insert_rollback", (rows, batch), |i| insert(together, rows + i))?;
    rolled_back(bench, "update_rollback", (rows, batch), |i| update(together, i))?;
    rolled_back(bench, "delete_rollback", (rows, batch), |i| delete(together, i))?;
    committed(bench, "update_commit", rows, |i| update(together, i))?;
    autocommit(bench, true)?;
    one_by_one(bench, "update_autocommit", rows, |i| update(alone, i))?;
    autocommit(bench, false)?;
    committed(bench, "delete_commit", rows, |i| delete(together, i))?;
    autocommit(bench, true)?;
    one_by_one(bench, "delete_autocommit", rows, |i| delete(alone, i))?;
    if !options.skip_delete {
        TABLES.iter().try_for_each(|table| bench.drop_table(table))?;
    }
    Ok(())
}

fn autocommit(bench: &mut Bench, on: bool) -> Result<(), Stop> {
    bench.query(&format!("SET autocommit={}", u8::from(on))).map(drop)
}

fn one_by_one(
    bench: &mut Bench,
    name: &str,
    rows: u64,
    sql: impl Fn(u64) -> String,
) -> Result<(), Stop> {
    bench.operation(name, rows, |bench| (0..rows).try_for_each(|i| bench.expect(&sql(i), 1)))
}

fn committed(
    bench: &mut Bench,
    name: &str,
    rows: u64,
    sql: impl Fn(u64) -> String,
) -> Result<(), Stop> {
    bench.operation(name, rows, |bench| {
        (0..rows).try_for_each(|i| bench.expect(&sql(i), 1))?;
        bench.query("COMMIT").map(drop)
    })
}

/// Counts rollbacks, as the suite does.
fn rolled_back(
    bench: &mut Bench,
    name: &str,
    (rows, batch): (u64, u64),
    sql: impl Fn(u64) -> String,
) -> Result<(), Stop> {
    bench.operation(name, rows / batch, |bench| {
        for i in 0..rows {
            bench.expect(&sql(i), 1)?;
            if (i + 1) % batch == 0 {
                bench.query("ROLLBACK")?;
            }
        }
        Ok(())
    })
}

/// The group is a fraction, which the server rounds: (region, grp) stays unique.
fn insert(table: &str, i: u64, rows: u64) -> String {
    let region = char::from(b'A' + (i % REGIONS) as u8);
    let group = i as f64 / REGIONS as f64;
    let reverse = rows as i64 - 1 - i as i64;
    format!("INSERT INTO {table} VALUES ({i},{reverse},'{region}',{group:.13},0)")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn rounded_groups_keep_the_unique_key() {
        let key = |i: u64| (i % REGIONS, (i as f64 / REGIONS as f64).round() as u64);
        let keys: HashSet<_> = (0..2 * ROWS).map(key).collect();
        assert_eq!(keys.len() as u64, 2 * ROWS);
        let sql = insert("t", 28, 100);
        assert_eq!(sql, "INSERT INTO t VALUES (28,71,'B',1.0370370370370,0)");
    }
}
