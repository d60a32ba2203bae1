//! A trace that is written: under another name until it is whole.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Mode, OFlags, linkat};

use crate::block::Builder;
use crate::error::Error;
use crate::frame::{self, Kind, MAGIC};
use crate::header::{FORMAT, Footer, Header, Skipped, SourceFile};
use crate::reader::BEGINNING_BYTES;
use crate::record::Record;

/// zstd's own default.
const LEVEL: i32 = 3;

/// Writes records in the order of their instants. [`Sorter`](crate::Sorter) takes them in any.
pub struct Writer {
    path: PathBuf,
    /// What the file is called until it is whole.
    unfinished: PathBuf,
    /// It has this name, and is removed when it does not become whole. Otherwise it has none, and goes by itself.
    is_named: bool,
    file: BufWriter<File>,
    at: u64,
    number: u32,
    block: Builder,
    footer: Footer,
    last_us: u64,
    /// By connection: whether it is open.
    open: Vec<bool>,
}

impl Writer {
    /// Begins a trace that will be at `path`, where a file is replaced when this one is whole.
    pub fn create(path: impl AsRef<Path>, header: &Header) -> Result<Self, Error> {
        let path = path.as_ref().to_owned();
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(format!(".unfinished-{}", std::process::id()));
        let unfinished = path.with_file_name(name);
        let (file, is_named) = match create_nameless(&unfinished) {
            Ok(file) => (file, false),
            // Not every file system has such files.
            Err(_) => (create_private(&unfinished).map_err(|error| Error::io(&path, error))?, true),
        };
        let mut writer = Self {
            path,
            unfinished,
            is_named,
            file: BufWriter::with_capacity(256 << 10, file),
            at: BEGINNING_BYTES,
            number: 0,
            block: Builder::default(),
            footer: Footer::default(),
            last_us: 0,
            open: Vec::new(),
        };
        let begun = writer
            .file
            .write_all(MAGIC)
            .and_then(|()| writer.file.write_all(&FORMAT.to_le_bytes()));
        begun.map_err(|error| Error::io(&writer.path, error))?;
        let header = serde_json::to_vec(header).expect("a header is plain data");
        writer.frame(Kind::Header, &header)?;
        Ok(writer)
    }

    /// Adds a record, which does not begin before the one in front of it. Connections open in the order of
    /// their numbers, and have records only while they are open.
    pub fn push(&mut self, record: &Record) -> Result<(), Error> {
        self.check(record)?;
        self.last_us = record.at_us();
        let mut end_us = self.last_us;
        match record {
            Record::Opened(_) => {
                self.footer.connections += 1;
                self.open.push(true);
            }
            Record::Statement(statement) => {
                self.footer.statements += 1;
                self.footer.sql_bytes += statement.sql.len() as u64;
                end_us = end_us.saturating_add(statement.duration_us.unwrap_or(0));
            }
            Record::Closed(closed) => {
                self.footer.closed += 1;
                self.open[closed.connection as usize] = false;
            }
        }
        self.footer.length_us = self.footer.length_us.max(end_us);
        self.block.push(record);
        if self.block.is_full(1) {
            self.flush_block()?;
        }
        Ok(())
    }

    fn check(&self, record: &Record) -> Result<(), Error> {
        let connection = record.connection() as usize;
        let why = if record.at_us() < self.last_us {
            "begins before the record in front of it"
        } else if matches!(record, Record::Opened(_)) {
            if connection == self.open.len() {
                return Ok(());
            }
            "opens out of turn"
        } else if self.open.get(connection) == Some(&true) {
            return Ok(());
        } else {
            "is not open"
        };
        Err(Error::Order { why: format!("connection {connection} {why}") })
    }

    /// Ends the trace and gives it its name.
    pub fn finish(
        mut self,
        skipped: Vec<Skipped>,
        files: Vec<SourceFile>,
    ) -> Result<Footer, Error> {
        self.flush_block()?;
        (self.footer.skipped, self.footer.files) = (skipped, files);
        let footer_at = self.at;
        let footer = serde_json::to_vec(&self.footer).expect("a footer is plain data");
        self.frame(Kind::Footer, &footer)?;
        let path = self.path.clone();
        let failed = |error| Error::io(&path, error);
        self.file.write_all(&footer_at.to_le_bytes()).map_err(failed)?;
        self.file.write_all(MAGIC).map_err(failed)?;
        self.file.flush().map_err(failed)?;
        self.file.get_ref().sync_all().map_err(failed)?;
        if !self.is_named {
            give_name(self.file.get_ref(), &self.unfinished).map_err(failed)?;
            self.is_named = true;
        }
        fs::rename(&self.unfinished, &self.path).map_err(failed)?;
        self.is_named = false;
        Ok(std::mem::take(&mut self.footer))
    }

    fn flush_block(&mut self) -> Result<(), Error> {
        if self.block.is_empty() {
            return Ok(());
        }
        let block = self.block.finish();
        self.frame(Kind::Block, &block)
    }

    fn frame(&mut self, kind: Kind, payload: &[u8]) -> Result<(), Error> {
        let written = frame::write(&mut self.file, kind, self.number, payload, LEVEL);
        self.at += written.map_err(|error| Error::io(&self.path, error))?;
        self.number += 1;
        Ok(())
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        if self.is_named {
            // Nothing better can be done about a file that does not go.
            let _ = fs::remove_file(&self.unfinished);
        }
    }
}

/// A file without a name, in the folder of `path`.
fn create_nameless(path: &Path) -> io::Result<File> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    let file = rustix::fs::open(folder.unwrap_or(Path::new(".")), flags, Mode::RUSR | Mode::WUSR)?;
    Ok(File::from(file))
}

fn give_name(file: &File, path: &Path) -> io::Result<()> {
    let nameless = format!("/proc/self/fd/{}", file.as_raw_fd());
    Ok(linkat(CWD, nameless, CWD, path, AtFlags::SYMLINK_FOLLOW)?)
}

/// Statements are for their owner's eyes only.
pub(crate) fn create_private(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    File::options().write(true).read(true).create(true).truncate(true).mode(0o600).open(path)
}
