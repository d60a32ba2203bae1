//! Makes and loads the workload's tables, and leaves alone what mydyno did not make.

mod filling;
mod shape;

use std::sync::atomic::Ordering;

use crate::admin::Admin;
use crate::failure::{Fatal, FatalCode};
use crate::job::Prepare;
use crate::protocol::{ServerError, code};
use crate::report::Reporter;
use crate::report::messages::{Message, TableRows};
use crate::workload::{Table, Workload};
use filling::{Filling, OURS};
use shape::{Shape, differs};

pub use filling::Connect;

/// What the job says about tables.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    pub prepare: Prepare,
    pub drop_existing: bool,
    pub database: &'a str,
}

/// Carries out the job's `prepare`. Nothing is dropped unless everything that has to go may go.
/// Tables are filled over connections that `connect` makes.
///
/// # Errors
/// The statement that the server refused, or at which a signal came; a table in the way that mydyno
/// did not make; a table with other columns than wanted.
pub fn prepare(
    admin: &mut Admin,
    asked: Asked<'_>,
    workload: &dyn Workload,
    connect: Connect<'_>,
    reporter: &Reporter,
) -> Result<(), Fatal> {
    let mut loader = Loader { admin, asked, statements: 0, loaded: 0 };
    if asked.prepare == Prepare::None {
        return loader.look(workload);
    }
    let tables = loader.prepare(workload, connect, reporter)?;
    let Loader { statements, loaded, .. } = loader;
    reporter.send(&Message::Prepared { tables, loaded, statements });
    Ok(())
}

struct Loader<'a> {
    admin: &'a mut Admin,
    asked: Asked<'a>,
    statements: u64,
    /// Rows of the tables that were made.
    loaded: u64,
}

/// A statement that the server refused.
fn refused(sql: &str, error: &ServerError) -> Fatal {
    let message = format!("preparing the tables failed: {error}; statement: {sql}");
    Fatal::new(FatalCode::Sql, message)
}

