//! Any bytes are taken as compressed packets without a panic, and alike whole, in pieces, and by the blocking stream;
//! commands that are packed and unpacked are the same. The first three bytes choose the algorithm, where the packets come
//! from, and the pieces.
//!
//! In crates/engine: cargo +nightly fuzz run compressed -- -max_total_time=600 -max_len=2048

#![no_main]

use std::cell::RefCell;
use std::io::Read;

use libfuzzer_sys::fuzz_target;
use mydyno_engine::protocol::compression::{Algorithm, Incoming, Packer, Stream, Unpacker};

/// More than is kept of a packet in pieces.
const LONG: usize = 70_000;

/// Commands, each with a byte of length before it; 255 makes a long one.
fn commands(mut data: &[u8]) -> Vec<u8> {
    let mut stream = Vec::new();
    while let Some((&length, rest)) = data.split_first() {
        let (payload, rest) = rest.split_at(rest.len().min(length.into()));
        let mut payload = payload.to_vec();
        if length == u8::MAX {
            payload.resize(LONG, b'x');
        }
        // The length and number of its packet.
        stream.extend(&(payload.len() as u32).to_le_bytes()[..3]);
        stream.push(0);
        stream.extend(payload);
        data = rest;
    }
    stream
}

/// What the pieces hold, up to the first error, and that error.
fn unpacked<'a>(
    unpacker: &mut Unpacker,
    algorithm: Algorithm,
    pieces: impl Iterator<Item = &'a [u8]>,
) -> (Vec<u8>, Option<String>) {
    let (mut incoming, mut content) = (Incoming::default(), Vec::new());
    for mut bytes in pieces {
        while let Some(packet) = unpacker.next(algorithm, &mut incoming, &mut bytes) {
            match packet {
                Ok(plain) => content.extend_from_slice(plain),
                Err(error) => return (content, Some(error.message)),
            }
        }
        assert!(bytes.is_empty(), "bytes were left behind");
    }
    (content, None)
}

/// Reads at most `step` bytes at once.
struct Slow<'a>(&'a [u8], usize);

impl Read for Slow<'_> {
    fn read(&mut self, space: &mut [u8]) -> std::io::Result<usize> {
        let length = space.len().min(self.1);
        self.0.read(&mut space[..length])
    }
}

thread_local! {
    /// Of all inputs, as one serves all connections of a reactor.
    static SHARED: RefCell<(Packer, Unpacker)> = RefCell::default();
}

fuzz_target!(|data: &[u8]| {
    let [kind, step, change, rest @ ..] = data else { return };
    let flag = |bit: u8| kind & (1 << bit) != 0;
    let algorithm = if flag(0) { Algorithm::Zlib } else { Algorithm::Zstd { level: 1 + kind % 4 } };
    let step = usize::from(*step).max(1) * if flag(1) { 64 } else { 1 };
    SHARED.with_borrow_mut(|(packer, unpacker)| {
        let mut packets = rest.to_vec();
        if flag(2) {
            let plain = commands(rest);
            packets.clear();
            packer.pack(algorithm, &plain, &mut 0, &mut packets);
            let whole = unpacked(unpacker, algorithm, std::iter::once(packets.as_slice()));
            assert!(whole == (plain, None));
            if flag(3) && !packets.is_empty() {
                // Behind the header of the first packet, whose length would be all that is found.
                let at = (7 + usize::from(*change)) % packets.len();
                packets[at] ^= 1 << (kind >> 5);
            }
        }
        let whole = unpacked(unpacker, algorithm, std::iter::once(packets.as_slice()));
        let pieces = unpacked(unpacker, algorithm, packets.chunks(step));
        assert!(whole == pieces);
        let mut stream = Stream::new(Slow(&packets, step), algorithm);
        let mut read = Vec::new();
        let ended = stream.read_to_end(&mut read);
        assert_eq!(ended.is_err(), whole.1.is_some());
        assert!(whole.0.starts_with(&read) && (ended.is_err() || read.len() == whole.0.len()));
    });
});
