//! connect: connections opened and closed, and the smallest selects.

use crate::sqlbench::bench::{Bench, Stop};
use crate::sqlbench::options::Options;

const TABLE: &str = "bench1";
const LOOPS: u64 = 100_000;
const MOST_TCP_LOOPS: u64 = 1000;
const BIG_TEXT: usize = 65_000;

pub fn tables(_: &Options) -> Vec<String> {
    vec![TABLE.to_owned()]
}

/// Begins without an open connection.
pub fn run(bench: &mut Bench) -> Result<(), Stop> {
    let options = bench.options().clone();
    let mut loops = options.loop_count.unwrap_or(LOOPS) / options.choose(1, 100);
    if options.tcpip {
        loops = loops.min(MOST_TCP_LOOPS);
    }
    let connects = (loops / 10).max(1);
    let row = |i: u64| format!("SELECT a,i,s,{i} FROM {TABLE}");

    reads(bench, "connect", connects, |bench, _| {
        bench.connect()?;
        bench.disconnect();
        Ok(())
    })?;
    connected(bench, "connect+select_simple", connects, |i| format!("SELECT {i}"))?;
    bench.connect()?;
    selects(bench, "select_simple", loops, 1, |i| format!("SELECT {i}"))?;
    selects(bench, "select_simple_cache", loops, 1, |_| "SELECT 10000".to_owned())?;

    bench.drop_if_there(TABLE)?;
    let columns = "a int NOT NULL,i int,s char(10),PRIMARY KEY (a)";
    bench.query(&options.create_table(TABLE, columns))?;
    bench.expect(&format!("INSERT INTO {TABLE} VALUES (1,100,'AAA')"), 1)?;
    bench.disconnect();

    connected(bench, "connect+select_1_row", connects, row)?;
    bench.connect()?;
    selects(bench, "select_1_row", loops, 1, row)?;
    selects(bench, "select_1_row_cache", loops, 1, |_| format!("SELECT a,i,s FROM {TABLE}"))?;
    bench.expect(&format!("INSERT INTO {TABLE} VALUES (2,200,'BBB')"), 1)?;
    selects(bench, "select_2_rows", loops, 2, row)?;
    let sum = ["a"; 9].join("+");
    selects(bench, "select_column+column", loops, 2, |i| format!("SELECT {sum}+{i} FROM {TABLE}"))?;
    bench.drop_table(TABLE)?;

    if options.names_engine("heap") {
        return Ok(());
    }
    bench.query(&options.create_table(TABLE, "b blob"))?;
    let text = "A".repeat(BIG_TEXT);
    bench.expect(&format!("INSERT INTO {TABLE} VALUES ('{text}')"), 1)?;
    reads(bench, "select_big_str", connects, |bench, i| {
        bench.expect_length(&format!("SELECT b,{i} FROM {TABLE}"), BIG_TEXT as u64)
    })?;
    bench.drop_table(TABLE)
}

/// Selects that have a connection each.
fn connected(
    bench: &mut Bench,
    name: &str,
    loops: u64,
    sql: impl Fn(u64) -> String,
) -> Result<(), Stop> {
    reads(bench, name, loops, |bench, i| {
        bench.connect()?;
        bench.expect(&sql(i), 1)?;
        bench.disconnect();
        Ok(())
    })
}

fn selects(
    bench: &mut Bench,
    name: &str,
    loops: u64,
    rows: u64,
    sql: impl Fn(u64) -> String,
) -> Result<(), Stop> {
    reads(bench, name, loops, |bench, i| bench.expect(&sql(i), rows))
}

fn reads(
    bench: &mut Bench,
    name: &str,
    loops: u64,
    mut one: impl FnMut(&mut Bench, u64) -> Result<(), Stop>,
) -> Result<(), Stop> {
    bench.operation(name, loops, |bench| {
        for i in 0..loops {
            if bench.past_limit(i, loops) {
                break;
            }
            one(bench, i)?;
        }
        Ok(())
    })
}
