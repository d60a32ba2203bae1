use std::cell::Cell;

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::protocol::commands;
use crate::protocol::frames::Frames;
use crate::random::Random;

const ALGORITHMS: [Algorithm; 2] = [Algorithm::Zlib, Algorithm::Zstd { level: 3 }];

fn packed(algorithm: Algorithm, commands: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    Packer::default().pack(algorithm, commands, &mut 0, &mut out);
    out
}

/// Length, number and length before compression of each packet.
fn headers(mut packets: &[u8]) -> Vec<(usize, u8, usize)> {
    let mut found = Vec::new();
    while let Some(length) = packet_length(packets) {
        let before = u32::from_le_bytes([packets[4], packets[5], packets[6], 0]) as usize;
        found.push((length - HEADER, packets[3], before));
        packets = &packets[length..];
    }
    assert!(packets.is_empty());
    found
}

/// What pieces of a stream of compressed packets hold.
fn unpacked<'a>(
    algorithm: Algorithm,
    pieces: impl IntoIterator<Item = &'a [u8]>,
) -> Result<Vec<u8>, ServerError> {
    let (mut unpacker, mut incoming) = (Unpacker::default(), Incoming::default());
    let mut found = Vec::new();
    for mut bytes in pieces {
        while let Some(content) = unpacker.next(algorithm, &mut incoming, &mut bytes) {
            found.extend_from_slice(content?);
        }
        assert!(bytes.is_empty(), "bytes were left behind");
    }
    Ok(found)
}

fn query(text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    commands::query(text.as_bytes(), &mut out);
    out
}

/// Bytes that no algorithm makes shorter.
fn noise(length: usize) -> Vec<u8> {
    let mut random = Random::stream(7, &[]);
    (0..length.div_ceil(8)).flat_map(|_| random.bits().to_le_bytes()).take(length).collect()
}

#[test]
fn a_query_is_compressed_as_in_the_documentation_of_mysql() {
    let packets =
        packed(Algorithm::Zlib, &query("select \"012345678901234567890123456789012345\""));
    let documented = b"\x22\0\0\0\x32\0\0\
        \x78\x9c\xd3\x63\x60\x60\x60\x2e\x4e\xcd\x49\x4d\x2e\x51\x50\x32\x30\x34\x32\x36\x31\
        \x35\x33\xb7\xb0\xc4\xcd\x52\x02\x00\x0c\xd1\x0a\x6c";
    assert_eq!(packets, documented);
}

#[test]
fn what_is_short_or_cannot_be_compressed_goes_as_it_is() {
    for algorithm in ALGORITHMS {
        for (length, before) in [(44, 0), (45, 50)] {
            let command = query(&"a".repeat(length));
            let packets = packed(algorithm, &command);
            assert_eq!(headers(&packets)[0].2, before);
            assert_eq!(unpacked(algorithm, [&packets[..]]).unwrap(), command);
        }
        let mut command = Vec::new();
        commands::packet(0, &mut command, |out| out.extend(noise(2000)));
        assert_eq!(headers(&packed(algorithm, &command)), [(2004, 0, 0)]);
    }
}

#[test]
fn several_commands_at_once_are_numbered_from_0_each() {
    let mut commands = query("SELECT 1");
    commands::close_statement(7, &mut commands);
    commands::quit(&mut commands);
    for algorithm in ALGORITHMS {
        let packets = packed(algorithm, &commands);
        assert_eq!(headers(&packets), [(13, 0, 0), (9, 0, 0), (5, 0, 0)]);
        assert_eq!(unpacked(algorithm, [&packets[..]]).unwrap(), commands);
    }
}

#[test]
fn a_command_of_more_than_16_megabytes_goes_in_several_numbered_packets() {
    let mut command = Vec::new();
    commands::packet(0, &mut command, |out| out.extend(noise(MOST + 10)));
    assert_eq!(command.len(), MOST + 10 + 2 * 4, "two packets");
    for algorithm in ALGORITHMS {
        let packets = packed(algorithm, &command);
        let found = headers(&packets);
        assert_eq!(found.iter().map(|header| header.1).collect::<Vec<_>>(), [0, 1]);
        assert_eq!(found[0], (MOST, 0, 0), "noise fills a packet as it is");
        for pieces in [packets.len(), 100_000] {
            assert_eq!(unpacked(algorithm, packets.chunks(pieces)).unwrap(), command);
        }
    }
}

