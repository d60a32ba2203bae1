//! Packets to traces: a conversation made by hand, in each kind of file, link and disorder.

use std::fs;
use std::path::PathBuf;

use mydyno_digest::stop::Stop;
use mydyno_trace::capture::{Options, Refused, capture};
use mydyno_trace::{Footer, Record, Source, Statement, Trace};

const CLIENT: [u8; 4] = [10, 0, 0, 1];
const SERVER: [u8; 4] = [10, 0, 0, 2];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Client,
    Server,
}
use Side::{Client, Server};

/// A packet of MySQL's protocol.
fn packet(sequence: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = (payload.len() as u32).to_le_bytes()[..3].to_vec();
    bytes.push(sequence);
    bytes.extend_from_slice(payload);
    bytes
}

fn ok(sequence: u8, affected: u8) -> Vec<u8> {
    packet(sequence, &[0, affected, 0, 2, 0, 0, 0])
}

fn login(capabilities: u32) -> Vec<u8> {
    let mut payload = capabilities.to_le_bytes().to_vec();
    payload.extend_from_slice(&[0; 28]);
    payload.extend_from_slice(b"app\0\x04abcdshop\0");
    packet(1, &payload)
}

const PLAIN: u32 = 1 << 3 | 1 << 9 | 1 << 15;

fn greeting() -> Vec<u8> {
    packet(0, b"\x0a8.0.36\0rest of a greeting")
}

/// One column and so many rows, ended by EOF as older servers do.
fn rows(rows: &[&[u8]]) -> Vec<u8> {
    let mut bytes =
        [packet(1, &[1]), packet(2, b"\x03defcolumn"), packet(3, &[0xfe, 0, 0, 2, 0])].concat();
    for (place, row) in rows.iter().enumerate() {
        bytes.extend_from_slice(&packet(4 + place as u8, row));
    }
    bytes.extend_from_slice(&packet(4 + rows.len() as u8, &[0xfe, 0, 0, 2, 0]));
    bytes
}

fn conversation() -> Vec<(Side, Vec<u8>)> {
    let prepare = [
        packet(1, &[0, 7, 0, 0, 0, 1, 0, 2, 0, 0, 0, 0]),
        packet(2, b"\x03defone"),
        packet(3, b"\x03deftwo"),
        packet(4, &[0xfe, 0, 0, 2, 0]),
        packet(5, b"\x03defcolumn"),
        packet(6, &[0xfe, 0, 0, 2, 0]),
    ];
    let mut execute = vec![0x17, 7, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0x08, 0, 0xfd, 0];
    execute.extend_from_slice(&(-5_i64).to_le_bytes());
    execute.extend_from_slice(b"\x04it's");
    vec![
        (Server, greeting()),
        (Client, login(PLAIN)),
        (Server, ok(2, 0)),
        (Client, packet(0, b"\x03select a from t where b = 'x'")),
        (Server, rows(&[b"\x01a", b"\x01b"])),
        (Client, packet(0, b"\x03update t set a = 1;")),
        (Server, ok(1, 3)),
        (Client, packet(0, b"\x02other")),
        (Server, ok(1, 0)),
        (Client, packet(0, b"\x03select nope")),
        (Server, packet(1, b"\xff\x1e\x04#42S22Unknown column")),
        (Client, packet(0, b"\x16select c from t where d = ? and e = ? and f = '?'")),
        (Server, prepare.concat()),
        (Client, packet(0, &execute)),
        (Server, rows(&[b"\0\0\x01z"])),
        (Client, packet(0, b"\x01")),
    ]
}

/// A TCP segment in an IPv4 or IPv6 packet.
fn segment(from: Side, sequence: u32, flags: u8, payload: &[u8], is_new: bool) -> Vec<u8> {
    let (here, there, ports) = match from {
        Client => (CLIENT, SERVER, [40_000_u16, 3307]),
        Server => (SERVER, CLIENT, [3307, 40_000]),
    };
    let mut tcp = Vec::new();
    ports.iter().for_each(|port| tcp.extend_from_slice(&port.to_be_bytes()));
    tcp.extend_from_slice(&sequence.to_be_bytes());
    tcp.extend_from_slice(&[0, 0, 0, 0, 0x50, flags, 0, 0, 0, 0, 0, 0]);
    tcp.extend_from_slice(payload);
    let length = tcp.len() as u16;
    if is_new {
        let mut ip = vec![0x60, 0, 0, 0];
        ip.extend_from_slice(&length.to_be_bytes());
        ip.extend_from_slice(&[6, 64]);
        for address in [here, there] {
            ip.extend_from_slice(&[0; 12]);
            ip.extend_from_slice(&address);
        }
        return [ip, tcp].concat();
    }
    let mut ip = vec![0x45, 0];
    ip.extend_from_slice(&(20 + length).to_be_bytes());
    ip.extend_from_slice(&[0, 0, 0x40, 0, 64, 6, 0, 0]);
    ip.extend_from_slice(&here);
    ip.extend_from_slice(&there);
    [ip, tcp].concat()
}

