//! Single keys in client-prepared form, the whole table in every order, and ranges in order.

use super::{Shape, reads_of};
use crate::sqlbench::bench::{Bench, Stop};

pub(super) fn run(bench: &mut Bench, shape: &Shape) -> Result<(), Stop> {
    // The suite prepares in the client, so that the server sees text: a literal, or a quoted one.
    for (name, quote) in [("prepared_select", ""), ("once_prepared_select", "'")] {
        let mut keys = shape.prepared_keys();
        reads_of(bench, name, shape.third, 1, |bench, _| {
            let id = keys.next().unwrap_or_default();
            bench.expect(&format!("SELECT * FROM bench1 WHERE id={quote}{id}{quote}"), 1)
        })?;
    }
    for (name, select) in [
        ("select_big", "id FROM bench1"),
        ("order_by_big_key", "id,id2 FROM bench1 ORDER BY id,id2"),
        ("order_by_big_key_desc", "id,id2 FROM bench1 ORDER BY id DESC,id2 DESC"),
        ("order_by_big_key_prefix", "id FROM bench1 ORDER BY id DESC"),
        ("order_by_big_key2", "id3 FROM bench1 ORDER BY id3"),
        ("order_by_big_key_diff", "id2 FROM bench1 ORDER BY id3"),
        ("order_by_big", "id FROM bench1 ORDER BY id2,id3"),
    ] {
        reads_of(bench, name, shape.big_loops, 1, |bench, _| {
            bench.expect(&format!("SELECT {select}"), shape.rows)
        })?;
    }
    ranges(bench, shape)
}

fn ranges(bench: &mut Bench, shape: &Shape) -> Result<(), Stop> {
    let step = shape.step();
    for (name, order) in [("order_by_range", "id3"), ("order_by_key_prefix", "id")] {
        reads_of(bench, name, shape.range_loops, 1, |bench, i| {
            let i = i + 1;
            let (from, to) = (step * i, step * i + i);
            let sql =
                format!("SELECT dummy1 FROM bench1 WHERE id>={from} AND id<={to} ORDER BY {order}");
            bench.expect(&sql, i + 1)
        })?;
    }
    reads_of(bench, "order_by_key2_diff", shape.range_loops, 1, |bench, i| {
        let from = step * (i + 1);
        let to = from + shape.range_loops;
        let sql = format!("SELECT id2 FROM bench1 WHERE id3>={from} AND id3<={to} ORDER BY id3");
        bench.expect(&sql, shape.range_loops + 1)
    })?;
    reads_of(bench, "select_diff_key", shape.range_loops, 1, |bench, i| {
        let (id, id3) = (i + 1, shape.order[i as usize + 1]);
        bench.expect(&format!("SELECT id2 FROM bench1 WHERE id={id} OR id3={id3}"), 2)
    })
}