#[test]
fn packets_are_understood_wherever_the_server_has_cut_them() {
    let packet = |number, payload: &[u8]| {
        let mut out = Vec::new();
        commands::packet(number, &mut out, |out| out.extend_from_slice(payload));
        out
    };
    let stream = [packet(9, &[b'x'; 300]), packet(2, b""), packet(3, &[b'y'; 700])].concat();
    for algorithm in ALGORITHMS {
        for cut in [1, 3, 150, 304, 5000] {
            let mut packets = Vec::new();
            let mut packer = Packer::default();
            for stretch in stream.chunks(cut) {
                packer.packet(algorithm, 77, stretch, &mut packets);
            }
            let (mut unpacker, mut incoming) = (Unpacker::default(), Incoming::default());
            let mut frames = Frames::default();
            frames.is_unnumbered = true;
            let (mut found, mut expected) = (Vec::new(), 1);
            for mut bytes in packets.chunks(64) {
                while let Some(content) = unpacker.next(algorithm, &mut incoming, &mut bytes) {
                    let mut content = content.unwrap();
                    while let Some(packet) = frames.next(&mut content, &mut expected) {
                        found.push(packet.unwrap().head.to_vec());
                    }
                }
            }
            assert_eq!(found, [vec![b'x'; 300], vec![], vec![b'y'; 700]], "cut after {cut}");
        }
    }
}

#[test]
fn a_packet_that_does_not_hold_what_it_announces_is_an_error() {
    let command = query(&"a".repeat(5000));
    for algorithm in ALGORITHMS {
        let good = packed(algorithm, &command);
        let announce = |before: usize| {
            let mut packet = good.clone();
            packet[4..7].copy_from_slice(&(before as u32).to_le_bytes()[..3]);
            packet
        };
        let mut broken = good.clone();
        broken[HEADER] ^= 0xff;
        let other = ALGORITHMS.into_iter().find(|&other| other != algorithm).unwrap();
        for packet in [
            announce(5004),
            announce(5006),
            announce(1),
            announce(MOST),
            packed(other, &command),
            broken,
        ] {
            let error = unpacked(algorithm, [&packet[..]]).unwrap_err();
            assert_eq!(error.code, code::MALFORMED_PACKET);
        }
        assert_eq!(unpacked(algorithm, [&announce(5005)[..]]).unwrap(), command);
    }
}

#[test]
fn a_large_packet_that_came_in_pieces_leaves_no_large_buffer_behind() {
    let (mut unpacker, mut incoming) = (Unpacker::default(), Incoming::default());
    let mut command = Vec::new();
    commands::packet(0, &mut command, |out| out.extend(noise(5_000_000)));
    let packets =
        [packed(Algorithm::Zlib, &command), packed(Algorithm::Zlib, &query("x"))].concat();
    for mut bytes in packets.chunks(100_000) {
        while unpacker.next(Algorithm::Zlib, &mut incoming, &mut bytes).is_some() {}
    }
    assert!(incoming.held.capacity() <= KEPT, "{}", incoming.held.capacity());
}

proptest! {
    #[test]
    fn commands_come_out_as_they_went_in_wherever_the_stream_is_split(
        payloads in vec(vec(0..4u8, 0..600), 1..8),
        cuts in vec(any::<prop::sample::Index>(), 0..12),
        is_zstd: bool,
    ) {
        let algorithm = ALGORITHMS[usize::from(is_zstd)];
        let mut commands = Vec::new();
        for payload in &payloads {
            commands::packet(0, &mut commands, |out| out.extend_from_slice(payload));
        }
        let stream = packed(algorithm, &commands);
        let mut edges: Vec<usize> = cuts.iter().map(|cut| cut.index(stream.len())).collect();
        edges.extend([0, stream.len()]);
        edges.sort_unstable();
        let pieces = edges.windows(2).map(|edge| &stream[edge[0]..edge[1]]);
        prop_assert_eq!(unpacked(algorithm, pieces).unwrap(), commands);
    }

    #[test]
    fn no_bytes_from_a_server_make_it_panic(
        pieces in vec(vec(any::<u8>(), 0..40), 1..6), is_zstd: bool,
    ) {
        let algorithm = ALGORITHMS[usize::from(is_zstd)];
        let _ = unpacked(algorithm, pieces.iter().map(Vec::as_slice));
    }
}