/// The conversation as IP packets, a millisecond apart, behind the SYN of both.
fn segments(parts: &[(Side, Vec<u8>)], most: usize, is_new: bool) -> Vec<Vec<u8>> {
    // Numbers wrap around in the middle.
    let mut next = [u32::MAX - 40, 5];
    let mut all = Vec::new();
    let mut push = |all: &mut Vec<Vec<u8>>, side: Side, flags: u8, bytes: &[u8]| {
        let at = &mut next[usize::from(side == Server)];
        all.push(segment(side, *at, flags, bytes, is_new));
        *at = at.wrapping_add(bytes.len() as u32 + u32::from(flags & 2 != 0));
    };
    push(&mut all, Client, 2, b"");
    push(&mut all, Server, 18, b"");
    for (side, bytes) in parts {
        bytes.chunks(most).for_each(|chunk| push(&mut all, *side, 16, chunk));
    }
    push(&mut all, Client, 17, b"");
    all
}

fn pcap(link: u32, packets: &[Vec<u8>]) -> Vec<u8> {
    let mut file = vec![0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0];
    file.extend_from_slice(&link.to_le_bytes());
    for (place, packet) in packets.iter().enumerate() {
        let length = packet.len() as u32;
        for number in [1_795_316_400, place as u32 * 1000, length, length] {
            file.extend_from_slice(&number.to_le_bytes());
        }
        file.extend_from_slice(packet);
    }
    file
}

/// Big-endian, with nanoseconds.
fn pcapng(link: u16, packets: &[Vec<u8>]) -> Vec<u8> {
    let block = |kind: u32, body: &[u8]| {
        let padded = body.len().next_multiple_of(4);
        let length = (padded as u32 + 12).to_be_bytes();
        let mut block = [&kind.to_be_bytes()[..], &length, body].concat();
        block.resize(8 + padded, 0);
        block.extend_from_slice(&length);
        block
    };
    let mut file = block(
        0x0a0d_0d0a,
        &[0x1a, 0x2b, 0x3c, 0x4d, 0, 1, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255],
    );
    let mut interface = link.to_be_bytes().to_vec();
    interface.extend_from_slice(&[0, 0, 0, 4, 0, 0, 0, 9, 0, 1, 9, 0, 0, 0, 0, 0, 0, 0]);
    file.extend_from_slice(&block(1, &interface));
    for (place, packet) in packets.iter().enumerate() {
        let time = 1_795_316_400_000_000_000_u64 + place as u64 * 1_000_000;
        let length = (packet.len() as u32).to_be_bytes();
        let head =
            [&[0; 4][..], &((time >> 32) as u32).to_be_bytes(), &(time as u32).to_be_bytes()];
        let body = [&head.concat()[..], &length, &length, packet].concat();
        file.extend_from_slice(&block(6, &body));
    }
    file
}

fn ethernet(ip: &[u8]) -> Vec<u8> {
    let kind: [u8; 2] = if ip[0] >> 4 == 6 { [0x86, 0xdd] } else { [8, 0] };
    // In a VLAN, and padded.
    [&[0; 12][..], &[0x81, 0, 0, 5], &kind, ip, &[0; 7]].concat()
}

fn cooked(ip: &[u8]) -> Vec<u8> {
    [&[0; 14][..], &[8, 0], ip].concat()
}

