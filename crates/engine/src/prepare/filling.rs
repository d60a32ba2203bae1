//! Fills tables over several connections, a table at a time on each.
//!
//! Rows are sent with LOAD DATA LOCAL where the server allows it, which costs it about half of the CPU time of
//! multi-row INSERT statements, and else with these.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::{cell, refused};
use crate::admin::Admin;
use crate::failure::Fatal;
use crate::os::{cpus, signals};
use crate::protocol::{ServerError, code, commands};
use crate::report::Reporter;
use crate::report::messages::Message;
use crate::workload::Table;

/// Inserts are filled up to this size, as sysbench does.
const INSERT_BYTES: usize = 512 * 1024;
/// About the bytes of a LOAD DATA statement, which is a transaction.
const FILE_BYTES: usize = 8 * 1024 * 1024;
/// About the bytes of a packet of it.
const PIECE_BYTES: usize = 64 * 1024;
/// Time between two messages about progress.
const PROGRESS_EVERY: Duration = Duration::from_millis(500);
/// Comment of the tables that may be dropped again.
pub(super) const OURS: &str = "made by mydyno";
/// Types whose values a file cannot have in the same text as a statement.
const NOT_IN_FILES: [&str; 3] = ["bit", "geometry", "vector"];
/// Types that need the character set of their text, and character sets that differ from ASCII in its bytes.
const NOT_BINARY: [&str; 3] = ["json", "enum", "set"];
const WIDE: [&str; 3] = ["ucs2", "utf16", "utf32"];

/// Makes a connection in the database that is loaded.
pub type Connect<'a> = &'a (dyn Fn() -> Result<Admin, Fatal> + Sync);
/// A table and its place in the workload's list.
type Placed<'a> = (usize, Table<'a>);

/// The filling of several tables.
pub(super) struct Filling<'a> {
    connect: Connect<'a>,
    reporter: &'a Reporter,
    /// What the messages about progress name.
    stage: String,
    rows: u64,
    done: AtomicU64,
    pub statements: AtomicU64,
    /// A table could not be filled: the others need not be.
    failed: AtomicBool,
    last_progress: Mutex<Option<Instant>>,
}

impl<'a> Filling<'a> {
    pub fn new(connect: Connect<'a>, reporter: &'a Reporter, tables: &[Placed<'_>]) -> Self {
        let stage = match tables {
            [(_, table)] => format!("load {}", table.name),
            _ => format!("load {} tables", tables.len()),
        };
        Self {
            connect,
            reporter,
            stage,
            rows: tables.iter().map(|(_, table)| table.count).sum(),
            done: AtomicU64::new(0),
            statements: AtomicU64::new(0),
            failed: AtomicBool::new(false),
            last_progress: Mutex::new(None),
        }
    }

    /// Makes and fills the tables; gives the rows of each.
    ///
    /// # Errors
    /// The first of any table.
    pub fn fill(&self, tables: Vec<Placed<'_>>) -> Result<Vec<(usize, u64)>, Fatal> {
        let connections = connections_for(&tables);
        let queue = Mutex::new(VecDeque::from(tables));
        thread::scope(|scope| {
            let workers: Vec<_> =
                (0..connections).map(|_| scope.spawn(|| self.work(&queue))).collect();
            let results: Vec<_> = workers
                .into_iter()
                .map(|worker| {
                    worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
                })
                .collect();
            results.into_iter().collect::<Result<Vec<_>, _>>().map(|parts| parts.concat())
        })
    }

    fn work(&self, queue: &Mutex<VecDeque<Placed<'_>>>) -> Result<Vec<(usize, u64)>, Fatal> {
        let done = self.take_tables(queue);
        if done.is_err() {
            self.failed.store(true, Ordering::Relaxed);
        }
        done
    }

    fn take_tables(&self, queue: &Mutex<VecDeque<Placed<'_>>>) -> Result<Vec<(usize, u64)>, Fatal> {
        let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        let Some(mut placed) = next() else { return Ok(Vec::new()) };
        let mut loader = TableLoader::new((self.connect)()?, self)?;
        let mut filled = Vec::new();
        while !self.failed.load(Ordering::Relaxed) {
            let (place, table) = &mut placed;
            filled.push((*place, loader.make(table)?));
            match next() {
                Some(other) => placed = other,
                None => break,
            }
        }
        Ok(filled)
    }

    /// Counts rows that the server has taken, and reports them now and then.
    fn advance(&self, rows: u64) {
        let done = self.done.fetch_add(rows, Ordering::Relaxed) + rows;
        let mut last = self.last_progress.lock().unwrap_or_else(PoisonError::into_inner);
        if last.is_none_or(|last| last.elapsed() >= PROGRESS_EVERY) {
            *last = Some(Instant::now());
            self.reporter.send(&Message::Progress {
                stage: self.stage.clone(),
                done,
                of: self.rows,
                unit: "rows",
            });
        }
    }
}

/// As many connections as keep the server's CPUs and its log busy. Tables that refer to each other are filled
/// in their order.
fn connections_for(tables: &[Placed<'_>]) -> usize {
    let refers = |sql: &str| sql.to_ascii_lowercase().contains("references");
    let related = tables
        .iter()
        .any(|(_, table)| refers(table.create) || table.then.iter().any(|sql| refers(sql)));
    if related { 1 } else { tables.len().min(2 * cpus::allowed().len()) }
}

/// What is in the columns of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    /// ASCII is stored by the bytes that it has in any character set.
    Ascii,
    Text,
}

/// One connection that makes tables and fills them.
struct TableLoader<'a> {
    admin: Admin,
    filling: &'a Filling<'a>,
    /// The largest statement and packet that the server takes.
    most_bytes: usize,
    /// The server takes LOAD DATA LOCAL.
    takes_files: bool,
    /// A value that does not fit its column is an error.
    strict: bool,
}

