//! The compressed protocol: packets travel inside compressed ones, which have numbers of their own.
//!
//! A compressed packet is a header of 7 bytes (length, number, length before compression) and a stretch of
//! the stream of packets, cut anywhere. A length of 0 before compression means that it is sent as it is.
//! Source: MySQL Server source documentation, "Compression".

use std::io::{self, Read, Write};

use mysql_common::constants::CapabilityFlags as Capability;
use zlib_rs::{Deflate, DeflateFlush, Inflate, InflateFlush, Status};
use zstd::bulk::{Compressor, Decompressor};

use super::{ServerError, code};
use crate::job::{CompressionAlgorithm, CompressionJob};

const HEADER: usize = 7;
/// Shorter stretches are sent as they are (MIN_COMPRESS_LENGTH of MySQL and MariaDB).
const LEAST: usize = 50;
/// The most that a compressed packet holds, before and after compression: a length has 3 bytes. It also
/// bounds the memory that a server can have used with a few bytes: one buffer of 16 MiB for each reactor.
const MOST: usize = 0xff_ffff;
/// As of compress() of zlib, which MySQL and MariaDB call.
const ZLIB_LEVEL: i32 = 6;
const ZLIB_WINDOW_BITS: u8 = 15;
/// A larger buffer of a split packet is not kept for the next one.
const KEPT: usize = 64 * 1024;
const READ: usize = 16 * 1024;

/// How a connection is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    Zlib,
    Zstd { level: u8 },
}

impl Algorithm {
    pub fn capability(self) -> Capability {
        match self {
            Self::Zlib => Capability::CLIENT_COMPRESS,
            Self::Zstd { .. } => Capability::CLIENT_ZSTD_COMPRESSION_ALGORITHM,
        }
    }
}

/// What to use with a server of these capabilities; none: the connection is not compressed. Where both
/// sides have several, the order is the server's own: zlib, zstd, uncompressed.
///
/// # Errors
/// The server offers nothing that the job allows.
pub fn choose(job: &CompressionJob, server: Capability) -> Result<Option<Algorithm>, ServerError> {
    let allowed = |algorithm| job.algorithms.contains(&algorithm);
    if allowed(CompressionAlgorithm::Zlib) && server.contains(Algorithm::Zlib.capability()) {
        return Ok(Some(Algorithm::Zlib));
    }
    let zstd = Algorithm::Zstd { level: job.zstd_level };
    if allowed(CompressionAlgorithm::Zstd) && server.contains(zstd.capability()) {
        return Ok(Some(zstd));
    }
    if allowed(CompressionAlgorithm::Uncompressed) {
        return Ok(None);
    }
    let names: Vec<&str> = job.algorithms.iter().map(|algorithm| algorithm.name()).collect();
    let message = format!("the server does not offer compression with {}", names.join(" or "));
    Err(ServerError::new(code::COMPRESSION, message))
}

/// Bytes came after the end of the handshake, before anything was asked.
pub fn not_compressed() -> ServerError {
    malformed("bytes came before the first compressed packet was due")
}

fn malformed(what: &str) -> ServerError {
    ServerError::new(code::MALFORMED_PACKET, what)
}

/// Compresses; one serves all connections of a reactor.
#[derive(Default)]
pub struct Packer {
    deflate: Option<Box<Deflate>>,
    zstd: Option<Compressor<'static>>,
}

impl Packer {
    /// Appends commands in compressed packets. Those of the first begin with `number`, which is 0 unless it
    /// goes on with one, as a file for LOAD DATA LOCAL does; the others begin with 0. `number` is then that of
    /// the packet after.
    pub fn pack(
        &mut self,
        algorithm: Algorithm,
        mut commands: &[u8],
        number: &mut u8,
        out: &mut Vec<u8>,
    ) {
        while !commands.is_empty() {
            let (command, rest) = commands.split_at(command_length(commands));
            for stretch in command.chunks(MOST) {
                self.packet(algorithm, *number, stretch, out);
                *number = number.wrapping_add(1);
            }
            if !rest.is_empty() {
                *number = 0;
            }
            commands = rest;
        }
    }

