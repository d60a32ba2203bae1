//! Makes and loads the workload's tables.

use std::time::{Duration, Instant};

use crate::admin::Admin;
use crate::failure::{Fatal, FatalCode};
use crate::job::Prepare;
use crate::os::signals;
use crate::protocol::{ServerError, code, commands};
use crate::report::Reporter;
use crate::report::messages::{Message, TableRows};
use crate::workload::{Table, Workload};

/// Inserts are filled up to this size, as sysbench does.
const INSERT_BYTES: usize = 512 * 1024;
/// Time between two messages about progress.
const PROGRESS_EVERY: Duration = Duration::from_millis(500);

/// Carries out the job's `prepare`.
///
/// # Errors
/// The statement that the server refused, or at which a signal came.
pub fn prepare(
    admin: &mut Admin,
    how: Prepare,
    database: &str,
    workload: &dyn Workload,
    reporter: &Reporter,
) -> Result<(), Fatal> {
    let missing_only = match how {
        Prepare::None => return Ok(()),
        Prepare::Create => false,
        Prepare::IfMissing => true,
    };
    let mut loader = Loader { admin, reporter, statements: 0, last_progress: None };
    let tables = loader.prepare(database, workload, missing_only).map_err(|refused| {
        let Refused { sql, error } = refused;
        let message = format!("preparing the tables failed: {error}; statement: {sql}");
        Fatal::new(FatalCode::Sql, message)
    })?;
    reporter.send(&Message::Prepared { tables, statements: loader.statements });
    Ok(())
}

struct Loader<'a> {
    admin: &'a mut Admin,
    reporter: &'a Reporter,
    statements: u64,
    last_progress: Option<Instant>,
}

struct Refused {
    sql: String,
    error: ServerError,
}

impl Loader<'_> {
    fn prepare(
        &mut self,
        database: &str,
        workload: &dyn Workload,
        missing_only: bool,
    ) -> Result<Vec<TableRows>, Refused> {
        self.execute(&format!("CREATE DATABASE IF NOT EXISTS `{database}`"))?;
        self.execute(&format!("USE `{database}`"))?;
        let insert_bytes = self.insert_bytes()?;
        let mut found = Vec::new();
        for table in workload.tables() {
            if !(missing_only && self.is_complete(&table)?) {
                self.load(table, insert_bytes, &mut found)?;
            } else {
                found.push(TableRows { name: table.name, rows: table.rows });
            }
        }
        Ok(found)
    }

    fn load(
        &mut self,
        mut table: Table,
        insert_bytes: usize,
        found: &mut Vec<TableRows>,
    ) -> Result<(), Refused> {
        self.execute(&format!("DROP TABLE IF EXISTS {}", table.name))?;
        self.execute(&table.create)?;
        self.fill(&mut table, insert_bytes)?;
        for sql in &table.finish {
            self.execute(sql)?;
        }
        let rows = self.count(&table.name)?;
        found.push(TableRows { name: table.name, rows });
        Ok(())
    }

    fn fill(&mut self, table: &mut Table, insert_bytes: usize) -> Result<(), Refused> {
        let mut sql = Vec::with_capacity(insert_bytes + 1024);
        let mut row = Vec::new();
        for done in 0..table.rows {
            row.clear();
            (table.write_row)(&mut row);
            if !sql.is_empty() && sql.len() + row.len() + 1 > insert_bytes {
                self.insert(&sql, table, done)?;
                sql.clear();
            }
            if sql.is_empty() {
                sql.extend_from_slice(table.insert.as_bytes());
            } else {
                sql.push(b',');
            }
            sql.extend_from_slice(&row);
        }
        self.insert(&sql, table, table.rows)
    }

    fn insert(&mut self, sql: &[u8], table: &Table, done: u64) -> Result<(), Refused> {
        if signals::interrupted() {
            let error = ServerError::new(code::SERVER_LOST, "interrupted");
            return Err(Refused { sql: table.insert.clone(), error });
        }
        self.statements += 1;
        self.admin
            .execute(sql)
            .map_err(|error| Refused { sql: format!("{}...", table.insert), error })?;
        if self.last_progress.is_none_or(|last| last.elapsed() >= PROGRESS_EVERY) {
            self.last_progress = Some(Instant::now());
            let stage = format!("load {}", table.name);
            self.reporter.send(&Message::Progress { stage, done, of: table.rows });
        }
        Ok(())
    }

    fn is_complete(&mut self, table: &Table) -> Result<bool, Refused> {
        const NO_SUCH_TABLE: u16 = 1146;
        match self.count(&table.name) {
            Ok(rows) => Ok(rows == table.rows),
            Err(refused) if refused.error.code == NO_SUCH_TABLE => Ok(false),
            Err(refused) => Err(refused),
        }
    }

    fn count(&mut self, table: &str) -> Result<u64, Refused> {
        self.number(&format!("SELECT COUNT(*) FROM {table}"))
    }

    /// The size that both the protocol and the server's `max_allowed_packet` allow.
    fn insert_bytes(&mut self) -> Result<usize, Refused> {
        let allowed = self.number("SELECT @@max_allowed_packet")? as usize;
        Ok(INSERT_BYTES.min(allowed.saturating_sub(16)).min(commands::MOST_PAYLOAD))
    }

    fn number(&mut self, sql: &str) -> Result<u64, Refused> {
        self.statements += 1;
        let rows = self.admin.query(sql).map_err(|error| Refused { sql: sql.to_owned(), error })?;
        let text = rows.first().and_then(|row| row.first()).and_then(|value| value.as_deref());
        Ok(text.and_then(|text| text.parse().ok()).unwrap_or(0))
    }

    fn execute(&mut self, sql: &str) -> Result<(), Refused> {
        self.statements += 1;
        self.admin
            .execute(sql.as_bytes())
            .map(drop)
            .map_err(|error| Refused { sql: sql.to_owned(), error })
    }
}
