//! The bytes of a source without their packing.

use std::sync::atomic::AtomicU64;

use super::compression::{MAGIC_BYTES, compression_of};
use super::raw::{Raw, Trouble};
use super::unpack::Unpacker;
use super::{End, Filled, Refusal};
use crate::message::Compression;
use crate::stop::Stop;

/// Of packed bytes, of which one step of unpacking takes some.
const PACKED_BYTES: usize = 128 << 10;

pub struct Unpacked<'a> {
    pub raw: Raw<'a>,
    unpacker: Unpacker,
    pub compression: Compression,
    /// Bytes as they lie there, of which `from..to` are still to be unpacked.
    packed: Vec<u8>,
    from: usize,
    to: usize,
    has_ended: bool,
}

impl<'a> Unpacked<'a> {
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
        Ok(Self { raw, unpacker, compression, packed, from: 0, to, has_ended: false })
    }

    /// Unpacks into `buffer` until it is full or the source has ended.
    pub fn fill(&mut self, buffer: &mut [u8], stop: &Stop) -> Filled {
        let mut bytes = 0;
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
