//! A source of a digest: opened, looked into, unpacked.

mod compression;
mod raw;
pub mod repeated;
#[cfg(test)]
mod tests;
mod unpack;
mod unpacked;

pub use raw::{Trouble, total_bytes};

use std::sync::atomic::AtomicU64;

use crate::import::{Format, Importer};
use crate::message::Compression;
use crate::recognise::LOOKED_AT;
use crate::stop::Stop;
use unpacked::Unpacked;

pub struct Source<'a> {
    unpacked: Unpacked<'a>,
    pub compression: Compression,
    /// What it is an export of, when it is not a slow log itself.
    pub format: Option<Format>,
    import: Option<Import>,
    /// The beginning, not yet given, and how it ended when it is all there is.
    head: Vec<u8>,
    head_end: Option<End>,
}

/// An export on its way to a slow log.
struct Import {
    importer: Importer,
    /// Bytes of it, to be taken in.
    taken: Vec<u8>,
    /// The log that was made of them, of which what is behind `from` was not yet given.
    log: Vec<u8>,
    from: usize,
    end: Option<End>,
}

/// Why a source gives nothing.
#[derive(Debug)]
pub enum Refusal {
    Trouble(Trouble),
    /// What it is instead, in words.
    NotASlowLog(&'static str),
    Empty,
}

/// How the filling of a buffer ended.
#[derive(Debug)]
pub struct Filled {
    pub bytes: usize,
    pub end: Option<End>,
}

#[derive(Debug)]
pub enum End {
    Whole,
    Before(Trouble),
}

/// Of an export, taken in at once.
const IMPORTED_BYTES: usize = 128 << 10;

impl<'a> Source<'a> {
    /// Opens `name`, where `-` is standard input, and finds out how it is packed and whether it is an export.
    /// Waits for the first bytes of a pipe. What is read of it, as it lies there, is added to `read_bytes` at
    /// once.
    pub fn open(name: &str, stop: &Stop, read_bytes: &'a AtomicU64) -> Result<Self, Refusal> {
        let mut unpacked = Unpacked::open(name, stop, read_bytes)?;
        let mut head = vec![0; LOOKED_AT];
        let filled = unpacked.fill(&mut head, stop);
        head.truncate(filled.bytes);
        if head.is_empty() && matches!(filled.end, Some(End::Whole)) {
            return Err(Refusal::Empty);
        }
        let compression = unpacked.compression;
        let format = Format::of(&head);
        let mut source =
            Self { unpacked, compression, format, import: None, head, head_end: filled.end };
        if let Some(format) = format {
            source.import = Some(Import::new(format, &source.head, source.head_end.take()));
            let mut head = vec![0; LOOKED_AT];
            let filled = source.fill_behind_head(&mut head, stop);
            head.truncate(filled.bytes);
            (source.head, source.head_end) = (head, filled.end);
        }
        Ok(source)
    }

    /// The beginning of the log, unpacked; before the first [`Source::fill`].
    pub fn head(&self) -> &[u8] {
        &self.head
    }

    /// Gives the log, until `buffer` is full or the source has ended.
    pub fn fill(&mut self, buffer: &mut [u8], stop: &Stop) -> Filled {
        let bytes = self.head.len().min(buffer.len());
        buffer[..bytes].copy_from_slice(&self.head[..bytes]);
        self.head.drain(..bytes);
        if self.head.is_empty()
            && let Some(end) = self.head_end.take()
        {
            return Filled { bytes, end: Some(end) };
        }
        let behind = self.fill_behind_head(&mut buffer[bytes..], stop);
        Filled { bytes: bytes + behind.bytes, end: behind.end }
    }

    fn fill_behind_head(&mut self, buffer: &mut [u8], stop: &Stop) -> Filled {
        match &mut self.import {
            None => self.unpacked.fill(buffer, stop),
            Some(import) => import.fill(buffer, &mut self.unpacked, stop),
        }
    }
}

impl Import {
    /// With the source's beginning, and how it ended when it is all there is.
    fn new(format: Format, head: &[u8], end: Option<End>) -> Self {
        let (mut importer, mut log) = (Importer::new(format), Vec::new());
        importer.feed(head, end.is_some(), &mut log);
        Self { importer, taken: vec![0; IMPORTED_BYTES], log, from: 0, end }
    }

    fn fill(&mut self, buffer: &mut [u8], source: &mut Unpacked<'_>, stop: &Stop) -> Filled {
        let mut bytes = 0;
        loop {
            let given = (self.log.len() - self.from).min(buffer.len() - bytes);
            buffer[bytes..bytes + given].copy_from_slice(&self.log[self.from..self.from + given]);
            (bytes, self.from) = (bytes + given, self.from + given);
            if bytes == buffer.len() {
                return Filled { bytes, end: None };
            }
            if let Some(end) = self.end.take() {
                return Filled { bytes, end: Some(end) };
            }
            (self.from, self.end) = (0, None);
            self.log.clear();
            let filled = source.fill(&mut self.taken, stop);
            self.end = filled.end;
            self.importer.feed(&self.taken[..filled.bytes], self.end.is_some(), &mut self.log);
        }
    }
}
