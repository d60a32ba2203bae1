//! The test program: make the tables, fill them, ask, drop them.

use super::cell::literal;
use super::data;
use super::queries::{GROUPS, Group};
use super::schema::SCHEMAS;
use crate::sqlbench::row_file::RowFile;
use crate::sqlbench::{Bench, Options, Stop};

const LOOPS: u64 = 100;
/// A small run makes one loop of so many.
const SMALL: u64 = 10;
/// Names under which queries join the airports twice; a lock must name them.
const ALIASES: [&str; 2] = ["airport AS origin", "airport AS destination"];

/// Every table that the program makes.
pub fn tables(_: &Options) -> Vec<String> {
    SCHEMAS.iter().map(|schema| schema.name.to_owned()).collect()
}

/// Runs the program.
///
/// # Errors
/// What ended it before its time. A query that finds other rows than it should does not: it counts as
/// failed, with a warning.
pub fn run(bench: &mut Bench) -> Result<(), Stop> {
    if !bench.options().skip_create {
        create(bench)?;
        insert(bench)?;
    }
    bench.optimize(&list(""))?;
    bench.lock(&locked("READ"))?;
    let loops = loops(bench.options());
    for group in &GROUPS {
        ask(bench, group, loops)?;
    }
    bench.unlock()?;
    if !bench.options().skip_delete {
        bench.operation("drop_table", SCHEMAS.len() as u64, |bench| {
            SCHEMAS.iter().try_for_each(|schema| bench.drop_table(schema.name))
        })?;
    }
    Ok(())
}

/// Passes over the queries of each group.
fn loops(options: &Options) -> u64 {
    let loops = options.loop_count.unwrap_or(LOOPS);
    if options.small { (loops / SMALL).max(1) } else { loops }
}

fn create(bench: &mut Bench) -> Result<(), Stop> {
    let options = bench.options().clone();
    bench.operation("create_table", SCHEMAS.len() as u64, |bench| {
        for schema in &SCHEMAS {
            bench.drop_if_there(schema.name)?;
            bench.query(&options.create_table(schema.name, schema.definition))?;
        }
        Ok(())
    })
}

fn insert(bench: &mut Bench) -> Result<(), Stop> {
    let contents: Vec<(&'static str, Vec<String>)> = SCHEMAS
        .iter()
        .zip(data::rows())
        .map(|(schema, rows)| (schema.name, rows.iter().map(literal).collect()))
        .collect();
    if bench.options().fast {
        let files = contents.into_iter().map(|(table, rows)| RowFile::new(table, rows)).collect();
        return bench.operation("insert", data::ROWS, |bench| {
            bench.lock(&locked("WRITE"))?;
            bench.load_rows(files)?;
            bench.unlock()
        });
    }
    bench.operation("insert", data::ROWS, |bench| {
        bench.lock(&locked("WRITE"))?;
        for (table, rows) in contents {
            for row in rows {
                bench.expect(&format!("INSERT INTO {table} VALUES {row}"), 1)?;
            }
        }
        bench.unlock()
    })
}

/// The original counts rows in its hundredth loop alone; here every answer is checked, which costs
/// nothing.
fn ask(bench: &mut Bench, group: &Group, loops: u64) -> Result<(), Stop> {
    bench.operation(group.name, loops * group.queries.len() as u64, |bench| {
        for pass in 0..loops {
            if bench.past_limit(pass, loops) {
                break;
            }
            for query in group.queries {
                bench.expect(query.sql, query.rows)?;
            }
        }
        Ok(())
    })
}

/// The tables' names with something after each.
fn list(after: &str) -> String {
    let names: Vec<String> =
        SCHEMAS.iter().map(|schema| format!("{}{after}", schema.name)).collect();
    names.join(", ")
}

/// The tables and aliases that a lock names.
fn locked(kind: &str) -> String {
    let aliases = ALIASES.map(|alias| format!("{alias} {kind}"));
    format!("{}, {}", list(&format!(" {kind}")), aliases.join(", "))
}
