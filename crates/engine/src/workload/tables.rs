//! Tables: their names and columns checked, their rows compiled.

use super::fault::{At, Fault, fault};
use super::operators;
use super::rows::RowMaker;
use super::scope::Scope;
use crate::job::program::ProgramJob;

/// More rows than a loader would finish; keeps the arithmetic of rows in range.
pub const MOST_ROWS: u64 = 1 << 40;
/// MySQL's limit for the name of a table.
const LONGEST_NAME: usize = 64;

/// Checks the table of this number and compiles what makes its rows.
pub fn compile<'a>(
    job: &'a ProgramJob,
    number: usize,
    scope: &mut Scope<'a>,
) -> Result<RowMaker, Fault> {
    let table = &job.tables[number];
    check_name(&table.name).key("name")?;
    if job.tables[..number].iter().any(|other| other.name == table.name) {
        return fault(format!("there is another `{}`", table.name)).key("name");
    }
    let words: Vec<_> = table.create.split_whitespace().take(2).collect();
    if !words.join(" ").eq_ignore_ascii_case("create table") {
        return fault("must begin with CREATE TABLE").key("create");
    }
    if table.rows > MOST_ROWS {
        return fault(format!("must be at most {MOST_ROWS}, is {}", table.rows)).key("rows");
    }
    for (place, column) in table.columns.iter().enumerate() {
        check_name(column).index(place).key("columns")?;
    }
    let (columns, row) = (table.columns.len(), table.row.len());
    if columns != row {
        return fault(format!("must have a value for each of the {columns} columns, has {row}"))
            .key("row");
    }
    if table.rows > 0 && columns == 0 {
        return fault(format!("{} rows need columns and a row", table.rows)).key("rows");
    }
    scope.enter_table(&table.lets);
    let lets = table.lets.iter().enumerate().map(|(place, (name, value))| {
        let value = operators::compile(value, scope).index(1).index(place)?;
        Ok((scope.register(name), value))
    });
    let lets = lets.collect::<Result<_, Fault>>().key("let")?;
    let row = table.row.iter().enumerate();
    let columns = row
        .map(|(place, value)| operators::compile(value, scope).index(place))
        .collect::<Result<_, Fault>>()
        .key("row")?;
    Ok(RowMaker { table: number, lets, columns })
}

fn check_name(name: &str) -> Result<(), Fault> {
    if name.is_empty() || name.chars().count() > LONGEST_NAME {
        return fault(format!("must have 1 to {LONGEST_NAME} characters"));
    }
    if name.contains(['`', '\0', '.', '/', '\\']) {
        return fault("must not contain a back-quote, a point, a slash or a zero byte");
    }
    Ok(())
}
