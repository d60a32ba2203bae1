//! Packets out of pcap and pcapng.
//!
//! Sources: "PCAP Capture File Format" (draft-ietf-opsawg-pcap), "PCAP Next Generation Capture File Format"
//! (draft-ietf-opsawg-pcapng).

use mydyno_digest::source::{Source, Trouble};
use mydyno_digest::stop::Stop;

use crate::capture::trouble_of;

const MICROS: [u8; 4] = [0xa1, 0xb2, 0xc3, 0xd4];
const NANOS: [u8; 4] = [0xa1, 0xb2, 0x3c, 0x4d];
const SECTION: [u8; 4] = [0x0a, 0x0d, 0x0d, 0x0a];

/// No packet is longer, nor any block of pcapng that is looked into.
const MOST_BYTES: usize = 16 << 20;

/// Whether a file with this beginning is one of packets.
pub fn is_packets(head: &[u8]) -> bool {
    let Some(magic) = head.first_chunk::<4>() else { return false };
    let mut other = *magic;
    other.reverse();
    [MICROS, NANOS].iter().any(|known| known == magic || *known == other) || *magic == SECTION
}

pub struct Packet<'b> {
    /// Where it is in the file.
    pub at: u64,
    pub time_us: i64,
    /// LINKTYPE_...
    pub link: u32,
    pub bytes: &'b [u8],
    pub is_cut: bool,
}

#[derive(Clone, Copy)]
struct Interface {
    link: u32,
    /// Units of time in a second.
    units: u64,
}

pub struct Packets<'s> {
    source: Source<'s>,
    buffer: Vec<u8>,
    from: usize,
    has_ended: bool,
    pub read_bytes: u64,
    pub trouble: Option<Trouble>,
    pub damage: Option<(u64, &'static str)>,
    is_big: bool,
    is_next_generation: bool,
    is_begun: bool,
    interfaces: Vec<Interface>,
}

impl<'s> Packets<'s> {
    pub fn new(source: Source<'s>) -> Self {
        Self {
            source,
            buffer: Vec::new(),
            from: 0,
            has_ended: false,
            read_bytes: 0,
            trouble: None,
            damage: None,
            is_big: false,
            is_next_generation: false,
            is_begun: false,
            interfaces: Vec::new(),
        }
    }

