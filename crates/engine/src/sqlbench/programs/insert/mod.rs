//! insert: three hundred thousand rows written, read by every kind of condition, changed, joined and
//! deleted; then a table whose sixteen columns are all keys.

mod aggregates;
mod conditions;
mod deletes;
mod fill;
mod joins;
mod lists;
mod many_keys;
mod orders;
mod reads;
mod updates;

use super::keys::{Keys, shuffled, shuffled_by};
use crate::sqlbench::bench::{Bench, Stop};
use crate::sqlbench::options::Options;

const LOOPS: u64 = 100_000;
const BIG_LOOPS: u64 = 10;
const RANGE_LOOPS: u64 = 500;
const COLUMNS: &str = "id int NOT NULL,id2 int NOT NULL,id3 int NOT NULL,dummy1 char(30)";
const PRIMARY: &str = "PRIMARY KEY (id,id2)";

/// The index on id3, which has not the same name in all tables.
fn index(name: &str) -> String {
    format!("INDEX {name} (id3)")
}

pub fn tables(_: &Options) -> Vec<String> {
    ["bench1", "bench2", "bench3"].map(str::to_owned).to_vec()
}

/// Sizes, and the order of the keys.
pub struct Shape {
    /// Rows of each third of the table.
    third: u64,
    /// Rows of the table.
    rows: u64,
    big_loops: u64,
    range_loops: u64,
    key_reads: u64,
    many_key_rows: u64,
    /// The numbers of the second third, in the order in which they are inserted.
    order: Vec<u64>,
}

impl Shape {
    fn new(options: &Options) -> Self {
        let smaller = if options.small {
            100
        } else if options.small_tables {
            10
        } else {
            1
        };
        let third = (options.loop_count.unwrap_or(LOOPS) / smaller).max(100);
        let fewer_keys = options.small || options.small_key_tables;
        Self {
            third,
            rows: 3 * third,
            big_loops: BIG_LOOPS,
            range_loops: options.choose(RANGE_LOOPS, 10),
            key_reads: if options.small || options.small_tables { 10 } else { third },
            many_key_rows: if fewer_keys { third / 10 } else { third },
            order: Vec::new(),
        }
    }

    /// Distance between the ranges that are read.
    fn step(&self) -> u64 {
        self.third / self.range_loops
    }

    fn create(&self, options: &Options, table: &str, keys: &[&str]) -> String {
        options.create_table(table, &format!("{COLUMNS},{}", keys.join(",")))
    }

    /// The keys of step 3 and 4: the order from its second number on, then a zero, which stands
    /// where the suite reads past the end.
    fn prepared_keys(&self) -> impl Iterator<Item = u64> + '_ {
        self.order[1..].iter().copied().chain([0])
    }
}

pub fn run(bench: &mut Bench) -> Result<(), Stop> {
    let mut shape = Shape::new(bench.options());
    let (order, mut keys) = shuffled(shape.third);
    shape.order = order;
    if bench.options().random {
        shape.order = shuffled_by(&mut bench.random(0), shape.third);
    }
    if !bench.options().skip_create {
        fill::run(bench, &shape, &mut keys)?;
    }
    read(bench, &shape, &mut keys)?;
    updates::run(bench, &shape)?;
    joins::run(bench, &shape)?;
    deletes::run(bench, &shape)?;
    many_keys::run(bench, &shape)?;
    fill::packed(bench, &shape)
}

fn read(bench: &mut Bench, shape: &Shape, keys: &mut Keys) -> Result<(), Stop> {
    bench.lock("bench1 READ")?;
    orders::run(bench, shape)?;
    lists::run(bench, shape, keys)?;
    reads::run(bench, shape, keys)?;
    conditions::run(bench, shape)?;
    aggregates::run(bench, shape)?;
    bench.unlock()
}

/// An operation of reads, each with the rows that it must return; the time limit may cut it.
fn reads_of(
    bench: &mut Bench,
    name: &str,
    loops: u64,
    each: u64,
    mut one: impl FnMut(&mut Bench, u64) -> Result<(), Stop>,
) -> Result<(), Stop> {
    bench.operation(name, loops * each, |bench| {
        for i in 0..loops {
            if bench.past_limit(i, loops) {
                break;
            }
            one(bench, i)?;
        }
        Ok(())
    })
}