    fn packet(&mut self, algorithm: Algorithm, number: u8, plain: &[u8], out: &mut Vec<u8>) {
        let start = out.len();
        out.extend([0; HEADER]);
        let mut before = plain.len();
        if before < LEAST || !self.shorten(algorithm, plain, out) {
            before = 0;
            out.extend_from_slice(plain);
        }
        let length = out.len() - start - HEADER;
        out[start..start + 3].copy_from_slice(&(length as u32).to_le_bytes()[..3]);
        out[start + 3] = number;
        out[start + 4..start + HEADER].copy_from_slice(&(before as u32).to_le_bytes()[..3]);
    }

    /// Appends `plain`, compressed, unless that is no shorter.
    fn shorten(&mut self, algorithm: Algorithm, plain: &[u8], out: &mut Vec<u8>) -> bool {
        let start = out.len();
        out.resize(start + plain.len() - 1, 0);
        let space = &mut out[start..];
        let length = match algorithm {
            Algorithm::Zlib => {
                let deflate = self.deflate.get_or_insert_with(|| {
                    Box::new(Deflate::new(ZLIB_LEVEL, true, ZLIB_WINDOW_BITS))
                });
                deflate.reset();
                let status = deflate.compress(plain, space, DeflateFlush::Finish);
                (status == Ok(Status::StreamEnd)).then(|| deflate.total_out() as usize)
            }
            Algorithm::Zstd { level } => {
                let zstd = self.zstd.get_or_insert_with(|| {
                    Compressor::new(i32::from(level)).expect("the level was checked")
                });
                zstd.compress_to_buffer(plain, space).ok()
            }
        };
        out.truncate(start + length.unwrap_or(0));
        length.is_some()
    }
}

/// The length of the first of several commands: the next one begins with number 0 again.
fn command_length(commands: &[u8]) -> usize {
    let mut end = 0;
    while let Some(&[low, middle, high, number]) = commands[end..].first_chunk() {
        if end > 0 && number == 0 {
            break;
        }
        end += 4 + u32::from_le_bytes([low, middle, high, 0]) as usize;
    }
    end
}

/// The compressed packet under way on one connection, as far as it has come.
#[derive(Debug, Default)]
pub struct Incoming {
    /// Empty where the packet lies whole in what was read.
    held: Vec<u8>,
    /// The packet that is held has been handed out.
    is_over: bool,
    /// The number after that of the last packet.
    next_number: u8,
}

/// Decompresses; one serves all connections of a reactor.
#[derive(Default)]
pub struct Unpacker {
    inflate: Option<Box<Inflate>>,
    zstd: Option<Decompressor<'static>>,
    space: Vec<u8>,
}

impl Unpacker {
    /// What the next compressed packet of `bytes` holds; `bytes` is moved past what was used. `None` when
    /// the rest has been taken in and more is needed.
    ///
    /// The numbers of the packets are not compared: the client libraries of MySQL and MariaDB do not, and
    /// proxies count in other ways.
    pub fn next<'a, 'b: 'a>(
        &'a mut self,
        algorithm: Algorithm,
        incoming: &'a mut Incoming,
        bytes: &mut &'b [u8],
    ) -> Option<Result<&'a [u8], ServerError>> {
        if std::mem::take(&mut incoming.is_over) {
            incoming.held.clear();
            incoming.held.shrink_to(KEPT);
        }
        if incoming.held.is_empty()
            && let Some(length) = packet_length(bytes)
            && bytes.len() >= length
        {
            let (packet, rest) = bytes.split_at(length);
            *bytes = rest;
            incoming.next_number = packet[3].wrapping_add(1);
            return Some(self.content(algorithm, packet));
        }
        hold(&mut incoming.held, HEADER, bytes);
        let length = packet_length(&incoming.held)?;
        hold(&mut incoming.held, length, bytes);
        if incoming.held.len() < length {
            return None;
        }
        incoming.is_over = true;
        incoming.next_number = incoming.held[3].wrapping_add(1);
        Some(self.content(algorithm, &incoming.held))
    }

    fn content<'a>(
        &'a mut self,
        algorithm: Algorithm,
        packet: &'a [u8],
    ) -> Result<&'a [u8], ServerError> {
        let (header, packed) = packet.split_at(HEADER);
        let before = u32::from_le_bytes([header[4], header[5], header[6], 0]) as usize;
        if before == 0 {
            return Ok(packed);
        }
        if self.space.len() < before {
            self.space.resize(before, 0);
        }
        let plain = &mut self.space[..before];
        let length = match algorithm {
            Algorithm::Zlib => {
                let inflate = self
                    .inflate
                    .get_or_insert_with(|| Box::new(Inflate::new(true, ZLIB_WINDOW_BITS)));
                inflate.reset(true);
                let status = inflate.decompress(packed, plain, InflateFlush::Finish);
                (status == Ok(Status::StreamEnd)).then(|| inflate.total_out() as usize)
            }
            Algorithm::Zstd { .. } => {
                let zstd = self.zstd.get_or_insert_with(Decompressor::default);
                zstd.decompress_to_buffer(packed, plain).ok()
            }
        };
        match length {
            Some(length) if length == before => Ok(plain),
            _ => {
                Err(malformed("a compressed packet cannot be decompressed to the announced length"))
            }
        }
    }
}

