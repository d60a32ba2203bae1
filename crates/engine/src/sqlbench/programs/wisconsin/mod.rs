//! wisconsin: the queries of the Wisconsin benchmark on its four tables.

mod data;
mod queries;

use crate::sqlbench::bench::{Bench, Stop};
use crate::sqlbench::options::Options;
use crate::sqlbench::row_file::RowFile;

const TABLES: [&str; 4] = ["onek", "tenk1", "tenk2", "Bprime"];
const LOOPS: u64 = 10;
const SMALL_LOOPS: u64 = 2;
/// The suite reports the index of the last table.
const REPORTED_TABLES: u64 = 3;

pub fn tables(_: &Options) -> Vec<String> {
    TABLES.map(str::to_owned).to_vec()
}

pub fn run(bench: &mut Bench) -> Result<(), Stop> {
    let options = bench.options().clone();
    if !options.skip_create {
        bench.operation("create_table", REPORTED_TABLES, |bench| {
            for (number, table) in (1..).zip(TABLES) {
                bench.drop_if_there(table)?;
                bench.query(&options.create_table(table, &data::definition(number)))?;
            }
            Ok(())
        })?;
        insert(bench)?;
    }
    bench.lock(&locked())?;
    if !options.skip_create {
        bench.operation("delete_big", 1, |bench| {
            bench.expect("DELETE FROM Bprime WHERE Bprime.unique2>=1000", 9000)
        })?;
    }
    query(bench)?;
    if !options.skip_delete {
        TABLES.iter().try_for_each(|table| bench.drop_table(table))?;
    }
    Ok(())
}

/// Under LOCK TABLES, what is read under another name must be locked under it too.
fn locked() -> String {
    [&TABLES[..], &queries::ALIASES]
        .concat()
        .iter()
        .map(|name| format!("{name} WRITE"))
        .collect::<Vec<_>>()
        .join(",")
}

fn insert(bench: &mut Bench) -> Result<(), Stop> {
    let fast = bench.options().fast;
    let contents: [(&'static str, Vec<String>); 4] = TABLES.map(|table| {
        let rows = if table == "onek" { data::onek() } else { data::tenk() };
        (table, rows.iter().map(data::Row::values).collect())
    });
    let rows = contents.iter().map(|(_, rows)| rows.len() as u64).sum();
    bench.lock(&locked())?;
    if fast {
        let files = contents.into_iter().map(|(table, rows)| RowFile::new(table, rows)).collect();
        bench.operation("insert", rows, |bench| bench.load_rows(files))?;
        bench.unlock()?;
        return bench.optimize(&TABLES.join(","));
    }
    bench.operation("insert", rows, |bench| {
        for (table, rows) in contents {
            for row in rows {
                bench.expect(&format!("INSERT INTO {table} VALUES {row}"), 1)?;
            }
        }
        Ok(())
    })?;
    bench.unlock()?;
    bench.optimize(&TABLES.join(","))
}

fn query(bench: &mut Bench) -> Result<(), Stop> {
    let options = bench.options();
    let loops = options.loop_count.unwrap_or(options.choose(LOOPS, SMALL_LOOPS));
    let selects = queries::selects();
    let changes = queries::changes();
    let tests = loops * selects.len() as u64 + changes.len() as u64;
    bench.operation("wisc_benchmark", tests, |bench| {
        // Each select is repeated before the next one comes.
        for (sql, rows) in &selects {
            (0..loops).try_for_each(|_| bench.expect(sql, *rows))?;
        }
        changes.iter().try_for_each(|sql| bench.expect(sql, 1))
    })
}
