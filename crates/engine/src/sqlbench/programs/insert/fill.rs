//! Rows in: ascending, descending and in the suite's order; duplicates; and packed statements.

use super::{PRIMARY, Shape, index};
use crate::sqlbench::bench::{Bench, Stop};
use crate::sqlbench::programs::keys::Keys;

const DUPLICATE_KEY: u16 = 1062;
/// What the rows of each third hold: those in order, those in reverse order, those in the suite's.
pub(super) const TEXTS: [&str; 3] = ["ABCDEFGHIJ", "BCDEFGHIJK", "CDEFGHIJKL"];
/// What the rows of the last table hold.
const PACKED_TEXT: &str = "EFGHIJKLM";

pub(super) fn run(bench: &mut Bench, shape: &Shape, keys: &mut Keys) -> Result<(), Stop> {
    let options = bench.options().clone();
    let transaction = options.fast && options.transactional();
    for table in ["bench1", "bench2", "bench3"] {
        bench.drop_if_there(table)?;
    }
    bench.query(&shape.create(&options, "bench1", &[PRIMARY, &index("ix_id3")]))?;
    bench.lock("bench1 WRITE")?;
    let rows = ascending_descending_shuffled(shape).map(|(id, text)| row(id, text));
    let list = if options.fast_insert { "" } else { " (id,id2,id3,dummy1)" };
    bench.operation("insert", shape.rows, |bench| {
        bench.in_transaction(transaction, |bench| {
            if options.fast_insert {
                return bench.insert_packed("bench1", rows);
            }
            for row in rows {
                bench.expect(&format!("INSERT INTO bench1{list} VALUES {row}"), 1)?;
            }
            Ok(())
        })
    })?;
    bench.unlock()?;
    bench.optimize("bench1")?;
    bench.lock("bench1 WRITE")?;
    bench.operation("insert_duplicates", shape.third, |bench| {
        bench.in_transaction(transaction, |bench| {
            for i in 0..shape.third {
                let id = keys.next(i) % shape.rows;
                let insert = format!("INSERT INTO bench1{list} VALUES ({id},{id},2,'D')");
                bench.expect_error(&insert, DUPLICATE_KEY)?;
            }
            Ok(())
        })
    })?;
    bench.unlock()
}

/// The last table: as the first, filled by a few very long statements.
pub(super) fn packed(bench: &mut Bench, shape: &Shape) -> Result<(), Stop> {
    let options = bench.options().clone();
    bench.query(&shape.create(&options, "bench1", &[PRIMARY, &index("index_id3")]))?;
    bench.lock("bench1 WRITE")?;
    bench.operation("multiple_value_insert", shape.third, |bench| {
        bench.in_transaction(options.fast && options.transactional(), |bench| {
            bench.insert_packed("bench1", (0..shape.third).map(|id| row(id, PACKED_TEXT)))
        })
    })?;
    bench.optimize("bench1")?;
    // Dropping the table gives its lock up.
    bench.unsummed_operation("drop table(1)", 1, |bench| match options.skip_delete {
        false => bench.drop_table("bench1"),
        true => Ok(()),
    })
}

/// The ids with what their rows hold.
fn ascending_descending_shuffled(shape: &Shape) -> impl Iterator<Item = (u64, &'static str)> + '_ {
    let ascending = 0..shape.third;
    let descending = (2 * shape.third..shape.rows).rev();
    let shuffled = shape.order.iter().copied();
    let [first, second, third] = TEXTS;
    (ascending.map(move |id| (id, first)))
        .chain(descending.map(move |id| (id, second)))
        .chain(shuffled.map(move |id| (id, third)))
}

fn row(id: u64, text: &str) -> String {
    format!("({id},{id},{id},'{text}')")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlbench::programs::keys::shuffled;

    #[test]
    fn every_id_is_inserted_once() {
        let mut shape = Shape::new(&serde_json::from_str("{}").unwrap());
        shape.order = shuffled(shape.third).0;
        let ids = ascending_descending_shuffled(&shape).map(|(id, _)| id);
        let mut ids: Vec<u64> = ids.collect();
        assert_eq!(ids[100_000], 299_999, "the second third goes down from the end");
        ids.sort_unstable();
        assert!(ids.into_iter().eq(0..300_000));
    }
}
