//! Aggregates over the table, by key and without.

use super::{Shape, reads_of};
use crate::sqlbench::bench::{Bench, Stop};

/// Loops of min_max_on_key for each range loop.
const MIN_MAX_LOOPS: u64 = 5;
const COUNTS: u64 = 100;

pub(super) fn run(bench: &mut Bench, shape: &Shape) -> Result<(), Stop> {
    select_group(bench, shape)?;
    let loops = shape.range_loops * MIN_MAX_LOOPS;
    let both = |what: &str, condition: &str| {
        ["MIN", "MAX"].map(|f| format!("SELECT {f}({what}) FROM bench1{condition}"))
    };
    reads_of(bench, "min_max_on_key", loops, 6, |bench, i| {
        let id = i + 1;
        let by_key = format!(" WHERE id={id}");
        let (least, most) = ("0".to_owned(), (shape.rows - 1).to_string());
        for (sql, value) in both("id", "").iter().zip([least, most]) {
            bench.expect_value(sql, &value)?;
        }
        for sql in both("id2", &by_key) {
            bench.expect_value(&sql, &id.to_string())?;
        }
        both("dummy1", &by_key)
            .iter()
            .try_for_each(|sql| bench.expect_value(sql, super::fill::TEXTS[0]))
    })?;
    reads_of(bench, "min_max", shape.big_loops, 6, |bench, i| {
        let by_id2 = format!(" WHERE id2={}", i + 1);
        let all = [both("id2", ""), both("id3", &by_id2), both("dummy1", &by_id2)].concat();
        all.iter().try_for_each(|sql| bench.expect(sql, 1))
    })?;
    let step = shape.rows / COUNTS;
    for (name, what, column) in [("count_on_key", "id", "id"), ("count", "dummy1", "id2")] {
        reads_of(bench, name, COUNTS, 1, |bench, i| {
            let below = i * step;
            let sql = format!("SELECT COUNT({what}) FROM bench1 WHERE {column}<{below}");
            bench.expect_value(&sql, &below.to_string())
        })?;
    }
    reads_of(bench, "count_distinct_big", shape.big_loops, 2, |bench, _| {
        bench.expect_value("SELECT COUNT(DISTINCT dummy1) FROM bench1", "3")?;
        bench.expect("SELECT dummy1,COUNT(DISTINCT id) FROM bench1 GROUP BY dummy1", 3)
    })
}

/// Ten statements in each loop, reported as eleven and one more.
fn select_group(bench: &mut Bench, shape: &Shape) -> Result<(), Stop> {
    let tests = shape.big_loops * 11 + 1;
    let (rows, last) = (shape.rows.to_string(), (shape.rows - 1).to_string());
    let third = shape.third.to_string();
    bench.operation("select_group", tests, |bench| {
        for i in 0..shape.big_loops {
            bench.expect_value("SELECT COUNT(*) FROM bench1", &rows)?;
            bench.expect_value("SELECT MIN(id) FROM bench1", "0")?;
            bench.expect_value("SELECT MAX(id) FROM bench1", &last)?;
            bench.expect("SELECT SUM(id+0.0) FROM bench1", 1)?;
            bench.expect("SELECT MIN(id3),MAX(id3),SUM(id3-0.0) FROM bench1", 1)?;
            bench.expect("SELECT MIN(dummy1),MAX(dummy1) FROM bench1", 1)?;
            let from = 2 * shape.third;
            bench.expect_value(&format!("SELECT COUNT(*) FROM bench1 WHERE id>={from}"), &third)?;
            let five = "COUNT(*),SUM(id+0.0),MIN(id),MAX(id),AVG(id-0.0)";
            bench.expect(&format!("SELECT {five} FROM bench1"), 1)?;
            bench.expect("SELECT id%10,COUNT(*) FROM bench1 GROUP BY 1", 10)?;
            let sql = format!(
                "SELECT id,id3,dummy1 FROM bench1 WHERE id<100+{i}-{i} \
                 GROUP BY id,id3,dummy1 ORDER BY id DESC,id3,dummy1"
            );
            bench.expect(&sql, 100)?;
        }
        Ok(())
    })
}
