//! What of a packet is TCP: Ethernet, Linux cooked and loopback captures, IPv4 and IPv6 (RFC 791, 8200, 9293; link
//! types: tcpdump.org/linktypes.html).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// One direction of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Flow {
    pub from: (IpAddr, u16),
    pub to: (IpAddr, u16),
}

impl Flow {
    pub fn back(self) -> Self {
        Self { from: self.to, to: self.from }
    }
}

#[derive(Debug)]
pub struct Segment<'p> {
    pub flow: Flow,
    pub sequence: u32,
    /// SYN; with ACK it is an answer, which a server sends.
    pub is_first: bool,
    pub is_answer: bool,
    /// FIN or RST.
    pub is_last: bool,
    pub payload: &'p [u8],
}

const TCP: u8 = 6;

/// What of this link type it is, or why it is none.
pub fn of(link: u32, packet: &[u8]) -> Result<Segment<'_>, &'static str> {
    const SHORT: &str = "too short for its headers";
    let short = |at: usize| Some(u16::from_be_bytes(packet.get(at..at + 2)?.try_into().ok()?));
    let (kind, ip) = match link {
        1 => {
            let (mut kind, mut at) = (short(12).ok_or(SHORT)?, 14);
            while matches!(kind, 0x8100 | 0x88a8) {
                kind = short(at + 2).ok_or(SHORT)?;
                at += 4;
            }
            (kind, packet.get(at..))
        }
        113 => (short(14).ok_or(SHORT)?, packet.get(16..)),
        276 => (short(0).ok_or(SHORT)?, packet.get(20..)),
        // The family's number is another on each system.
        0 | 108 => (0, packet.get(4..)),
        12 | 14 | 101 | 228 | 229 => (0, Some(packet)),
        _ => {
            return Err(
                "of a link type that is not known: capture with -i any or on one interface",
            );
        }
    };
    let ip = ip.filter(|ip| !ip.is_empty()).ok_or(SHORT)?;
    match (kind, ip[0] >> 4) {
        (0x0800 | 0, 4) => version_4(ip).unwrap_or(Err(SHORT)),
        (0x86dd | 0, 6) => version_6(ip).unwrap_or(Err(SHORT)),
        _ => Err("neither IPv4 nor IPv6"),
    }
}

fn version_4(ip: &[u8]) -> Option<Result<Segment<'_>, &'static str>> {
    let head = usize::from(ip[0] & 15) * 4;
    let length = usize::from(u16::from_be_bytes(ip.get(2..4)?.try_into().ok()?));
    let fragment = u16::from_be_bytes(ip.get(6..8)?.try_into().ok()?);
    if *ip.get(9)? != TCP {
        return Some(Err("not TCP"));
    }
    if fragment & 0x3fff != 0 {
        return Some(Err("a fragment of an IPv4 packet"));
    }
    let address = |at: usize| -> Option<IpAddr> {
        Some(Ipv4Addr::from(<[u8; 4]>::try_from(ip.get(at..at + 4)?).ok()?).into())
    };
    let (from, to) = (address(12)?, address(16)?);
    // Padding of Ethernet follows; a length of 0 is that of segmentation by the card.
    let end = if length == 0 { ip.len() } else { length.min(ip.len()) };
    tcp(from, to, ip.get(head..end)?).map(Ok)
}

fn version_6(ip: &[u8]) -> Option<Result<Segment<'_>, &'static str>> {
    let length = usize::from(u16::from_be_bytes(ip.get(4..6)?.try_into().ok()?));
    let address = |at: usize| -> Option<IpAddr> {
        Some(Ipv6Addr::from(<[u8; 16]>::try_from(ip.get(at..at + 16)?).ok()?).into())
    };
    let (from, to) = (address(8)?, address(24)?);
    let (mut kind, mut at) = (ip[6], 40);
    // Hop-by-hop, routing and destination options.
    while matches!(kind, 0 | 43 | 60) {
        kind = *ip.get(at)?;
        at += (usize::from(*ip.get(at + 1)?) + 1) * 8;
    }
    match kind {
        TCP => {
            let end = if length == 0 { ip.len() } else { (40 + length).min(ip.len()) };
            tcp(from, to, ip.get(at..end)?).map(Ok)
        }
        44 => Some(Err("a fragment of an IPv6 packet")),
        _ => Some(Err("not TCP")),
    }
}

fn tcp(from: IpAddr, to: IpAddr, tcp: &[u8]) -> Option<Segment<'_>> {
    let short = |at: usize| Some(u16::from_be_bytes(tcp.get(at..at + 2)?.try_into().ok()?));
    let flow = Flow { from: (from, short(0)?), to: (to, short(2)?) };
    let sequence = u32::from_be_bytes(tcp.get(4..8)?.try_into().ok()?);
    let head = usize::from(*tcp.get(12)? >> 4) * 4;
    let flags = *tcp.get(13)?;
    let (is_first, is_answer) = (flags & 2 != 0, flags & 2 != 0 && flags & 16 != 0);
    let payload = tcp.get(head..)?;
    Some(Segment { flow, sequence, is_first, is_answer, is_last: flags & 5 != 0, payload })
}
