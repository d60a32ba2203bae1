//! The test program: make the tables, fill them, ask, drop them.

use super::cell::literal;
use super::data;
use super::queries::{GROUPS, Group};
use super::schema::SCHEMAS;
use crate::sqlbench::{Bench, Options, Stop};

const LOOPS: u64 = 100;
/// The loop in which the original counts the rows. A small run does not get there.
const ORIGINALS_CHECK: u64 = 100;
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
    if bench.options().fast {
        let sql = format!("OPTIMIZE TABLE {}", list(""));
        bench.operation("book-keeping", 1, |bench| bench.query(&sql))?;
    }
    if bench.options().lock_tables {
        bench.query(&lock(" READ"))?;
    }
    let loops = loops(bench.options());
    for group in &GROUPS {
        ask(bench, group, loops)?;
    }
    if bench.options().lock_tables {
        bench.query("UNLOCK TABLES")?;
    }
    if !bench.options().skip_delete {
        drop_tables(bench)?;
    }
    Ok(())
}

/// Passes over the list of each group.
fn loops(options: &Options) -> u64 {
    let loops = options.loop_count.unwrap_or(LOOPS);
    if options.small { (loops / 10).max(1) } else { loops }
}

fn create(bench: &mut Bench) -> Result<(), Stop> {
    let creates: Vec<String> = SCHEMAS
        .iter()
        .map(|schema| bench.options().create_table(schema.name, schema.definition))
        .collect();
    bench.operation("create_table", SCHEMAS.len() as u64, |bench| {
        for (schema, create) in SCHEMAS.iter().zip(&creates) {
            // There is nothing to drop unless an earlier run was cut short.
            let _ = bench.try_query(&format!("DROP TABLE {}", schema.name))?;
            bench.query(create)?;
        }
        Ok(())
    })
}

fn insert(bench: &mut Bench) -> Result<(), Stop> {
    let (fast, locks) = (bench.options().fast, bench.options().lock_tables);
    let statements: Vec<String> = SCHEMAS
        .iter()
        .zip(data::rows())
        .flat_map(|(schema, rows)| {
            let rows: Vec<String> = rows.iter().map(literal).collect();
            let rows = if fast { vec![rows.join(",")] } else { rows };
            rows.into_iter().map(|rows| format!("INSERT INTO {} VALUES {rows}", schema.name))
        })
        .collect();
    bench.operation("insert", data::ROWS, |bench| {
        if locks {
            bench.query(&lock(" WRITE"))?;
        }
        if fast {
            bench.warn(
                "one INSERT of many rows for each table, where the original loads files that the \
                 server must be able to read"
                    .to_owned(),
            );
        }
        for statement in &statements {
            bench.query(statement)?;
        }
        if locks {
            bench.query("UNLOCK TABLES")?;
        }
        Ok(())
    })
}

fn ask(bench: &mut Bench, group: &Group, loops: u64) -> Result<(), Stop> {
    bench.operation(group.name, loops * group.queries.len() as u64, |bench| {
        for pass in 1..=loops {
            for query in group.queries {
                // The original counts in one late loop only; so that small runs are checked too, we
                // count in the first one as well.
                if pass == 1 || pass == ORIGINALS_CHECK {
                    bench.expect(query.sql, query.rows)?;
                } else {
                    bench.query(query.sql)?;
                }
            }
        }
        Ok(())
    })
}

fn drop_tables(bench: &mut Bench) -> Result<(), Stop> {
    bench.operation("drop_table", SCHEMAS.len() as u64, |bench| {
        for schema in &SCHEMAS {
            bench.query(&format!("DROP TABLE {}", schema.name))?;
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

fn lock(kind: &str) -> String {
    let aliases = ALIASES.map(|alias| format!("{alias}{kind}"));
    format!("LOCK TABLES {}, {}", list(kind), aliases.join(", "))
}
