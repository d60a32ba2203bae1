//! Changes by key, by range and of every row.

use super::Shape;
use crate::sqlbench::bench::{Bench, Stop};

pub(super) fn run(bench: &mut Bench, shape: &Shape) -> Result<(), Stop> {
    bench.lock("bench1 WRITE")?;
    bench.operation("update_of_key", shape.third / 2, |bench| {
        for key in &shape.order[..shape.third as usize / 2] {
            let id3 = shape.third + key;
            bench.expect(&format!("UPDATE bench1 SET id3=-{id3} WHERE id3={id3}"), 1)?;
        }
        Ok(())
    })?;
    bench.unlock()?;
    bench.optimize("bench1")?;
    bench.lock("bench1 WRITE")?;
    update_of_key_big(bench, shape)?;
    bench.unlock()?;
    bench.lock("bench1 WRITE")?;
    let set = |text: &str| format!("UPDATE bench1 SET dummy1='{text}'");
    bench.operation("update_with_key", shape.rows, |bench| {
        let set = set("updated");
        (0..shape.rows)
            .try_for_each(|i| bench.expect(&format!("{set} WHERE id={i} AND id2={i}"), 1))
    })?;
    bench.operation("update_with_key_prefix", shape.rows / 3, |bench| {
        // The rows hold this text already: they are found, and none is changed.
        let set = set("updated");
        let mut ids = (1..shape.rows).step_by(3);
        ids.try_for_each(|id| bench.expect(&format!("{set} WHERE id={id}"), 0))
    })?;
    bench.operation("update_big", shape.big_loops, |bench| {
        (0..shape.big_loops)
            .try_for_each(|i| bench.expect(&set(&format!("updated {i}")), shape.rows))
    })?;
    bench.unlock()?;
    bench.optimize("bench1")
}

/// Ranges of id3 turned negative until the first two thirds are, and all of them turned back.
fn update_of_key_big(bench: &mut Bench, shape: &Shape) -> Result<(), Stop> {
    let ends: Vec<u64> = (0..shape.third).step_by(shape.step() as usize + 1).collect();
    let negate = "UPDATE bench1 SET id3=0-id3 WHERE id3>=";
    bench.operation("update_of_key_big", ends.len() as u64 + 3, |bench| {
        let mut before = 0;
        for &end in &ends {
            // Zero is its own negative.
            bench.expect(&format!("{negate}0 AND id3<={end}"), end - before)?;
            before = end;
        }
        let third = shape.third;
        bench.expect(&format!("{negate}0 AND id3<{third}"), third - 1 - before)?;
        bench.expect(&format!("{negate}{third} AND id3<{}", 2 * third), third)?;
        let negative = third / 2 + 2 * third - 1;
        let count = "SELECT COUNT(*) FROM bench1 WHERE id3>=0";
        bench.expect_value(count, &(shape.rows - negative).to_string())?;
        bench.expect("UPDATE bench1 SET id3=FLOOR((0-id3)/20) WHERE id3<0", negative)
    })
}
