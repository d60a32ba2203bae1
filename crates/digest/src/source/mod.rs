//! A source of a digest: opened, looked into, unpacked.

mod compression;
mod raw;
pub mod repeated;
#[cfg(test)]
mod tests;
mod unpack;

pub use raw::{Trouble, total_bytes};

use std::sync::atomic::AtomicU64;

use crate::message::Compression;
use crate::recognise::LOOKED_AT;
use crate::stop::Stop;
use compression::{MAGIC_BYTES, compression_of};
use raw::Raw;
use unpack::Unpacker;

/// Of packed bytes, of which one step of unpacking takes some.
const PACKED_BYTES: usize = 128 << 10;

pub struct Source<'a> {
    raw: Raw<'a>,
    unpacker: Unpacker,
    pub compression: Compression,
    /// Bytes as they lie there, of which `from..to` are still to be unpacked.
    packed: Vec<u8>,
    from: usize,
    to: usize,
    has_ended: bool,
    /// The beginning, unpacked and not yet given, and how it ended when it is all there is.
    head: Vec<u8>,
    head_end: Option<End>,
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

impl<'a> Source<'a> {
    /// Opens `name`, where `-` is standard input, and finds out how it is packed. Waits for the first
    /// bytes of a pipe. What is read of it, as it lies there, is added to `read_bytes` at once.
    pub fn open(name: &str, stop: &Stop, read_bytes: &'a AtomicU64) -> Result<Self, Refusal> {
        let mut raw = Raw::open(name, read_bytes).map_err(Refusal::Trouble)?;
        let mut packed = vec![0; PACKED_BYTES];
        let mut to = 0;
        while to < MAGIC_BYTES {
            match raw.read(&mut packed[to..], stop).map_err(Refusal::Trouble)? {
                0 if to == 0 => return Err(Refusal::Empty),
                0 => break,
                count => to += count,
            }
        }
        let compression = compression_of(&packed[..to]).map_err(Refusal::NotASlowLog)?;
        let unpacker = Unpacker::new(compression).map_err(|error| {
            Refusal::Trouble(Trouble::Unreadable(format!("cannot be unpacked: {error}")))
        })?;
        let mut source = Self {
            raw,
            unpacker,
            compression,
            packed,
            from: 0,
            to,
            has_ended: false,
            head: Vec::new(),
            head_end: None,
        };
        let mut head = vec![0; LOOKED_AT];
        let filled = source.fill(&mut head, stop);
        head.truncate(filled.bytes);
        if head.is_empty() && matches!(filled.end, Some(End::Whole)) {
            return Err(Refusal::Empty);
        }
        (source.head, source.head_end) = (head, filled.end);
        Ok(source)
    }

    /// The beginning, unpacked; before the first [`Source::fill`].
    pub fn head(&self) -> &[u8] {
        &self.head
    }

    /// Unpacks into `buffer` until it is full or the source has ended.
    pub fn fill(&mut self, buffer: &mut [u8], stop: &Stop) -> Filled {
        let mut bytes = self.head.len().min(buffer.len());
        buffer[..bytes].copy_from_slice(&self.head[..bytes]);
        self.head.drain(..bytes);
        if self.head.is_empty()
            && let Some(end) = self.head_end.take()
        {
            return Filled { bytes, end: Some(end) };
        }
        while bytes < buffer.len() {
            match self.give(&mut buffer[bytes..], stop) {
                Ok(Some(given)) => bytes += given,
                Ok(None) => return Filled { bytes, end: Some(End::Whole) },
                Err((given, trouble)) => {
                    return Filled { bytes: bytes + given, end: Some(End::Before(trouble)) };
                }
            }
        }
        Filled { bytes, end: None }
    }

    /// Some more bytes, maybe none; None at the end. With a trouble comes what was given before it.
    fn give(&mut self, buffer: &mut [u8], stop: &Stop) -> Result<Option<usize>, (usize, Trouble)> {
        if self.from == self.to && !self.has_ended {
            if matches!(self.unpacker, Unpacker::Plain) {
                let count = self.raw.read(buffer, stop).map_err(|trouble| (0, trouble))?;
                return Ok((count > 0).then_some(count));
            }
            self.to = self.raw.read(&mut self.packed, stop).map_err(|trouble| (0, trouble))?;
            (self.from, self.has_ended) = (0, self.to == 0);
        }
        if self.has_ended && self.unpacker.may_end() {
            return Ok(None);
        }
        // At the end the unpacker may still hold what found no room before.
        let step = self.unpacker.step(&self.packed[self.from..self.to], buffer);
        self.from += step.taken;
        if let Some(damage) = step.damage {
            let at = self.raw.read_bytes - (self.to - self.from) as u64;
            return Err((
                step.given,
                Trouble::Broken(format!("{damage} near byte {at} of the file")),
            ));
        }
        if step.given == 0 && self.has_ended && !self.unpacker.may_end() {
            return Err((0, Trouble::Broken("the compressed data end in the middle".to_owned())));
        }
        Ok(Some(step.given))
    }
}
