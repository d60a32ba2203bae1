//! Whose the tables are: the programs drop tables by name, so those that are there already must be
//! mydyno's own, or the job must allow it.

use super::options::{OURS, Options};
use crate::admin::Admin;
use crate::failure::{Fatal, FatalCode};
use crate::protocol::ServerError;

/// At most so many tables are named in a refusal.
const NAMED: usize = 5;
/// Names in one DROP TABLE.
const DROPPED_AT_ONCE: usize = 500;

/// A table of the database.
struct Found {
    name: String,
    comment: String,
    rows: u64,
}

/// Makes the database if it is missing and drops what an earlier run of the programs left there.
///
/// # Errors
/// `not-ours` when a table that the programs would drop was not made by mydyno, unless
/// `drop_existing`. Nothing has been dropped then.
pub fn clear(
    admin: &mut Admin,
    database: &str,
    wanted: &[String],
    options: &Options,
    drop_existing: bool,
) -> Result<(), Fatal> {
    let failed = |what: &str, error: ServerError| {
        Fatal::new(FatalCode::Sql, format!("cannot {what} in the database {database}: {error}"))
    };
    let mut found =
        tables_of(admin, database).map_err(|error| failed("see which tables there are", error))?;
    found.retain(|table| wanted.iter().any(|name| name.eq_ignore_ascii_case(&table.name)));
    let foreign: Vec<&Found> = found.iter().filter(|table| table.comment != OURS).collect();
    if !foreign.is_empty() && !drop_existing {
        return Err(refusal(database, &foreign));
    }
    if options.skip_create {
        return Ok(());
    }
    let names: Vec<String> =
        found.iter().map(|table| format!("`{database}`.`{}`", table.name)).collect();
    drop_tables(admin, &names).map_err(|error| failed("drop a table", error))
}

/// Drops tables that may or may not be there.
pub fn drop_tables(admin: &mut Admin, names: &[String]) -> Result<(), ServerError> {
    names.chunks(DROPPED_AT_ONCE).try_for_each(|names| {
        admin.execute(format!("DROP TABLE IF EXISTS {}", names.join(",")).as_bytes()).map(drop)
    })
}

fn refusal(database: &str, foreign: &[&Found]) -> Fatal {
    let named: Vec<String> = foreign
        .iter()
        .take(NAMED)
        .map(|table| format!("{} (about {} rows)", table.name, table.rows))
        .collect();
    let more = match foreign.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let message = format!(
        "the database {database} has tables that sql-bench would drop and mydyno has not made: \
         {}{more}; nothing was dropped",
        named.join(", "),
    );
    Fatal::new(FatalCode::NotOurs, message)
        .hint("choose another database, or allow it with --drop-existing")
}

fn tables_of(admin: &mut Admin, database: &str) -> Result<Vec<Found>, ServerError> {
    admin.execute(format!("CREATE DATABASE IF NOT EXISTS `{database}`").as_bytes())?;
    let name = database.replace('\'', "''");
    let rows = admin.query(&format!(
        "SELECT table_name, table_comment, table_rows FROM information_schema.tables \
         WHERE table_schema = '{name}'"
    ))?;
    let found = rows.into_iter().map(|row| {
        let mut columns = row.into_iter().map(Option::unwrap_or_default);
        let mut next = || columns.next().unwrap_or_default();
        Found { name: next(), comment: next(), rows: next().parse().unwrap_or(0) }
    });
    Ok(found.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_names_the_tables_with_their_rows_and_the_option_that_helps() {
        let table = |name: &str| Found { name: name.to_owned(), comment: String::new(), rows: 7 };
        let tables: Vec<Found> = ["a", "b", "c", "d", "e", "f", "g"].map(table).into();
        let fatal = refusal("shop", &tables.iter().collect::<Vec<_>>());
        assert_eq!(fatal.code, FatalCode::NotOurs);
        assert!(fatal.message.contains("a (about 7 rows), b (about 7 rows)"), "{fatal}");
        assert!(fatal.message.contains("and 2 more; nothing was dropped"), "{fatal}");
        assert!(fatal.hint.unwrap().contains("--drop-existing"));
    }
}
