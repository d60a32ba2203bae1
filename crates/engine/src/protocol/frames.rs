//! Cuts the byte stream from the server into packets, wherever the reads happen to split it.
//!
//! The reader keeps almost nothing for a connection: payloads that lie whole in the read buffer are
//! handed out in place, and of a payload that is split only the beginning is copied. That is enough,
//! as a result set is understood from packet headers and first bytes alone, and it is why thousands
//! of connections can share one read buffer.

use super::{ServerError, code};

/// Bytes of a split payload that are kept; the longest thing read whole is an RSA key (about 800).
pub const KEPT: usize = 4096;
const HEADER: usize = 4;
/// The first byte of an error.
const ERROR: u8 = 0xff;
/// Bytes that an error shows of a packet.
const SHOWN: usize = 16;
/// A payload of exactly this length is continued in the next packet.
const FULL: u32 = 0xff_ffff;

/// A packet whose number does not follow that of the packet before: an answer to another statement,
/// or no MySQL server at all. What follows it cannot be understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfOrder {
    pub found: u8,
    pub expected: u8,
    /// How its payload begins, and how many of these bytes there are.
    head: [u8; SHOWN],
    shown: u8,
}

impl From<OutOfOrder> for ServerError {
    fn from(OutOfOrder { found, expected, head, shown }: OutOfOrder) -> Self {
        let shown = hexadecimal(&head[..shown.into()]);
        let message =
            format!("packets out of order: number {found} in place of {expected}: {shown}");
        Self::new(code::OUT_OF_ORDER, message)
    }
}

/// Compares a packet's number with the one that is due, and counts on.
///
/// # Errors
/// The numbers differ. A server that ends a connection by itself sends its error with the number 0.
#[inline]
pub fn in_order(found: u8, payload: &[u8], expected: &mut u8) -> Result<(), OutOfOrder> {
    let due = *expected;
    *expected = found.wrapping_add(1);
    let unasked = (found == 0 || due == 0) && payload.first() == Some(&ERROR);
    if found == due || unasked { Ok(()) } else { Err(out_of_order(found, due, payload)) }
}

#[cold]
fn out_of_order(found: u8, expected: u8, payload: &[u8]) -> OutOfOrder {
    let shown = payload.len().min(SHOWN);
    let mut head = [0; SHOWN];
    head[..shown].copy_from_slice(&payload[..shown]);
    OutOfOrder { found, expected, head, shown: shown as u8 }
}

/// One packet: its payload, or the first 4096 bytes of one that was split over several reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet<'a> {
    /// Length of the payload in bytes.
    pub length: u32,
    /// Sequence number that the server gave it.
    pub sequence: u8,
    /// The payload, complete when `head.len() == length`.
    pub head: &'a [u8],
}

impl Packet<'_> {
    /// Reads it as an error of the server.
    pub fn error(self) -> ServerError {
        ServerError::from_packet(self.head)
            .unwrap_or_else(|| self.malformed("the server sent a packet out of turn"))
    }

    /// The error of a packet that the protocol does not allow here.
    pub fn malformed(self, what: &str) -> ServerError {
        let Self { length, sequence, head } = self;
        let shown = hexadecimal(&head[..head.len().min(SHOWN)]);
        let message = format!("{what}: packet number {sequence} of {length} bytes: {shown}");
        ServerError::new(code::MALFORMED_PACKET, message)
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    let digits: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    digits.join(" ")
}

/// The state of one connection's incoming stream.
#[derive(Debug, Default)]
pub struct Frames {
    header: [u8; HEADER],
    header_filled: u8,
    /// The packet under way continues one of 16 MiB - 1 and is not a packet of its own.
    continues: bool,
    /// Payload bytes of the packet under way that have not arrived.
    missing: u32,
    split: Vec<u8>,
    /// Bytes of a split payload that are kept where [`KEPT`] are too few.
    longest: usize,
    /// The stream was compressed: the numbers of its packets mean nothing, as the server sets them to those
    /// of compressed packets from time to time.
    pub is_unnumbered: bool,
}

