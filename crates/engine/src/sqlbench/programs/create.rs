//! create: ten thousand tables at once, and tables made and dropped one by one.

use crate::sqlbench::bench::{Bench, Stop};
use crate::sqlbench::options::Options;

const LOOPS: u64 = 10_000;
const TABLES: u64 = 10_000;
const MOST_NDB_TABLES: u64 = 32;

const COLUMNS: &str = "i int NOT NULL,d double,f float,s char(10),v varchar(100),PRIMARY KEY (i)";

/// How often each part runs.
struct Counts {
    tables: u64,
    create: u64,
    create_key: u64,
}

/// A small run keeps fewer tables and makes more of those with keys.
fn counts(options: &Options) -> Counts {
    let loops = options.loop_count.unwrap_or(LOOPS) / options.choose(1, 100);
    let tables = options.choose(TABLES, 10);
    Counts {
        tables: if options.names_engine("ndb") { tables.min(MOST_NDB_TABLES) } else { tables },
        create: options.choose(loops, loops / 10),
        create_key: loops,
    }
}

pub fn tables(options: &Options) -> Vec<String> {
    let counts = counts(options);
    let most = counts.tables.max(counts.create).max(counts.create_key);
    (1..=most).map(name).collect()
}

fn name(i: u64) -> String {
    format!("bench_{i}")
}

pub fn run(bench: &mut Bench) -> Result<(), Stop> {
    let options = bench.options().clone();
    let Counts { tables, create, create_key } = counts(&options);

    bench.operation("create_MANY_tables", tables, |bench| {
        for i in 1..=tables {
            bench.query(&options.create_table(&name(i), COLUMNS))?;
        }
        Ok(())
    })?;
    bench.operation("select_group_when_MANY_tables", tables, |bench| {
        for i in 1..=tables {
            if bench.past_limit(i - 1, tables) {
                break;
            }
            bench.expect_value(&format!("SELECT COUNT(*) FROM {}", name(i)), "0")?;
        }
        Ok(())
    })?;
    bench.operation("drop_table_when_MANY_tables", tables, |bench| {
        if options.fast {
            let names: Vec<String> = (1..=tables).map(name).collect();
            return bench.drop_table(&names.join(","));
        }
        for i in 1..=tables {
            bench.drop_table(&name(i))?;
        }
        Ok(())
    })?;
    made_and_dropped(bench, "create+drop", create, COLUMNS)?;
    made_and_dropped(bench, "create_key+drop", create_key, &columns_with_keys())
}

fn made_and_dropped(
    bench: &mut Bench,
    operation: &str,
    loops: u64,
    columns: &str,
) -> Result<(), Stop> {
    let options = bench.options().clone();
    bench.operation(operation, loops, |bench| {
        for i in 1..=loops {
            if bench.past_limit(i - 1, loops) {
                break;
            }
            bench.query(&options.create_table(&name(i), columns))?;
            bench.drop_table(&name(i))?;
        }
        Ok(())
    })
}

/// Sixteen columns, a primary key over all of them, and an index on each but the first.
fn columns_with_keys() -> String {
    let kinds = ["tinyint", "mediumint", "smallint", "char(16)", "integer", "float", "double"];
    let kind = |i: usize| kinds.get(i - 1).copied().unwrap_or("char(5)");
    let mut parts: Vec<String> =
        (1..=16).map(|i| format!("field{i} {} NOT NULL", kind(i))).collect();
    let all: Vec<String> = (1..=16).map(|i| format!("field{i}")).collect();
    parts.push(format!("PRIMARY KEY ({})", all.join(",")));
    parts.extend((2..=16).map(|i| format!("INDEX index{i} (field{i})")));
    parts.join(",")
}