/// A socket that takes and gives 11 bytes at a time, with a timeout before each.
#[derive(Default)]
struct Slow {
    bytes: Vec<u8>,
    rests: Cell<bool>,
}

impl Slow {
    fn step(&self) -> io::Result<usize> {
        self.rests.set(!self.rests.get());
        if self.rests.get() { Err(io::ErrorKind::WouldBlock.into()) } else { Ok(11) }
    }
}

impl Read for Slow {
    fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
        let count = self.step()?.min(space.len()).min(self.bytes.len());
        space[..count].copy_from_slice(&self.bytes[..count]);
        self.bytes.drain(..count);
        Ok(count)
    }
}

impl Write for Slow {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.step()?.min(bytes.len());
        self.bytes.extend_from_slice(&bytes[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_blocking_stream_goes_on_after_a_timeout() {
    for algorithm in ALGORITHMS {
        let mut stream = Stream::new(Slow::default(), algorithm);
        let commands = [query(&"ab".repeat(2000)), query("SELECT 1")];
        while stream.write(&commands.concat()).is_err() {}
        assert_eq!(stream.inner.bytes, packed(algorithm, &commands.concat()));
        let mut found = Vec::new();
        let mut space = [0; 100];
        loop {
            match stream.read(&mut space) {
                Ok(0) => break,
                Ok(count) => found.extend_from_slice(&space[..count]),
                Err(error) => assert_eq!(error.kind(), io::ErrorKind::WouldBlock),
            }
        }
        assert_eq!(found, commands.concat());
        stream.inner.bytes = b"\x01\0\0\0\x05\0\0x".to_vec();
        let error = loop {
            match stream.read(&mut space) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                other => break other.unwrap_err(),
            }
        };
        assert_eq!(cause(&error).unwrap().code, code::MALFORMED_PACKET);
    }
}

#[test]
fn what_goes_on_with_a_command_continues_its_numbers_and_those_of_the_answer() {
    for algorithm in ALGORITHMS {
        let mut stream = Stream::new(Pair::default(), algorithm);
        stream.write_all(&query("LOAD DATA LOCAL")).unwrap();
        // The server asks for the file in its packet 1.
        Packer::default().packet(algorithm, 1, b"\x05\0\0\x01\xfbfile", &mut stream.inner.given);
        stream.read_exact(&mut [0; 9]).unwrap();
        let mut piece = Vec::new();
        commands::packet(2, &mut piece, |out| out.extend(noise(commands::MOST_PAYLOAD)));
        stream.write_all(&piece).unwrap();
        for number in [255, 0] {
            let mut piece = Vec::new();
            commands::packet(number, &mut piece, |_| {});
            stream.write_all(&piece).unwrap();
        }
        Packer::default().packet(algorithm, 6, b"\x01\0\0\x01\0", &mut stream.inner.given);
        stream.read_exact(&mut [0; 5]).unwrap();
        stream.write_all(&query("SELECT 1")).unwrap();
        let numbers: Vec<u8> =
            headers(&stream.inner.taken).into_iter().map(|header| header.1).collect();
        assert_eq!(numbers, [0, 2, 3, 4, 5, 0], "a piece of 16 MB needs two");
    }
}

/// What was written, and what is to be read.
#[derive(Default)]
struct Pair {
    taken: Vec<u8>,
    given: Vec<u8>,
}

impl Read for Pair {
    fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
        let count = space.len().min(self.given.len());
        space[..count].copy_from_slice(&self.given[..count]);
        self.given.drain(..count);
        Ok(count)
    }
}

impl Write for Pair {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.taken.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
