//! Outer joins of the table with itself, lists against joins, and INSERT ... SELECT.

use super::{PRIMARY, Shape, index};
use crate::sqlbench::bench::{Bench, Stop};

/// Rows of the small table, one step after the other.
const SIZES: [u64; 3] = [10, 100, 1000];

pub(super) fn run(bench: &mut Bench, shape: &Shape) -> Result<(), Stop> {
    outer(bench, shape)?;
    lists(bench, shape)?;
    insert_select(bench, shape)
}

fn outer(bench: &mut Bench, shape: &Shape) -> Result<(), Stop> {
    let from = "FROM bench1 AS a LEFT OUTER JOIN bench1 AS b ON (a.id2=b.id3)";
    bench.lock("bench1 a READ,bench1 b READ")?;
    for (name, tests, select) in [
        ("outer_join_on_key", shape.big_loops, format!("COUNT(*) {from}")),
        ("outer_join", shape.big_loops, format!("COUNT(a.dummy1),COUNT(b.dummy1) {from}")),
        (
            "outer_join_found",
            shape.big_loops,
            format!("COUNT(a.dummy1),COUNT(b.dummy1) {from} WHERE b.id3 IS NOT NULL"),
        ),
        // The suite reports another loop's count.
        (
            "outer_join_not_found",
            shape.range_loops,
            format!("COUNT(a.dummy1),COUNT(b.dummy1) {from} WHERE b.id3 IS NULL"),
        ),
    ] {
        bench.operation(name, tests, |bench| {
            (0..shape.big_loops).try_for_each(|_| bench.expect(&format!("SELECT {select}"), 1))
        })?;
    }
    bench.unlock()
}

fn lists(bench: &mut Bench, shape: &Shape) -> Result<(), Stop> {
    bench.drop_if_there("bench2")?;
    let create = bench.options().create_table("bench2", "id int NOT NULL,PRIMARY KEY (id)");
    bench.query(&create)?;
    let mut filled = 0;
    for size in SIZES {
        for id in filled + 1..=size {
            bench.expect(&format!("INSERT INTO bench2 VALUES ({id})"), 1)?;
        }
        filled = size;
        bench.optimize("bench1")?;
        bench.lock("bench1 READ,bench2 READ")?;
        let ids: Vec<String> = (1..=size).map(|id| id.to_string()).collect();
        let ids = ids.join(",");
        let by_list = format!("SELECT bench1.* FROM bench1 WHERE id IN ({ids})");
        let by_join = "SELECT bench1.* FROM bench2 LEFT OUTER JOIN bench1 ON (bench1.id=bench2.id)";
        for (name, sql) in [("select_in", by_list.as_str()), ("select_join_in", by_join)] {
            bench.unsummed_operation(name, shape.range_loops, |bench| {
                (0..shape.range_loops).try_for_each(|_| bench.expect(sql, size))
            })?;
        }
        bench.unlock()?;
    }
    bench.drop_table("bench2")
}

fn insert_select(bench: &mut Bench, shape: &Shape) -> Result<(), Stop> {
    let options = bench.options().clone();
    bench.query(&shape.create(&options, "bench2", &[PRIMARY]))?;
    bench.query(&shape.create(&options, "bench3", &[PRIMARY, &index("index_id3")]))?;
    for (name, table) in [("insert_select_1_key", "bench2"), ("insert_select_2_keys", "bench3")] {
        bench.operation(name, 1, |bench| {
            bench.expect(&format!("INSERT INTO {table} SELECT * FROM bench1"), shape.rows)
        })?;
    }
    bench.unsummed_operation("drop table(2)", 2, |bench| {
        bench.drop_table("bench2")?;
        bench.drop_table("bench3")
    })
}
