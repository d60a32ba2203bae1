//! big-tables: rows of a thousand columns, read and written.

use crate::sqlbench::bench::{Bench, Stop};
use crate::sqlbench::options::Options;

const TABLE: &str = "bench1";
const LOOPS: u64 = 1000;
const COLUMNS: u64 = 1000;

pub fn tables(_: &Options) -> Vec<String> {
    vec![TABLE.to_owned()]
}

pub fn run(bench: &mut Bench) -> Result<(), Stop> {
    let options = bench.options().clone();
    let smaller = options.choose(1, 10);
    let columns = options.field_count.unwrap_or(COLUMNS) / smaller;
    let loops = options.loop_count.unwrap_or(LOOPS) / smaller;
    let names = listed(columns, |i| format!("i{i}"));
    let ones = listed(columns, |_| "1".to_owned());

    bench.drop_if_there(TABLE)?;
    let definition = listed(columns, |i| format!("i{i} int"));
    bench.query(&options.create_table(TABLE, &definition))?;
    bench.expect(&format!("INSERT INTO {TABLE} VALUES ({ones})"), 1)?;

    for what in ["*", &names] {
        let sql = format!("SELECT {what} FROM {TABLE}");
        bench.operation("select_many_fields", loops, |bench| {
            for done in 0..loops {
                if bench.past_limit(done, loops) {
                    break;
                }
                bench.expect(&sql, 1)?;
            }
            Ok(())
        })?;
    }
    for list in [String::new(), format!(" ({names})")] {
        let sql = format!("INSERT INTO {TABLE}{list} VALUES ({ones})");
        bench.operation("insert_many_fields", loops, |bench| {
            for _ in 0..loops {
                bench.expect(&sql, 1)?;
            }
            Ok(())
        })?;
    }
    if !options.skip_delete {
        bench.drop_table(TABLE)?;
    }
    Ok(())
}

fn listed(columns: u64, column: impl Fn(u64) -> String) -> String {
    (1..=columns).map(column).collect::<Vec<_>>().join(",")
}
