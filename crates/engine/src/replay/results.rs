//! The files of a replay, written while it runs: docs/reference/replay-results.md.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde::Serialize;

use super::fingerprints::{Described, Fingerprints};
use super::record::{HEADER, Record, SIZE, header};
use super::tally::{Summary, Tally};
use crate::failure::{Fatal, FatalCode};
use crate::job::ReplayJob;

/// Records that are put in order before they are written.
const WRITTEN_TOGETHER: usize = 8192;
/// How often the length in the header is brought up to date.
const EVERY: Duration = Duration::from_secs(1);

/// What the writer is given.
pub enum Report {
    /// The number of the first statement of the part that is replayed; before any of its records.
    First(u64),
    Records(Vec<Record>),
    Fingerprint(Box<Described>),
    Error(ErrorLine),
}

/// A line of `errors.jsonl`.
#[derive(Debug, Serialize)]
pub struct ErrorLine {
    pub id: String,
    pub error: u16,
    pub message: String,
    pub statement: u64,
    /// Equal for the same error of several reactors; not written.
    #[serde(skip)]
    pub key: (u64, u16),
}

/// The writing thread.
pub struct Results {
    writer: JoinHandle<(Tally, io::Result<()>)>,
}

impl Results {
    /// Makes the files, where the job wants them, and begins to count.
    pub fn start(job: &ReplayJob) -> Result<(Self, Sender<Report>), Fatal> {
        let files = match &job.out {
            None => None,
            Some(folder) => Some(Files::make(folder).map_err(|error| unwritten(folder, &error))?),
        };
        let (sender, reports) = channel();
        let writer = thread::Builder::new()
            .name("results".into())
            .spawn(move || Writing { files, ..Writing::default() }.run(&reports))
            .map_err(|error| {
                Fatal::new(FatalCode::Internal, format!("cannot start a thread: {error}"))
            })?;
        Ok((Self { writer }, sender))
    }

    /// Waits until all is written, once nobody reports any more.
    pub fn finish(
        self,
        job: &ReplayJob,
        source: mydyno_trace::Source,
        fingerprints: &Fingerprints,
        problem: Option<String>,
    ) -> Result<Summary, Fatal> {
        let (tally, written) = self
            .writer
            .join()
            .map_err(|_| Fatal::new(FatalCode::Internal, "the writer of the results failed"))?;
        let summary = tally.summary(job, source, fingerprints, problem);
        let Some(folder) = &job.out else { return Ok(summary) };
        written
            .and_then(|()| {
                let text = serde_json::to_string(&summary).expect("a summary is plain data");
                fs::write(folder.join("summary.json"), text + "\n")
            })
            .map_err(|error| unwritten(folder, &error))?;
        Ok(summary)
    }
}

fn unwritten(folder: &Path, error: &io::Error) -> Fatal {
    let message = format!("cannot write the results to {}: {error}", folder.display());
    Fatal::new(FatalCode::Internal, message)
}

struct Files {
    statements: File,
    fingerprints: File,
    errors: File,
    /// The statement of the first record.
    first: u64,
    /// Records that the file has.
    count: u64,
}

impl Files {
    fn make(folder: &Path) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        let new = |name: &str| -> io::Result<File> {
            let path: PathBuf = folder.join(name);
            File::options().write(true).create_new(true).open(path)
        };
        let files = Self {
            statements: new("statements.npy")?,
            fingerprints: new("fingerprints.jsonl")?,
            errors: new("errors.jsonl")?,
            first: 0,
            count: 0,
        };
        files.statements.write_all_at(&header(0), 0)?;
        Ok(files)
    }

    /// Writes records that are in order, each to its place.
    fn put(&mut self, records: &[Record]) -> io::Result<()> {
        let mut bytes = Vec::with_capacity(records.len() * SIZE);
        for run in records.chunk_by(|one, next| one.statement + 1 == next.statement) {
            bytes.clear();
            run.iter().for_each(|record| record.write_to(&mut bytes));
            let place = run[0].statement - self.first;
            self.statements.write_all_at(&bytes, HEADER as u64 + place * SIZE as u64)?;
            self.count = self.count.max(place + run.len() as u64);
        }
        Ok(())
    }

    fn update_header(&self) -> io::Result<()> {
        self.statements.write_all_at(&header(self.count), 0)
    }
}

#[derive(Default)]
struct Writing {
    files: Option<Files>,
    tally: Tally,
    pending: Vec<Record>,
    errors: std::collections::HashSet<(u64, u16)>,
}

impl Writing {
    fn run(mut self, reports: &Receiver<Report>) -> (Tally, io::Result<()>) {
        let mut written = Ok(());
        let mut updated = Instant::now();
        loop {
            match reports.recv_timeout(EVERY) {
                Ok(report) => {
                    let taken = self.take(report);
                    written = written.and(taken);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            if updated.elapsed() >= EVERY {
                updated = Instant::now();
                let put = self.put();
                written = written.and(put);
            }
        }
        let put = self.put();
        (self.tally, written.and(put))
    }

    fn take(&mut self, report: Report) -> io::Result<()> {
        match report {
            Report::First(number) => {
                if let Some(files) = &mut self.files {
                    files.first = number;
                }
                Ok(())
            }
            Report::Records(records) => {
                records.iter().for_each(|record| self.tally.add(record));
                if self.files.is_some() {
                    self.pending.extend(records);
                }
                if self.pending.len() >= WRITTEN_TOGETHER { self.put() } else { Ok(()) }
            }
            Report::Fingerprint(described) => match &mut self.files {
                Some(files) => write_line(&mut files.fingerprints, &described),
                None => Ok(()),
            },
            Report::Error(line) => match &mut self.files {
                Some(files) if self.errors.insert(line.key) => write_line(&mut files.errors, &line),
                _ => Ok(()),
            },
        }
    }

    fn put(&mut self) -> io::Result<()> {
        let Some(files) = &mut self.files else { return Ok(()) };
        self.pending.sort_unstable_by_key(|record| record.statement);
        let put = files.put(&self.pending);
        self.pending.clear();
        put.and_then(|()| files.update_header())
    }
}

fn write_line(file: &mut File, line: &impl Serialize) -> io::Result<()> {
    let mut text = serde_json::to_vec(line).expect("a line is plain data");
    text.push(b'\n');
    file.write_all(&text)
}