impl Frames {
    /// Keeps so many bytes of a split payload, where these are more than [`KEPT`].
    pub fn keeping(longest: usize) -> Self {
        Self { longest, ..Self::default() }
    }

    /// The next complete packet of `bytes`, which is moved past what was used; `None` when the
    /// rest of the bytes has been taken in and more are needed. `expected` is the number that the
    /// packet must have, and then that of the one after it.
    #[inline]
    pub fn next<'a, 'b: 'a>(
        &'a mut self,
        bytes: &mut &'b [u8],
        expected: &mut u8,
    ) -> Option<Result<Packet<'a>, OutOfOrder>> {
        // The usual case: nothing is left over and a whole packet lies in the buffer.
        if self.header_filled == 0
            && !self.continues
            && let Some((header, rest)) = bytes.split_first_chunk::<HEADER>()
        {
            let length = payload_length(header);
            if length < FULL && rest.len() >= length as usize {
                let (head, rest) = rest.split_at(length as usize);
                *bytes = rest;
                return match in_order(header[3], head, expected) {
                    Err(disorder) if !self.is_unnumbered => Some(Err(disorder)),
                    _ => Some(Ok(Packet { length, sequence: header[3], head })),
                };
            }
        }
        self.next_split(bytes, expected)
    }

    /// True between two packets: the stream may end here.
    pub fn at_boundary(&self) -> bool {
        self.header_filled == 0 && !self.continues
    }

    #[cold]
    fn next_split(
        &mut self,
        bytes: &mut &[u8],
        expected: &mut u8,
    ) -> Option<Result<Packet<'_>, OutOfOrder>> {
        while !bytes.is_empty() {
            if usize::from(self.header_filled) < HEADER {
                self.fill_header(bytes);
                if usize::from(self.header_filled) < HEADER {
                    return None;
                }
            }
            self.fill_payload(bytes);
            if self.missing > 0 {
                return None;
            }
            let length = payload_length(&self.header);
            self.header_filled = 0;
            let sequence = self.header[3];
            let continued = std::mem::replace(&mut self.continues, length == FULL);
            match in_order(sequence, &self.split, expected) {
                Err(disorder) if !self.is_unnumbered => return Some(Err(disorder)),
                _ if continued => {}
                _ => return Some(Ok(Packet { length, sequence, head: &self.split })),
            }
        }
        None
    }

    fn fill_header(&mut self, bytes: &mut &[u8]) {
        let filled = usize::from(self.header_filled);
        let take = bytes.len().min(HEADER - filled);
        self.header[filled..filled + take].copy_from_slice(&bytes[..take]);
        self.header_filled += take as u8;
        *bytes = &bytes[take..];
        self.missing = payload_length(&self.header);
        self.split.clear();
    }

    fn fill_payload(&mut self, bytes: &mut &[u8]) {
        let take = bytes.len().min(self.missing as usize);
        let keep = take.min(KEPT.max(self.longest) - self.split.len());
        self.split.extend_from_slice(&bytes[..keep]);
        self.missing -= take as u32;
        *bytes = &bytes[take..];
    }
}

