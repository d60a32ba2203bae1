//! Frames: the pieces that one byte stream is cut into, both ways.
//!
//! A frame is a header of nine bytes (payload length as u32, kind as u8, number as u32, integers
//! little-endian) and its payload. The number is that of a request, a process or a stream.

use std::collections::VecDeque;
use std::fmt;

/// Bytes before the payload.
pub const HEADER: usize = 9;

/// The largest payload; a longer one is a sign that the two sides have lost each other.
pub const LONGEST: usize = 1 << 20;

/// Payload bytes that content and data are cut to, so that no frame holds up the others for long.
pub const PIECE: usize = 32 << 10;

/// What the agent writes before its first frame, so that whatever a console has said is skipped.
pub const GREETING: &[u8] = b"\nmydyno-agent 1\n";

/// What a frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// Agent to mydyno, once, first: what this machine is (JSON).
    Hello = 1,
    /// Mydyno to agent: do something (JSON).
    Request = 2,
    /// Agent to mydyno: what became of the request of that number (JSON).
    Reply = 3,
    /// The bytes that belong to a request or a reply.
    Content = 4,
    /// Agent to mydyno: the process of that number has ended (JSON).
    Exit = 5,
    /// Bytes of a stream.
    Data = 6,
    /// Nothing follows on this stream.
    End = 7,
    /// The receiver has used up so many bytes of the stream and takes as many more (u32).
    Credit = 8,
    /// The receiver takes no more of this stream.
    Discard = 9,
}

impl Kind {
    fn of(byte: u8) -> Option<Self> {
        Some(match byte {
            1 => Self::Hello,
            2 => Self::Request,
            3 => Self::Reply,
            4 => Self::Content,
            5 => Self::Exit,
            6 => Self::Data,
            7 => Self::End,
            8 => Self::Credit,
            9 => Self::Discard,
            _ => return None,
        })
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    pub kind: Kind,
    pub number: u32,
    pub payload: Vec<u8>,
}

/// The other side does not keep to the protocol: nothing that follows can be trusted.
#[derive(Debug, PartialEq, Eq)]
pub struct Malformed(pub String);

impl fmt::Display for Malformed {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "malformed: {}", self.0)
    }
}

/// Cuts what was read into frames, however it was split on the way.
#[derive(Default)]
pub struct Decoder {
    buffer: Vec<u8>,
    used: usize,
}

impl Decoder {
    pub fn feed(&mut self, bytes: &[u8]) {
        if self.used > 0 && self.used == self.buffer.len() {
            self.buffer.clear();
            self.used = 0;
        } else if self.used > LONGEST {
            self.buffer.drain(..self.used);
            self.used = 0;
        }
        self.buffer.extend_from_slice(bytes);
    }

    /// The next whole frame, None when more bytes are needed.
    pub fn next_frame(&mut self) -> Result<Option<Frame>, Malformed> {
        let rest = &self.buffer[self.used..];
        let Some((header, rest)) = rest.split_at_checked(HEADER) else { return Ok(None) };
        let length = u32::from_le_bytes([header[0], header[1], header[2], header[3]]) as usize;
        let number = u32::from_le_bytes([header[5], header[6], header[7], header[8]]);
        if length > LONGEST {
            return Err(Malformed(format!("a payload of {length} bytes")));
        }
        let kind =
            Kind::of(header[4]).ok_or_else(|| Malformed(format!("frame kind {}", header[4])))?;
        let Some(payload) = rest.get(..length) else { return Ok(None) };
        let frame = Frame { kind, number, payload: payload.to_vec() };
        self.used += HEADER + length;
        Ok(Some(frame))
    }
}

/// What is to be written, in order.
#[derive(Default)]
pub struct Outgoing(VecDeque<u8>);

impl Outgoing {
    pub fn greet(&mut self) {
        self.0.extend(GREETING);
    }

    pub fn push(&mut self, kind: Kind, number: u32, payload: &[u8]) {
        debug_assert!(payload.len() <= LONGEST);
        self.0.extend((payload.len() as u32).to_le_bytes());
        self.0.push_back(kind as u8);
        self.0.extend(number.to_le_bytes());
        self.0.extend(payload);
    }

    /// Adds `bytes` of any length as frames of [`PIECE`] at most.
    pub fn push_content(&mut self, number: u32, bytes: &[u8]) {
        for piece in bytes.chunks(PIECE) {
            self.push(Kind::Content, number, piece);
        }
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The bytes that can be written at once.
    pub fn front(&self) -> &[u8] {
        self.0.as_slices().0
    }

    pub fn written(&mut self, count: usize) {
        self.0.drain(..count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoded(frames: &[Frame]) -> Vec<u8> {
        let mut out = Outgoing::default();
        for frame in frames {
            out.push(frame.kind, frame.number, &frame.payload);
        }
        out.0.into()
    }

    fn some_frames() -> Vec<Frame> {
        vec![
            Frame { kind: Kind::Request, number: 1, payload: b"{}".to_vec() },
            Frame { kind: Kind::End, number: u32::MAX, payload: Vec::new() },
            Frame { kind: Kind::Data, number: 7, payload: vec![0xff; PIECE] },
        ]
    }

    #[test]
    fn frames_come_out_as_they_went_in_however_the_bytes_are_split() {
        let bytes = encoded(&some_frames());
        for size in [1, 2, 8, 9, 10, 1000, bytes.len()] {
            let (mut decoder, mut seen) = (Decoder::default(), Vec::new());
            for piece in bytes.chunks(size) {
                decoder.feed(piece);
                while let Some(frame) = decoder.next_frame().unwrap() {
                    seen.push(frame);
                }
            }
            assert_eq!(seen, some_frames(), "in pieces of {size}");
        }
    }

    #[test]
    fn an_unknown_kind_is_malformed_before_its_payload_has_come() {
        let mut decoder = Decoder::default();
        decoder.feed(&[1, 0, 0, 0, 99, 0, 0, 0, 0]);
        assert_eq!(decoder.next_frame(), Err(Malformed("frame kind 99".into())));
    }

    #[test]
    fn a_length_out_of_bounds_is_malformed_and_nothing_is_kept_for_it() {
        let mut decoder = Decoder::default();
        decoder.feed(&[0xff, 0xff, 0xff, 0xff, 6, 0, 0, 0, 0]);
        assert!(decoder.next_frame().is_err());
    }

    #[test]
    fn content_is_cut_into_pieces_that_add_up() {
        let mut out = Outgoing::default();
        out.push_content(3, &vec![1; PIECE + 1]);
        let mut decoder = Decoder::default();
        decoder.feed(&Vec::from(out.0));
        let lengths: Vec<usize> = std::iter::from_fn(|| decoder.next_frame().unwrap())
            .map(|frame| frame.payload.len())
            .collect();
        assert_eq!(lengths, [PIECE, 1]);
    }
}
