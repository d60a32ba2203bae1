//! alter-table: a narrow table grows to a thousand columns and shrinks again.

use crate::sqlbench::bench::{Bench, Stop};
use crate::sqlbench::options::Options;

const TABLE: &str = "bench";
const START_COLUMNS: u64 = 8;
const COLUMNS: u64 = 1000;
const ROWS: u64 = 1000;
const STEPS: u64 = 100;

pub fn tables(_: &Options) -> Vec<String> {
    vec![TABLE.to_owned()]
}

pub fn run(bench: &mut Bench) -> Result<(), Stop> {
    let options = bench.options().clone();
    let smaller = options.choose(1, 10);
    let rows = options.row_count.unwrap_or(ROWS) / smaller;
    let columns = options.field_count.unwrap_or(COLUMNS) / smaller;
    let steps = options.loop_count.unwrap_or(STEPS);
    let suffix = options.alter_suffix();

    bench.drop_if_there(TABLE)?;
    let first: Vec<String> = (1..=START_COLUMNS).map(|i| format!("i{i} int NOT NULL")).collect();
    bench.query(&options.create_table(TABLE, &first.join(",")))?;

    // The suite's totals leave this insert out.
    bench.unsummed_operation("insert", rows, |bench| {
        bench.in_transaction(options.fast && options.transactional(), |bench| {
            for row in 0..rows {
                let values = vec![row.to_string(); START_COLUMNS as usize].join(",");
                bench.expect(&format!("INSERT INTO {TABLE} VALUES ({values})"), 1)?;
            }
            Ok(())
        })
    })?;

    let adds = additions(columns, steps);
    bench.operation("alter_table_add", adds.len() as u64, |bench| {
        for columns in &adds {
            let added: Vec<String> = columns.iter().map(|i| format!("ADD i{i} integer")).collect();
            bench.query(&format!("ALTER TABLE {TABLE} {}{suffix}", added.join(",")))?;
        }
        Ok(())
    })?;
    // CREATE INDEX takes the algorithm without a comma; DROP INDEX of MariaDB takes none.
    let suffix_of_index = suffix.replace(',', "");
    bench.operation("create_index", START_COLUMNS, |bench| {
        for i in 1..=START_COLUMNS {
            bench
                .query(&format!("CREATE INDEX bench_ind{i} ON {TABLE} (i{i}){suffix_of_index}"))?;
        }
        Ok(())
    })?;
    bench.operation("drop_index", START_COLUMNS, |bench| {
        for i in 1..=START_COLUMNS {
            bench.query(&format!("DROP INDEX bench_ind{i} ON {TABLE}"))?;
        }
        Ok(())
    })?;
    let drops = removals(columns, steps);
    bench.operation("alter_table_drop", drops.len() as u64, |bench| {
        for columns in &drops {
            let dropped: Vec<String> = columns.iter().map(|i| format!("DROP i{i}")).collect();
            bench.query(&format!("ALTER TABLE {TABLE} {}{suffix}", dropped.join(",")))?;
        }
        Ok(())
    })?;
    if !options.skip_delete {
        bench.drop_table(TABLE)?;
    }
    Ok(())
}

/// Columns in one statement.
fn step(columns: u64, steps: u64) -> u64 {
    columns.saturating_sub(START_COLUMNS) / steps + 1
}

/// The columns that each statement adds.
fn additions(columns: u64, steps: u64) -> Vec<Vec<u64>> {
    let all: Vec<u64> = (START_COLUMNS + 1..=columns).collect();
    all.chunks(step(columns, steps) as usize).map(<[u64]>::to_vec).collect()
}

/// The columns that each statement drops, from the last. The suite passes over one column before
/// each statement, so that these are never dropped.
fn removals(columns: u64, steps: u64) -> Vec<Vec<u64>> {
    let all: Vec<u64> = (START_COLUMNS + 1..=columns).rev().collect();
    let passed_over_and_dropped = all.chunks(step(columns, steps) as usize + 1);
    passed_over_and_dropped.map(|chunk| chunk[1..].to_vec()).filter(|c| !c.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_run_adds_in_a_hundred_statements_and_drops_in_ninety_one() {
        let adds = additions(1000, 100);
        assert_eq!(adds.len(), 100);
        assert!(adds[..99].iter().all(|columns| columns.len() == 10));
        assert_eq!(adds[99], [999, 1000]);
        let drops = removals(1000, 100);
        assert_eq!(drops.len(), 91);
        assert_eq!(drops[0], (990..1000).rev().collect::<Vec<_>>());
        assert_eq!(drops[90], [9]);
        let dropped: usize = drops.iter().map(Vec::len).sum();
        assert_eq!(992 - dropped, 91, "columns that stay");
    }

    #[test]
    fn a_small_run_adds_one_column_a_statement_and_drops_every_second() {
        assert_eq!(additions(100, 100).len(), 92);
        let drops = removals(100, 100);
        assert_eq!(drops.len(), 46);
        assert_eq!(drops[0], [99]);
        assert_eq!(drops[45], [9]);
    }
}