impl<'a> TableLoader<'a> {
    fn new(admin: Admin, filling: &'a Filling<'a>) -> Result<Self, Fatal> {
        let mut loader = Self { admin, filling, most_bytes: 0, takes_files: false, strict: false };
        let rows = loader.query("SELECT @@max_allowed_packet, @@local_infile, @@sql_mode")?;
        let row = rows.first().map_or(&[][..], Vec::as_slice);
        let most: usize = cell(row, 0).parse().unwrap_or(INSERT_BYTES);
        loader.most_bytes = most.saturating_sub(16).min(commands::MOST_PAYLOAD);
        let mode = cell(row, 2);
        loader.takes_files = cell(row, 1) == "1" && !mode.contains("NO_BACKSLASH_ESCAPES");
        loader.strict = mode.contains("STRICT_");
        Ok(loader)
    }

    fn make(&mut self, table: &mut Table<'_>) -> Result<u64, Fatal> {
        self.execute(table.create)?;
        self.execute(&format!("ALTER TABLE `{}` COMMENT='{OURS}'", table.name))?;
        match self.file_format(table)? {
            Some(format) => self.load(table, format)?,
            None => self.insert(table)?,
        }
        for sql in table.then {
            self.execute(sql)?;
        }
        let rows = self.query(&format!("SELECT COUNT(*) FROM `{}`", table.name))?;
        Ok(rows.first().and_then(|row| cell(row, 0).parse().ok()).unwrap_or(0))
    }

    /// How the table's rows can be sent as a file, if they can.
    fn file_format(&mut self, table: &Table<'_>) -> Result<Option<Format>, Fatal> {
        if !self.takes_files {
            return Ok(None);
        }
        let mut columns = self.query(&format!("SHOW FULL COLUMNS FROM `{}`", table.name))?;
        columns.retain(|row| {
            table.columns.iter().any(|name| name.eq_ignore_ascii_case(&cell(row, 0)))
        });
        let any = |place, kinds: [&str; 3]| {
            let values = columns.iter().map(|row| cell(row, place));
            values.into_iter().any(|value| kinds.iter().any(|kind| value.starts_with(kind)))
        };
        let has_text = any(1, NOT_BINARY) || any(2, WIDE);
        if any(1, NOT_IN_FILES) || !self.loads_nothing(table) {
            return Ok(None);
        }
        Ok(Some(if has_text { Format::Text } else { Format::Ascii }))
    }

    /// Whether an empty file is taken: a proxy may refuse what the server behind it allows.
    fn loads_nothing(&mut self, table: &Table<'_>) -> bool {
        self.count_statement();
        self.admin.load(into(table).as_bytes(), |_| {}).is_ok()
    }

