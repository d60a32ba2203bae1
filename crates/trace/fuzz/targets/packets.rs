//! Any bytes that a client and a server send each other are captured without a panic, whatever becomes of
//! their packets, and a trace that comes of them is whole.
//!
//! The input is pieces: a byte that says who sends it and what happens to it, its length, its bytes.
//!
//! In crates/trace: cargo +nightly fuzz run packets -- -max_total_time=300

#![no_main]

mod captured;

use libfuzzer_sys::fuzz_target;

/// Bits of a piece's first byte.
const BY_SERVER: u8 = 1;
const IS_LOST: u8 = 2;
const IS_REPEATED: u8 = 4;
const IS_FLAGS: u8 = 8;

const SYN: u8 = 2;
const ACK: u8 = 16;
const RAW_IP: u32 = 101;

fuzz_target!(|bytes: &[u8]| {
    let mut file = Pcap::new();
    for is_server in [false, true] {
        file.send(is_server, if is_server { SYN | ACK } else { SYN }, b"", 0);
    }
    let mut rest = bytes;
    while let [what, length, more @ ..] = rest {
        let (piece, behind) = more.split_at(usize::from(*length).min(more.len()));
        rest = behind;
        let flags = if what & IS_FLAGS == 0 { ACK } else { what >> 4 };
        file.send(what & BY_SERVER != 0, flags, piece, *what);
    }
    captured::check(&file.bytes, false);
});

/// A file of one connection's packets, in IPv4.
struct Pcap {
    bytes: Vec<u8>,
    /// Sequence numbers of the client and the server; the client's wrap around soon.
    next: [u32; 2],
    packets: u32,
}

impl Pcap {
    fn new() -> Self {
        let mut bytes = 0xa1b2_c3d4_u32.to_le_bytes().to_vec();
        bytes.extend_from_slice(&[2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0]);
        bytes.extend_from_slice(&RAW_IP.to_le_bytes());
        Self { bytes, next: [u32::MAX - 40, 5], packets: 0 }
    }

    fn send(&mut self, is_server: bool, flags: u8, payload: &[u8], what: u8) {
        let next = &mut self.next[usize::from(is_server)];
        let packet = packet(is_server, *next, flags, payload);
        *next = next.wrapping_add(payload.len() as u32 + u32::from(flags & SYN != 0));
        let times = u8::from(what & IS_LOST == 0) + u8::from(what & IS_REPEATED != 0);
        for _ in 0..times {
            let length = packet.len() as u32;
            for number in [1_795_316_400, self.packets, length, length] {
                self.bytes.extend_from_slice(&number.to_le_bytes());
            }
            self.bytes.extend_from_slice(&packet);
            self.packets += 1;
        }
    }
}

fn packet(is_server: bool, sequence: u32, flags: u8, payload: &[u8]) -> Vec<u8> {
    let mut ends = [([10, 0, 0, 1], 40_000_u16), ([10, 0, 0, 2], 3306)];
    if is_server {
        ends.reverse();
    }
    let mut ip = vec![0x45, 0];
    ip.extend_from_slice(&(40 + payload.len() as u16).to_be_bytes());
    ip.extend_from_slice(&[0, 0, 0x40, 0, 64, 6, 0, 0]);
    ends.iter().for_each(|(address, _)| ip.extend_from_slice(address));
    ends.iter().for_each(|(_, port)| ip.extend_from_slice(&port.to_be_bytes()));
    ip.extend_from_slice(&sequence.to_be_bytes());
    ip.extend_from_slice(&[0, 0, 0, 0, 0x50, flags, 0, 0, 0, 0, 0, 0]);
    ip.extend_from_slice(payload);
    ip
}
