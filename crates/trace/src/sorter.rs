//! Records that come in another order than that of their instants, as those of a slow log do.
//!
//! What fits into memory is sorted there. What does not goes, sorted, into runs in a file beside the trace, and
//! the runs are merged at the end.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use crate::block::{self, Builder};
use crate::error::Error;
use crate::frame::{self, Kind};
use crate::header::{Footer, Header, Skipped, SourceFile};
use crate::reader::of_trouble;
use crate::record::Record;
use crate::writer::{Writer, create_private};

/// Of records in memory.
const MOST_BYTES: usize = 128 << 20;

/// Blocks of runs are smaller, since one of each is in memory while they are merged.
const RUN_PARTS: usize = 16;

/// zstd's fastest that still packs.
const RUN_LEVEL: i32 = 1;

/// A record, where it belongs: its instant in microseconds since 1970 or any other beginning, then the order in
/// which it came.
struct Placed {
    at_us: i64,
    number: u64,
    record: Record,
}

/// Takes records in any order, of connections with any numbers, and writes them as a trace.
pub struct Sorter {
    path: PathBuf,
    most_bytes: usize,
    held: Vec<Placed>,
    held_bytes: usize,
    numbers: u64,
    first_us: Option<i64>,
    runs: Option<File>,
    /// Where the blocks of each run are.
    places: Vec<Vec<u64>>,
}

impl Sorter {
    /// For a trace at `path`.
    pub fn new(path: impl AsRef<Path>) -> Self {
        Self {
            path: path.as_ref().to_owned(),
            most_bytes: MOST_BYTES,
            held: Vec::new(),
            held_bytes: 0,
            numbers: 0,
            first_us: None,
            runs: None,
            places: Vec::new(),
        }
    }

    /// The same with runs of so many bytes.
    #[must_use]
    pub fn with_memory(mut self, bytes: usize) -> Self {
        self.most_bytes = bytes;
        self
    }

    /// Adds a record that begins at `at_us` on any clock; its own instant and the order of its connection's
    /// number do not matter. Of records with the same instant, the first one given is the first.
    pub fn push(&mut self, at_us: i64, record: Record) -> Result<(), Error> {
        self.first_us = Some(self.first_us.map_or(at_us, |first| first.min(at_us)));
        self.held_bytes += std::mem::size_of::<Placed>();
        if let Record::Statement(statement) = &record {
            self.held_bytes += statement.sql.len();
        }
        self.held.push(Placed { at_us, number: self.numbers, record });
        self.numbers += 1;
        if self.held_bytes >= self.most_bytes { self.spill() } else { Ok(()) }
    }

    /// The earliest instant given.
    pub fn first_us(&self) -> Option<i64> {
        self.first_us
    }

    /// Writes the trace, whose instants begin with `start_us` on the clock of [`Sorter::push`].
    pub fn finish(
        mut self,
        header: &Header,
        start_us: i64,
        skipped: Vec<Skipped>,
        files: Vec<SourceFile>,
    ) -> Result<Footer, Error> {
        let mut out = Renumbered {
            writer: Writer::create(&self.path, header)?,
            start_us,
            numbers: HashMap::new(),
        };
        if self.places.is_empty() {
            self.held.sort_by_key(|placed| (placed.at_us, placed.number));
            for placed in std::mem::take(&mut self.held) {
                out.push(placed.at_us, placed.record)?;
            }
        } else {
            self.spill()?;
            self.merge(&mut out)?;
        }
        out.writer.finish(skipped, files)
    }

    fn merge(&mut self, out: &mut Renumbered) -> Result<(), Error> {
        let mut file = self.runs.take().expect("runs have a file");
        let mut runs = Vec::with_capacity(self.places.len());
        for places in std::mem::take(&mut self.places) {
            runs.push(Run { places: places.into_iter(), block: Vec::new().into_iter() });
        }
        let mut next = BinaryHeap::new();
        let mut records = Vec::with_capacity(runs.len());
        for (number, run) in runs.iter_mut().enumerate() {
            let record = run.next(&mut file, &self.path)?;
            next.extend(record.as_ref().map(|record| Reverse((instant(record), number))));
            records.push(record);
        }
        // A run holds what came before that of the runs behind it, so that equal instants keep their order.
        while let Some(Reverse((_, number))) = next.pop() {
            let following = runs[number].next(&mut file, &self.path)?;
            next.extend(following.as_ref().map(|record| Reverse((instant(record), number))));
            let record = std::mem::replace(&mut records[number], following);
            let record = record.expect("the heap names runs that have one");
            out.push(instant(&record), record)?;
        }
        Ok(())
    }

    /// Writes what is held as a run.
    fn spill(&mut self) -> Result<(), Error> {
        self.held.sort_by_key(|placed| (placed.at_us, placed.number));
        let failed = |error| Error::io(&self.path, error);
        let file = match &mut self.runs {
            Some(file) => file,
            none => none.insert(nameless(&self.path).map_err(failed)?),
        };
        let mut places = Vec::new();
        let mut block = Builder::default();
        let mut write = |block: &mut Builder| {
            places.push(file.seek(SeekFrom::End(0))?);
            frame::write(file, Kind::Block, 0, &block.finish(), RUN_LEVEL)
        };
        for Placed { at_us, record, .. } in self.held.drain(..) {
            let connection = record.connection();
            block.push(&record.moved(connection, at_us as u64));
            if block.is_full(RUN_PARTS) {
                write(&mut block).map_err(failed)?;
            }
        }
        if !block.is_empty() {
            write(&mut block).map_err(failed)?;
        }
        self.places.push(places);
        self.held_bytes = 0;
        Ok(())
    }
}

/// As runs hold it.
fn instant(record: &Record) -> i64 {
    record.at_us() as i64
}

/// A file that goes with this process.
fn nameless(path: &Path) -> std::io::Result<File> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".runs-{}", std::process::id()));
    let path = path.with_file_name(name);
    let file = create_private(&path)?;
    fs::remove_file(&path)?;
    Ok(file)
}

struct Run {
    places: std::vec::IntoIter<u64>,
    block: std::vec::IntoIter<Record>,
}

impl Run {
    fn next(&mut self, file: &mut File, path: &Path) -> Result<Option<Record>, Error> {
        if let Some(record) = self.block.next() {
            return Ok(Some(record));
        }
        let Some(place) = self.places.next() else { return Ok(None) };
        file.seek(SeekFrom::Start(place)).map_err(|error| Error::io(path, error))?;
        let frame = frame::read(&mut file.by_ref(), 0)
            .map_err(|trouble| of_trouble(trouble, path, place))?;
        self.block = block::read(&frame.payload).unwrap_or_default().into_iter();
        Ok(self.block.next())
    }
}

/// Gives connections the numbers of the order in which they open, and instants the trace's start.
struct Renumbered {
    writer: Writer,
    start_us: i64,
    numbers: HashMap<u32, u32>,
}

impl Renumbered {
    fn push(&mut self, at_us: i64, record: Record) -> Result<(), Error> {
        let next = self.numbers.len() as u32;
        let number = match &record {
            Record::Opened(opened) => *self.numbers.entry(opened.connection).or_insert(next),
            other => *self.numbers.get(&other.connection()).unwrap_or(&u32::MAX),
        };
        let at_us = at_us.saturating_sub(self.start_us).max(0) as u64;
        self.writer.push(&record.moved(number, at_us))
    }
}