    /// The next packet; None at the end, and where nothing more can be read.
    pub fn next(&mut self, stop: &Stop) -> Option<Packet<'_>> {
        if !self.is_begun {
            self.begin(stop)?;
        }
        if self.is_next_generation { self.next_block(stop) } else { self.next_record(stop) }
    }

    fn begin(&mut self, stop: &Stop) -> Option<()> {
        self.is_begun = true;
        self.need(4, stop)?;
        let magic: [u8; 4] = self.at(0, 4).try_into().expect("four bytes");
        if magic == SECTION {
            self.is_next_generation = true;
            return Some(());
        }
        self.need(24, stop)?;
        self.is_big = magic == MICROS || magic == NANOS;
        let is_nanos = magic[..2] == NANOS[2..] || magic[2..] == NANOS[2..] || magic[0] == 0x4d;
        // The upper bits say how long the checksum of frames is.
        let link = self.number(20) & 0x0fff_ffff;
        self.interfaces =
            vec![Interface { link, units: if is_nanos { 1_000_000_000 } else { 1_000_000 } }];
        self.pass(24);
        Some(())
    }

    fn next_record(&mut self, stop: &Stop) -> Option<Packet<'_>> {
        let at = self.read_bytes;
        self.need(16, stop)?;
        let (second, fraction) = (self.number(0), self.number(4));
        let (kept, length) = (self.number(8) as usize, self.number(12));
        if kept > MOST_BYTES {
            self.damage = Some((at, "a packet has a length that none has: the rest is not read"));
            return None;
        }
        self.need(16 + kept, stop)?;
        self.pass(16 + kept);
        let Interface { link, units } = self.interfaces[0];
        let time_us =
            i64::from(second) * 1_000_000 + i64::from(fraction) / (units / 1_000_000) as i64;
        let bytes = &self.buffer[self.from - kept..self.from];
        Some(Packet { at, time_us, link, bytes, is_cut: (kept as u64) < u64::from(length) })
    }

    fn next_block(&mut self, stop: &Stop) -> Option<Packet<'_>> {
        loop {
            let at = self.read_bytes;
            self.need(12, stop)?;
            let kind: [u8; 4] = self.at(0, 4).try_into().expect("four bytes");
            if kind == SECTION {
                self.is_big = self.at(8, 4) == [0x1a, 0x2b, 0x3c, 0x4d];
                self.interfaces.clear();
            }
            let length = self.number(4) as usize;
            if !(12..=MOST_BYTES).contains(&length) || !length.is_multiple_of(4) {
                self.damage =
                    Some((at, "a block has a length that none has: the rest is not read"));
                return None;
            }
            self.need(length, stop)?;
            let kind = self.number(0);
            match kind {
                1 => self.interface(length),
                6 if length >= 32 => {
                    let (which, kept) = (self.number(8) as usize, self.number(20) as usize);
                    let ticks = u64::from(self.number(12)) << 32 | u64::from(self.number(16));
                    let is_cut = kept < self.number(24) as usize;
                    let begin = self.from + 28;
                    self.pass(length);
                    if let Some(Interface { link, units }) = self.interfaces.get(which).copied()
                        && kept <= length - 32
                    {
                        let time_us = (u128::from(ticks) * 1_000_000 / u128::from(units)) as i64;
                        let bytes = &self.buffer[begin..begin + kept];
                        return Some(Packet { at, time_us, link, bytes, is_cut });
                    }
                    continue;
                }
                _ => {}
            }
            self.pass(length);
        }
    }

    /// Interface description: the link, and the resolution among its options.
    fn interface(&mut self, length: usize) {
        const RESOLUTION: u16 = 9;
        let link = u32::from(self.short(8));
        let (mut place, mut units) = (16, 1_000_000);
        while place + 4 <= length - 4 {
            let (option, bytes) = (self.short(place), usize::from(self.short(place + 2)));
            if option == 0 || place + 4 + bytes > length - 4 {
                break;
            }
            if option == RESOLUTION && bytes == 1 {
                let resolution = self.at(place + 4, 1)[0];
                let power = u32::from(resolution & 0x7f);
                let base: u64 = if resolution & 0x80 == 0 { 10 } else { 2 };
                units = base.checked_pow(power).unwrap_or(1_000_000);
            }
            place += 4 + bytes.next_multiple_of(4);
        }
        self.interfaces.push(Interface { link, units });
    }

    /// Reads on until so many bytes are there; None when the file ends before.
    fn need(&mut self, bytes: usize, stop: &Stop) -> Option<()> {
        while self.buffer.len() - self.from < bytes {
            if self.has_ended {
                if self.buffer.len() > self.from && self.trouble.is_none() {
                    self.damage =
                        Some((self.read_bytes, "the file ends in the middle of a packet"));
                }
                return None;
            }
            self.buffer.drain(..self.from);
            self.from = 0;
            let known = self.buffer.len();
            self.buffer.resize(known + (1 << 20), 0);
            let filled = self.source.fill(&mut self.buffer[known..], stop);
            self.buffer.truncate(known + filled.bytes);
            self.has_ended = filled.end.is_some();
            self.trouble = trouble_of(filled.end);
        }
        Some(())
    }

    fn pass(&mut self, bytes: usize) {
        self.from += bytes;
        self.read_bytes += bytes as u64;
    }

    fn at(&self, place: usize, bytes: usize) -> &[u8] {
        &self.buffer[self.from + place..self.from + place + bytes]
    }

    fn number(&self, place: usize) -> u32 {
        let bytes = self.at(place, 4).try_into().expect("four bytes");
        if self.is_big { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) }
    }

    fn short(&self, place: usize) -> u16 {
        let bytes = self.at(place, 2).try_into().expect("two bytes");
        if self.is_big { u16::from_be_bytes(bytes) } else { u16::from_le_bytes(bytes) }
    }
}
