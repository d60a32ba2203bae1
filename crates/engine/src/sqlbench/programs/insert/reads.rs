//! Single rows by every key: one that is there, then one that is not.

use super::{Shape, reads_of};
use crate::sqlbench::bench::{Bench, Stop};
use crate::sqlbench::programs::keys::Keys;

pub(super) fn run(bench: &mut Bench, shape: &Shape, keys: &mut Keys) -> Result<(), Stop> {
    for (name, columns, by) in [
        ("select_key_prefix", "*", &["id"][..]),
        ("select_key", "*", &["id", "id2"]),
        ("select_key_return_key", "id,id2", &["id", "id2"]),
        ("select_key2", "*", &["id3"]),
        ("select_key2_return_key", "id3", &["id3"]),
        ("select_key2_return_prim", "id,id2", &["id3"]),
    ] {
        let select = |value: u64| {
            let equal: Vec<String> = by.iter().map(|column| format!("{column}={value}")).collect();
            format!("SELECT {columns} FROM bench1 WHERE {}", equal.join(" AND "))
        };
        reads_of(bench, name, shape.key_reads, 2, |bench, i| {
            let id = keys.next(i + 1) % shape.rows;
            bench.expect(&select(id), 1)?;
            bench.expect(&select(id + shape.rows), 0)
        })?;
    }
    Ok(())
}
