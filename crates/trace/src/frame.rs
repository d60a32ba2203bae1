//! The file: a beginning that names it, then frames, each packed, numbered and with a checksum.
//!
//! | bytes | of a frame |
//! |---|---|
//! | 1 | its kind: `H` header, `B` block of records, `F` footer |
//! | 4 | its number, from 0 |
//! | 4 | bytes of its payload before packing |
//! | 4 | bytes of its payload as it follows, packed by zstd |
//! | 4 | CRC-32 of the 13 bytes above and of the packed payload |
//!
//! Numbers are unsigned, the lowest byte first.

use std::io::{self, Read, Write};

use zlib_rs::crc32::crc32;

/// How a trace begins; the format follows in 4 bytes.
pub const MAGIC: &[u8; 8] = b"\x89MYDYNO\n";

const HEAD_BYTES: usize = 17;

/// More than any frame has: statements are at most 1 GiB, as max_allowed_packet is.
const MOST_BYTES: u32 = (1 << 30) + (64 << 20);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Header = b'H' as isize,
    Block = b'B' as isize,
    Footer = b'F' as isize,
}

impl Kind {
    fn of(byte: u8) -> Option<Self> {
        [Self::Header, Self::Block, Self::Footer].into_iter().find(|kind| *kind as u8 == byte)
    }
}

/// Writes one frame; gives its bytes.
pub fn write(
    file: &mut impl Write,
    kind: Kind,
    number: u32,
    payload: &[u8],
    level: i32,
) -> io::Result<u64> {
    let too_long = || io::Error::new(io::ErrorKind::InvalidInput, "a record is longer than 1 GiB");
    let bytes = u32::try_from(payload.len()).ok().filter(|bytes| *bytes <= MOST_BYTES);
    let bytes = bytes.ok_or_else(too_long)?;
    let packed = zstd::bulk::compress(payload, level)?;
    let mut head = Vec::with_capacity(HEAD_BYTES);
    head.push(kind as u8);
    head.extend_from_slice(&number.to_le_bytes());
    head.extend_from_slice(&bytes.to_le_bytes());
    head.extend_from_slice(&u32::try_from(packed.len()).map_err(|_| too_long())?.to_le_bytes());
    let sum = crc32(crc32(0, &head), &packed);
    head.extend_from_slice(&sum.to_le_bytes());
    file.write_all(&head)?;
    file.write_all(&packed)?;
    Ok((head.len() + packed.len()) as u64)
}

/// Why there is no frame.
#[derive(Debug)]
pub enum Trouble {
    Io(io::Error),
    /// The file ends in front of it or in it.
    Torn,
    Damaged(&'static str),
}

pub struct Frame {
    pub kind: Kind,
    pub payload: Vec<u8>,
    /// In the file.
    pub bytes: u64,
}

/// Reads the frame of this number.
pub fn read(file: &mut impl Read, number: u32) -> Result<Frame, Trouble> {
    let mut head = [0; HEAD_BYTES];
    fill(file, &mut head)?;
    let field = |at: usize| u32::from_le_bytes(head[at..at + 4].try_into().expect("four bytes"));
    let (bytes, packed_bytes) = (field(5), field(9));
    let kind = Kind::of(head[0]).ok_or(Trouble::Damaged("no block begins there"))?;
    if bytes > MOST_BYTES || packed_bytes > MOST_BYTES {
        return Err(Trouble::Damaged("the length of a block is wrong"));
    }
    // Grows with what is there: a length that is wrong must not take memory.
    let mut packed = Vec::new();
    file.take(u64::from(packed_bytes)).read_to_end(&mut packed).map_err(Trouble::Io)?;
    if packed.len() < packed_bytes as usize {
        return Err(Trouble::Torn);
    }
    if crc32(crc32(0, &head[..13]), &packed) != field(13) {
        return Err(Trouble::Damaged("the checksum is wrong"));
    }
    if field(1) != number {
        return Err(Trouble::Damaged("a block is missing or stands twice"));
    }
    let payload = zstd::bulk::decompress(&packed, bytes as usize)
        .map_err(|_| Trouble::Damaged("a block cannot be unpacked"))?;
    if payload.len() != bytes as usize {
        return Err(Trouble::Damaged("a block has another length than it says"));
    }
    Ok(Frame { kind, payload, bytes: HEAD_BYTES as u64 + u64::from(packed_bytes) })
}

fn fill(file: &mut impl Read, buffer: &mut [u8]) -> Result<(), Trouble> {
    file.read_exact(buffer).map_err(|error| match error.kind() {
        io::ErrorKind::UnexpectedEof => Trouble::Torn,
        _ => Trouble::Io(error),
    })
}