impl Loader<'_> {
    /// Compares the tables that are there with those that the statements expect.
    fn look(&mut self, workload: &dyn Workload) -> Result<(), Fatal> {
        let tables = workload.tables();
        if tables.is_empty() {
            return Ok(());
        }
        let sql = format!("USE `{}`", self.asked.database);
        match self.admin.execute(sql.as_bytes()) {
            Ok(_) => {}
            // The connections of the load will say the same.
            Err(error) if error.code == code::UNKNOWN_DATABASE => return Ok(()),
            Err(error) => return Err(refused(&sql, &error)),
        }
        for table in &tables {
            if let Some(found) = self.columns(table.name)?
                && let Some(difference) = self.difference(table, &found)?
            {
                return Err(self.bad_table(table, &difference));
            }
        }
        Ok(())
    }

    fn prepare(
        &mut self,
        workload: &dyn Workload,
        connect: Connect<'_>,
        reporter: &Reporter,
    ) -> Result<Vec<TableRows>, Fatal> {
        let database = self.asked.database;
        // MySQL has no comments of databases, and takes this one for an ordinary comment.
        let comment = format!("/*M!100500 COMMENT '{OURS}' */");
        self.execute(&format!("CREATE DATABASE IF NOT EXISTS `{database}` {comment}"))?;
        self.execute(&format!("USE `{database}`"))?;
        let mut tables = Vec::new();
        for table in workload.tables() {
            let make = self.must_make(&table)?;
            tables.push((table, make));
        }
        // What a load has left fits no fresh table: the checks would find that.
        if !workload.checks().is_empty() && tables.iter().any(|(_, make)| *make) {
            for (table, make) in tables.iter_mut().filter(|(_, make)| !make) {
                self.may_drop(table)?;
                *make = true;
            }
        }
        for (table, make) in tables.iter().rev() {
            if *make {
                self.execute(&format!("DROP TABLE IF EXISTS `{}`", table.name))?;
            }
        }
        let mut found: Vec<TableRows> = tables
            .iter()
            .map(|(table, _)| TableRows { name: table.name.to_owned(), rows: table.count })
            .collect();
        let missing: Vec<_> = tables
            .into_iter()
            .enumerate()
            .filter_map(|(place, (table, make))| make.then_some((place, table)))
            .collect();
        let filling = Filling::new(connect, reporter, &missing);
        for (place, rows) in filling.fill(missing)? {
            self.loaded += rows;
            found[place].rows = rows;
        }
        self.statements += filling.statements.load(Ordering::Relaxed);
        Ok(found)
    }

    /// Whether the table has to be made, or made again.
    fn must_make(&mut self, table: &Table<'_>) -> Result<bool, Fatal> {
        let Some(found) = self.columns(table.name)? else { return Ok(true) };
        if self.asked.prepare == Prepare::IfMissing {
            match self.difference(table, &found)? {
                Some(difference) if !self.asked.drop_existing => {
                    return Err(self.bad_table(table, &difference));
                }
                None if self.count(table.name)? == table.count => return Ok(false),
                _ => {}
            }
        }
        self.may_drop(table)?;
        Ok(true)
    }

    /// Refuses to drop what mydyno did not make.
    fn may_drop(&mut self, table: &Table<'_>) -> Result<(), Fatal> {
        if self.asked.drop_existing || self.comment(table.name)?.starts_with(OURS) {
            return Ok(());
        }
        let rows = self.count(table.name)?;
        let message = format!(
            "the table `{}` in `{}` has {rows} rows and was not made by mydyno",
            table.name, self.asked.database
        );
        Err(Fatal::new(FatalCode::NotOurs, message)
            .hint("--drop-existing drops it; another --database leaves it alone"))
    }

    /// How the columns of a table differ from those wanted.
    fn difference(
        &mut self,
        table: &Table<'_>,
        found: &[(String, String)],
    ) -> Result<Option<String>, Fatal> {
        Ok(differs(&self.wanted(table)?, found))
    }

    fn bad_table(&self, table: &Table<'_>, difference: &str) -> Fatal {
        let message = format!(
            "the table `{}` in `{}` has other columns than the workload needs: {difference}",
            table.name, self.asked.database
        );
        Fatal::new(FatalCode::BadTable, message)
            .hint("--drop-existing makes it anew; another --database leaves it alone")
    }

    /// The columns that the table would have if it were made now, by making it as a temporary one
    /// that hides the real one for a moment.
    fn wanted(&mut self, table: &Table<'_>) -> Result<Shape, Fatal> {
        let rest = table.create.trim_start();
        let words = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let create = format!("CREATE TEMPORARY{}", &rest[words..]);
        if self.execute(&create).is_err() {
            // Not every table can be a temporary one (partitions, foreign keys, engines).
            return Ok(Shape::Names(table.columns.to_vec()));
        }
        let columns = self.columns(table.name);
        self.execute(&format!("DROP TEMPORARY TABLE `{}`", table.name))?;
        Ok(Shape::Columns(columns?.unwrap_or_default()))
    }

    /// Names and types of a table's columns; `None` without such a table.
    fn columns(&mut self, table: &str) -> Result<Option<Vec<(String, String)>>, Fatal> {
        let sql = format!("SHOW COLUMNS FROM `{table}`");
        self.statements += 1;
        match self.admin.query(&sql) {
            Ok(rows) => Ok(Some(rows.iter().map(|row| (cell(row, 0), cell(row, 1))).collect())),
            Err(error) if error.code == code::NO_SUCH_TABLE => Ok(None),
            Err(error) => Err(refused(&sql, &error)),
        }
    }

    fn comment(&mut self, table: &str) -> Result<String, Fatal> {
        const NAME: usize = 0;
        const COMMENT: usize = 17;
        // The server compares names without regard to case, which may find several.
        let rows = self.query(&format!("SHOW TABLE STATUS WHERE Name = '{table}'"))?;
        let exact = rows.iter().find(|row| cell(row, NAME) == table).or(rows.first());
        Ok(exact.map(|row| cell(row, COMMENT)).unwrap_or_default())
    }

    fn count(&mut self, table: &str) -> Result<u64, Fatal> {
        self.number(&format!("SELECT COUNT(*) FROM `{table}`"))
    }

    fn number(&mut self, sql: &str) -> Result<u64, Fatal> {
        let rows = self.query(sql)?;
        Ok(rows.first().and_then(|row| cell(row, 0).parse().ok()).unwrap_or(0))
    }

    fn query(&mut self, sql: &str) -> Result<crate::admin::Rows, Fatal> {
        self.statements += 1;
        self.admin.query(sql).map_err(|error| refused(sql, &error))
    }

    fn execute(&mut self, sql: &str) -> Result<(), Fatal> {
        self.statements += 1;
        self.admin.execute(sql.as_bytes()).map(drop).map_err(|error| refused(sql, &error))
    }
}

/// A column of a row; empty for NULL.
fn cell(row: &[Option<String>], place: usize) -> String {
    row.get(place).cloned().flatten().unwrap_or_default()
}
