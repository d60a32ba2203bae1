//! Any bytes are taken as the answer to a statement without a panic, and alike whole and in pieces: the packets, how
//! the answer ends, and the columns that are read. The first four bytes choose the kind of answer and the pieces.
//!
//! In crates/engine: cargo +nightly fuzz run answer -- -max_total_time=600 -max_len=2048

#![no_main]

use libfuzzer_sys::fuzz_target;
use mydyno_engine::job::program::ReadRow;
use mydyno_engine::protocol::capture::{Capture, MOST_READ, Read};
use mydyno_engine::protocol::frames::{Frames, KEPT};
use mydyno_engine::protocol::response::{Part, Response};

/// Longer than what is kept of a payload in pieces.
const LONG: usize = KEPT + 1000;

/// Packets with their numbers: a byte of length before each payload; 255 makes a long one.
fn numbered(mut data: &[u8]) -> Vec<u8> {
    let mut stream = Vec::new();
    let mut number = 1u8;
    while let Some((&length, rest)) = data.split_first() {
        let (payload, rest) = rest.split_at(rest.len().min(length.into()));
        let mut payload = payload.to_vec();
        if length == u8::MAX {
            payload.resize(LONG, b'x');
        }
        stream.extend(&(payload.len() as u32).to_le_bytes()[..3]);
        stream.push(number);
        stream.extend(payload);
        number = number.wrapping_add(1);
        data = rest;
    }
    stream
}

/// All that was understood, as text.
fn take<'a>(
    pieces: impl Iterator<Item = &'a [u8]>,
    mut response: Response,
    mut capture: Capture,
) -> String {
    let (mut frames, mut expected) = (Frames::default(), 1);
    let mut seen = String::new();
    for mut bytes in pieces {
        while let Some(packet) = frames.next(&mut bytes, &mut expected) {
            let packet = match packet {
                Ok(packet) => packet,
                Err(disorder) => return format!("{seen}{disorder:?}"),
            };
            let part = response.part(packet);
            match part {
                Part::Definition => capture.definition(packet),
                Part::Row => capture.row(packet),
                Part::Other => {}
            }
            seen += &format!("{} {} {part:?}\n", packet.length, packet.sequence);
            if let Some(outcome) = response.take(packet) {
                let mut space = [None; MOST_READ];
                return format!("{seen}{outcome:?} {:?}", capture.finish(&mut space));
            }
        }
    }
    seen
}

fuzz_target!(|data: &[u8]| {
    let [kind, columns, step, rest @ ..] = data else { return };
    let flag = |bit: u8| kind & (1 << bit) != 0;
    let stream = if flag(0) { rest.to_vec() } else { numbered(rest) };
    let no_eof = flag(1);
    let response = || if flag(2) { Response::to_prepare(no_eof) } else { Response::to_query(no_eof) };
    let row = if flag(3) { ReadRow::First } else { ReadRow::Middle };
    let read = Read { columns: usize::from(*columns) % (MOST_READ + 1), row };
    let capture = || {
        let mut capture = Capture::new(read);
        capture.begin(read, flag(4));
        capture
    };
    let whole = take(std::iter::once(stream.as_slice()), response(), capture());
    let step = if flag(5) { usize::from(*step) * 64 } else { (*step).into() };
    let pieces = take(stream.chunks(step.max(1)), response(), capture());
    assert_eq!(whole, pieces);
});