fn payload_length(header: &[u8; HEADER]) -> u32 {
    u32::from_le_bytes([header[0], header[1], header[2], 0])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    fn packet(sequence: u8, payload: &[u8]) -> Vec<u8> {
        let length = (payload.len() as u32).to_le_bytes();
        [&[length[0], length[1], length[2], sequence], payload].concat()
    }

    /// (length, first kept bytes) of every packet, read from pieces of the stream.
    fn read<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<(u32, Vec<u8>)> {
        let mut frames = Frames::default();
        let mut found = Vec::new();
        let mut expected = 0;
        for piece in pieces {
            let mut bytes = piece;
            while let Some(packet) = frames.next(&mut bytes, &mut expected) {
                let packet = packet.unwrap();
                let kept = packet.head.len().min(KEPT);
                found.push((packet.length, packet.head[..kept].to_vec()));
            }
            assert!(bytes.is_empty(), "bytes were left behind");
        }
        assert!(frames.at_boundary());
        found
    }

    proptest! {
        #[test]
        fn packets_are_the_same_wherever_the_stream_is_split(
            payloads in vec(vec(any::<u8>(), 0..600), 1..8),
            cuts in vec(any::<prop::sample::Index>(), 0..12),
        ) {
            let numbered = payloads.iter().enumerate();
            let stream: Vec<u8> =
                numbered.flat_map(|(number, payload)| packet(number as u8, payload)).collect();
            let mut edges: Vec<usize> = cuts.iter().map(|cut| cut.index(stream.len())).collect();
            edges.extend([0, stream.len()]);
            edges.sort_unstable();
            let pieces = edges.windows(2).map(|edge| &stream[edge[0]..edge[1]]);
            let expected: Vec<_> =
                payloads.iter().map(|payload| (payload.len() as u32, payload.clone())).collect();
            prop_assert_eq!(read(pieces), expected);
        }
    }

    #[test]
    fn a_stream_cut_into_single_bytes_gives_the_same_packets() {
        let stream = [packet(0, b"hello"), packet(1, b""), packet(2, b"world!")].concat();
        let expected = vec![(5, b"hello".to_vec()), (0, Vec::new()), (6, b"world!".to_vec())];
        assert_eq!(read(stream.chunks(1)), expected);
        assert_eq!(read([stream.as_slice()]), expected);
    }

    #[test]
    fn a_payload_of_sixteen_megabytes_and_its_continuation_are_one_packet() {
        let full = vec![b'x'; FULL as usize];
        let stream = [packet(0, &full), packet(1, b"tail"), packet(2, b"next")].concat();
        let lengths =
            |found: Vec<(u32, Vec<u8>)>| found.iter().map(|packet| packet.0).collect::<Vec<_>>();
        assert_eq!(lengths(read([stream.as_slice()])), [FULL, 4]);
        assert_eq!(lengths(read(stream.chunks(65_536))), [FULL, 4]);
    }

    #[test]
    fn a_packet_with_another_number_is_out_of_order_wherever_the_stream_is_split() {
        let stream = [packet(1, b"first"), packet(3, b"third")].concat();
        for cut in 0..stream.len() {
            let (mut frames, mut expected, mut found) = (Frames::default(), 1, Vec::new());
            for mut piece in [&stream[..cut], &stream[cut..]] {
                while let Some(packet) = frames.next(&mut piece, &mut expected) {
                    found.push(packet.map(|packet| packet.length));
                }
            }
            assert_eq!(found, [Ok(5), Err(out_of_order(3, 2, b"third"))], "cut at {cut}");
        }
    }

    #[test]
    fn numbers_go_on_from_zero_after_255_and_count_the_parts_of_a_long_payload() {
        let full = vec![b'x'; FULL as usize];
        let stream = [packet(255, &full), packet(0, b"tail"), packet(1, b"next")].concat();
        let (mut frames, mut expected, mut bytes) = (Frames::default(), 255, stream.as_slice());
        while let Some(packet) = frames.next(&mut bytes, &mut expected) {
            packet.unwrap();
        }
        assert_eq!(expected, 2);
    }

    #[test]
    fn an_error_that_nothing_asked_for_may_have_the_number_zero() {
        let stream = packet(0, b"\xff\x1d\x04gone");
        let (mut frames, mut expected) = (Frames::default(), 1);
        assert!(frames.next(&mut stream.as_slice(), &mut expected).unwrap().is_ok());
        let (mut frames, mut expected) = (Frames::default(), 3);
        let stream = packet(2, b"\xff\x1d\x04gone");
        assert!(frames.next(&mut stream.as_slice(), &mut expected).unwrap().is_err());
    }

    #[test]
    fn only_the_beginning_of_a_split_payload_is_kept() {
        let stream = packet(0, &[7u8; 20_000]);
        let found = read(stream.chunks(1_000));
        assert_eq!(found, vec![(20_000, vec![7u8; KEPT])]);
    }
}