    /// Fills a table with LOAD DATA.
    fn load(&mut self, table: &mut Table<'_>, format: Format) -> Result<(), Fatal> {
        let columns = columns(table);
        let into = into(table);
        // A row that the server takes is far shorter than what is left of a packet.
        let piece = PIECE_BYTES.min(self.most_bytes / 2);
        let (mut left, mut line) = (table.count, Vec::new());
        while left > 0 && self.go_on(table)? {
            if line.is_empty() {
                table.rows.write_line(&mut line);
            }
            // The server need not look at each character of what is stored as it is sent.
            let binary = format == Format::Ascii && line.is_ascii();
            let set = if binary { "binary" } else { "utf8mb4" };
            let sql = format!("{into} CHARACTER SET {set} ({columns})");
            let (mut sent, mut bytes) = (0, 0);
            let result = self.admin.load(sql.as_bytes(), |out| {
                let start = out.len();
                while !line.is_empty()
                    && (line.is_ascii() || !binary)
                    && bytes < FILE_BYTES
                    && out.len() - start < piece
                {
                    out.extend_from_slice(&line);
                    bytes += line.len();
                    sent += 1;
                    line.clear();
                    if sent < left {
                        table.rows.write_line(&mut line);
                    }
                }
            });
            self.count_statement();
            let loaded = result.map_err(|error| refused(&sql, &error))?;
            if loaded.rows != sent || loaded.warnings > 0 {
                self.check_warnings(&sql, sent - loaded.rows.min(sent))?;
            }
            left -= sent;
            self.filling.advance(sent);
        }
        Ok(())
    }

    /// LOAD DATA LOCAL warns where INSERT fails.
    fn check_warnings(&mut self, sql: &str, missing: u64) -> Result<(), Fatal> {
        let warnings = self.query("SHOW WARNINGS")?;
        let first = warnings.iter().find(|row| cell(row, 0) != "Note");
        match first {
            Some(row) if self.strict || missing > 0 => {
                let number = cell(row, 1).parse().unwrap_or(code::UNKNOWN);
                Err(refused(sql, &ServerError::new(number, cell(row, 2))))
            }
            _ if missing > 0 => {
                let message = format!("{missing} rows are missing");
                Err(refused(sql, &ServerError::new(code::UNKNOWN, message)))
            }
            _ => Ok(()),
        }
    }

    /// Fills a table with INSERT statements of many rows.
    fn insert(&mut self, table: &mut Table<'_>) -> Result<(), Fatal> {
        let most = INSERT_BYTES.min(self.most_bytes);
        let start = format!("INSERT INTO `{}` ({}) VALUES ", table.name, columns(table));
        let short = format!("INSERT INTO `{}` ...", table.name);
        let mut sql = Vec::with_capacity(most + 1024);
        let mut row = Vec::new();
        let mut waiting = 0;
        for number in 1..=table.count {
            row.clear();
            table.rows.write(&mut row);
            if waiting > 0 && sql.len() + row.len() + 1 > most {
                self.send(&short, &sql, waiting)?;
                sql.clear();
                waiting = 0;
                if !self.go_on(table)? {
                    return Ok(());
                }
            }
            sql.extend_from_slice(if waiting == 0 { start.as_bytes() } else { b"," });
            sql.extend_from_slice(&row);
            waiting += 1;
            if number == table.count {
                self.send(&short, &sql, waiting)?;
            }
        }
        Ok(())
    }

    fn send(&mut self, short: &str, sql: &[u8], rows: u64) -> Result<(), Fatal> {
        self.count_statement();
        self.admin.execute(sql).map_err(|error| refused(short, &error))?;
        self.filling.advance(rows);
        Ok(())
    }

    /// False once another table has failed; an error after a signal.
    fn go_on(&self, table: &Table<'_>) -> Result<bool, Fatal> {
        if signals::interrupted() {
            let interrupted = ServerError::new(code::SERVER_LOST, "interrupted");
            return Err(refused(&format!("INSERT INTO `{}` ...", table.name), &interrupted));
        }
        Ok(!self.filling.failed.load(Ordering::Relaxed))
    }

    fn query(&mut self, sql: &str) -> Result<crate::admin::Rows, Fatal> {
        self.count_statement();
        self.admin.query(sql).map_err(|error| refused(sql, &error))
    }

    fn execute(&mut self, sql: &str) -> Result<(), Fatal> {
        self.count_statement();
        self.admin.execute(sql.as_bytes()).map(drop).map_err(|error| refused(sql, &error))
    }

    fn count_statement(&self) {
        self.filling.statements.fetch_add(1, Ordering::Relaxed);
    }
}

fn into(table: &Table<'_>) -> String {
    format!("LOAD DATA LOCAL INFILE 'rows' INTO TABLE `{}`", table.name)
}

fn columns(table: &Table<'_>) -> String {
    let names: Vec<String> = table.columns.iter().map(|name| format!("`{name}`")).collect();
    names.join(",")
}
