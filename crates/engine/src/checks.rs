//! The workload's checks of its data, after the load.

use crate::admin::Admin;
use crate::job::program::Check;

/// What became of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    pub name: String,
    pub holds: bool,
    /// The first row that should not be there, or the error.
    pub detail: Option<String>,
}

/// Runs a check: it holds when its query returns no row.
pub fn run(admin: &mut Admin, check: &Check) -> Checked {
    let detail = match admin.query(&check.sql) {
        Ok(rows) => rows.first().map(|row| {
            let columns = row.iter().map(|column| column.as_deref().unwrap_or("NULL"));
            let columns = columns.collect::<Vec<_>>().join(", ");
            match rows.len() {
                1 => format!("1 row: {columns}"),
                count => format!("{count} rows, the first: {columns}"),
            }
        }),
        Err(error) => Some(error.to_string()),
    };
    Checked { name: check.name.clone(), holds: detail.is_none(), detail }
}