fn loopback(ip: &[u8]) -> Vec<u8> {
    [&[2, 0, 0, 0][..], ip].concat()
}

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path =
            std::env::temp_dir().join(format!("mydyno-packets-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn capture(&self, file: &[u8]) -> Result<Footer, Refused> {
        let path = self.0.join("packets");
        fs::write(&path, file).unwrap();
        let files = [path.display().to_string()];
        let outcome = capture(
            &files,
            &self.0.join("trace"),
            &Options::default(),
            &Stop::new().unwrap(),
            |_| (),
        );
        outcome.map(|(header, footer)| {
            assert_eq!(header.source, Source::Packets);
            footer
        })
    }

    fn statements(&self) -> Vec<Statement> {
        let trace = Trace::open(self.0.join("trace")).unwrap();
        let of = |record| if let Record::Statement(one) = record { Some(one) } else { None };
        trace.records().unwrap().map(Result::unwrap).filter_map(of).collect()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}

/// What the conversation came to.
fn check(folder: &Folder, footer: &Footer) {
    assert_eq!((footer.connections, footer.closed, footer.statements), (1, 1, 4), "{footer:?}");
    let all = folder.statements();
    let shown: Vec<_> = all
        .iter()
        .map(|one| {
            let sql = String::from_utf8(one.sql.clone()).unwrap();
            let schema = String::from_utf8(one.schema.to_vec()).unwrap();
            (sql, schema, one.rows_sent, one.rows_affected, one.error, one.prepared)
        })
        .collect();
    let expected = [
        ("select a from t where b = 'x'", "shop", Some(2), None, Some(0), false),
        ("update t set a = 1", "shop", Some(0), Some(3), Some(0), false),
        ("select nope", "other", Some(0), None, Some(1054), false),
        (
            "select c from t where d = -5 and e = 'it''s' and f = '?'",
            "other",
            Some(1),
            None,
            Some(0),
            true,
        ),
    ];
    let expected: Vec<_> = expected
        .into_iter()
        .map(|(sql, schema, rows, affected, error, prepared)| {
            (sql.to_owned(), schema.to_owned(), rows, affected, error, prepared)
        })
        .collect();
    assert_eq!(shown, expected);
    assert!(all.iter().all(|one| one.duration_us.is_some_and(|duration| duration >= 1000)));
}

#[test]
fn a_conversation_is_read_from_every_kind_of_file_and_link() {
    let folder = Folder::new("kinds");
    for most in [7, 1460] {
        let old = segments(&conversation(), most, false);
        let new = segments(&conversation(), most, true);
        let framed = |ips: &[Vec<u8>], frame: fn(&[u8]) -> Vec<u8>| -> Vec<Vec<u8>> {
            ips.iter().map(|ip| frame(ip)).collect()
        };
        for file in [
            pcap(1, &framed(&old, ethernet)),
            pcap(1, &framed(&new, ethernet)),
            pcap(113, &framed(&old, cooked)),
            pcap(0, &framed(&new, loopback)),
            pcap(101, &old),
            pcapng(1, &framed(&old, ethernet)),
        ] {
            let footer = folder.capture(&file).unwrap();
            check(&folder, &footer);
            assert_eq!(footer.skipped, []);
        }
    }
}

#[test]
fn segments_out_of_order_and_sent_again_are_read_once() {
    let folder = Folder::new("order");
    let mut ips = segments(&conversation(), 9, false);
    for place in (4..ips.len() - 2).step_by(3) {
        // Of one direction only: an answer does not come before its question.
        if ips[place][12..20] == ips[place + 1][12..20] {
            ips.swap(place, place + 1);
            let again = ips[place].clone();
            ips.insert(place + 2, again);
        }
    }
    let footer = folder.capture(&pcap(101, &ips)).unwrap();
    check(&folder, &footer);
}

#[test]
fn a_capture_that_begins_in_the_middle_begins_with_the_next_command() {
    let folder = Folder::new("middle");
    let parts: Vec<_> = conversation().split_off(4);
    let mut ips = segments(&parts, 1460, false);
    ips.drain(..2);
    for ip in &mut ips {
        for at in [20, 22] {
            if ip[at..at + 2] == 3307_u16.to_be_bytes() {
                ip[at..at + 2].copy_from_slice(&3306_u16.to_be_bytes());
            }
        }
    }
    let footer = folder.capture(&pcap(101, &ips)).unwrap();
    assert_eq!((footer.connections, footer.statements), (1, 3));
}

#[test]
fn encrypted_and_compressed_connections_are_named() {
    let folder = Folder::new("encrypted");
    let tls = packet(1, &[&(PLAIN | 1 << 11).to_le_bytes()[..], &[0; 28]].concat());
    for (answer, kind) in [(tls, "encrypted"), (login(PLAIN | 1 << 5), "compressed")] {
        let parts =
            [(Server, greeting()), (Client, answer), (Client, b"\x16\x03\x01rest".to_vec())];
        let file = pcap(101, &segments(&parts, 1460, false));
        let Err(Refused::Nothing(skipped)) = folder.capture(&file) else {
            panic!("a trace of nothing")
        };
        assert_eq!(skipped[0].kind, kind);
        assert!(skipped[0].says.contains("slow log"), "{}", skipped[0].says);
    }
}

#[test]
fn a_file_that_ends_in_a_packet_is_read_up_to_it() {
    let folder = Folder::new("torn");
    let file = pcap(101, &segments(&conversation(), 1460, false));
    let footer = folder.capture(&file[..file.len() - 60]).unwrap();
    assert_eq!(footer.skipped[0].kind, "broken-tail");
    assert_eq!(footer.statements, 4);
}

#[test]
fn no_bytes_make_it_panic() {
    let folder = Folder::new("bytes");
    let file = pcap(101, &segments(&conversation(), 50, false));
    for place in 0..file.len() {
        let mut changed = file.clone();
        changed[place] ^= 0xa5;
        if place % 5 == 0 {
            let _ = folder.capture(&changed);
        }
    }
}
