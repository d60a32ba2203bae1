//! Rows in a file that the server reads by itself, as the suite's do under `--fast`.

use std::fs::{self, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

use super::bench::{Bench, Stop};
use super::link::Expected;

/// The rows of one table. The file goes with this value.
pub struct RowFile {
    table: &'static str,
    /// Each as `(value, ...)`.
    rows: Vec<String>,
    /// None where it could not be written.
    path: Option<PathBuf>,
}

impl RowFile {
    /// Writes the rows to a new file in the folder for temporary files, readable for the server.
    pub fn new(table: &'static str, rows: Vec<String>) -> Self {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("mydyno-{}-{number}-{table}.rows", process::id());
        let path = std::env::temp_dir().join(name);
        let path = write(&path, &rows).is_ok().then_some(path);
        Self { table, rows, path }
    }
}

impl Drop for RowFile {
    fn drop(&mut self) {
        if let Some(path) = &self.path {
            let _ = fs::remove_file(path);
        }
    }
}

fn write(path: &PathBuf, rows: &[String]) -> io::Result<()> {
    let file = OpenOptions::new().write(true).create_new(true).mode(0o644).open(path)?;
    let mut out = BufWriter::new(file);
    for row in rows {
        let values = row.strip_prefix('(').and_then(|row| row.strip_suffix(')')).unwrap_or(row);
        writeln!(out, "{values}")?;
    }
    out.flush()
}

impl Bench {
    /// Loads the files by LOAD DATA INFILE. From the first that the server may not read (it runs
    /// elsewhere, or `secure_file_priv` forbids it) their rows go in multi-row INSERTs, with a warning.
    pub fn load_rows(&mut self, files: Vec<RowFile>) -> Result<(), Stop> {
        let mut readable = true;
        for mut file in files {
            if readable {
                let Some(reason) = self.load_file(&file)? else { continue };
                readable = false;
                self.warn(format!(
                    "LOAD DATA INFILE was refused ({reason}): multi-row INSERTs were sent instead"
                ));
            }
            self.insert_packed(file.table, std::mem::take(&mut file.rows).into_iter())?;
        }
        Ok(())
    }

    /// Why the server did not load the file; `None` when it did.
    fn load_file(&mut self, file: &RowFile) -> Result<Option<String>, Stop> {
        let Some(path) = &file.path else {
            return Ok(Some("the file could not be written".to_owned()));
        };
        let path = path.display().to_string().replace('\\', "\\\\").replace('\'', "''");
        let sql = format!(
            "LOAD DATA INFILE '{path}' INTO TABLE {} FIELDS TERMINATED BY ',' \
             OPTIONALLY ENCLOSED BY ''''",
            file.table
        );
        let rows = file.rows.len() as u64;
        match self.send(&sql, &Expected::Rows(rows))? {
            Err(error) => Ok(Some(error.to_string())),
            Ok(answer) if answer.rows == rows => Ok(None),
            Ok(answer) => Err(Stop::Failed(format!(
                "LOAD DATA INFILE made {} rows of {} in {rows} lines",
                answer.rows, file.table
            ))),
        }
    }
}