/// The length of a compressed packet with its header, once that is there.
fn packet_length(bytes: &[u8]) -> Option<usize> {
    let header: &[u8; HEADER] = bytes.first_chunk()?;
    Some(HEADER + u32::from_le_bytes([header[0], header[1], header[2], 0]) as usize)
}

/// Moves bytes to `held` until it has `length`.
fn hold(held: &mut Vec<u8>, length: usize, bytes: &mut &[u8]) {
    let (taken, rest) = bytes.split_at(bytes.len().min(length.saturating_sub(held.len())));
    held.extend_from_slice(taken);
    *bytes = rest;
}

/// A blocking stream of packets over one of compressed packets.
pub struct Stream<S> {
    inner: S,
    algorithm: Algorithm,
    packer: Packer,
    unpacker: Unpacker,
    incoming: Incoming,
    /// What came of a compressed packet and was not read yet, from `read` on.
    content: Vec<u8>,
    read: usize,
    /// The server's answer to what was written last has come, or has begun to: a command may follow.
    is_answered: bool,
    /// What the inner stream did not take yet, from `written` on.
    unsent: Vec<u8>,
    written: usize,
}

impl<S> Stream<S> {
    pub fn new(inner: S, algorithm: Algorithm) -> Self {
        Self {
            inner,
            algorithm,
            packer: Packer::default(),
            unpacker: Unpacker::default(),
            incoming: Incoming::default(),
            content: Vec::new(),
            read: 0,
            is_answered: true,
            unsent: Vec::new(),
            written: 0,
        }
    }
}

impl<S: Read> Read for Stream<S> {
    fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
        let mut raw = [0; READ];
        while self.read == self.content.len() {
            let count = self.inner.read(&mut raw)?;
            if count == 0 {
                return Ok(0);
            }
            self.is_answered = true;
            self.content.clear();
            self.read = 0;
            let mut bytes = &raw[..count];
            while let Some(content) =
                self.unpacker.next(self.algorithm, &mut self.incoming, &mut bytes)
            {
                self.content.extend_from_slice(content.map_err(io::Error::other)?);
            }
        }
        let count = space.len().min(self.content.len() - self.read);
        space[..count].copy_from_slice(&self.content[self.read..self.read + count]);
        self.read += count;
        Ok(count)
    }
}

impl<S: Write> Write for Stream<S> {
    /// Takes whole commands, or whole packets that go on with one. After an error the same ones are to be written again: what is left of them is
    /// sent then.
    fn write(&mut self, commands: &[u8]) -> io::Result<usize> {
        if self.unsent.is_empty() {
            let number = &mut self.incoming.next_number;
            // In a long file 0 comes again.
            if std::mem::take(&mut self.is_answered) && commands.get(3) == Some(&0) {
                *number = 0;
            }
            self.packer.pack(self.algorithm, commands, number, &mut self.unsent);
        }
        while self.written < self.unsent.len() {
            match self.inner.write(&self.unsent[self.written..])? {
                0 => return Err(io::ErrorKind::WriteZero.into()),
                count => self.written += count,
            }
        }
        self.unsent.clear();
        self.written = 0;
        Ok(commands.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// The error of a blocking stream, where a compressed packet is its cause.
pub fn cause(error: &io::Error) -> Option<ServerError> {
    error.get_ref()?.downcast_ref::<ServerError>().cloned()
}

#[cfg(test)]
mod tests;
