//! Packets that tcpdump has written, to a trace.
//!
//! [`file`] gives packets of pcap and pcapng, [`segment`] what of them is TCP, [`stream`] brings the segments of
//! one direction into order, [`conversation`] reads both directions of a connection as MySQL's protocol, whose
//! values are in [`binary`]. A connection is taken for one of a server when its first bytes are a greeting; one
//! whose beginning is not there, when one of its ports is 3306.

mod binary;
mod bytes;
mod conversation;
mod file;
mod segment;
mod stream;

use std::collections::{BTreeMap, HashMap};

use mydyno_digest::problem::Problems;
use mydyno_digest::source::Source;
use mydyno_digest::stop::Stop;

use super::{Capture, Event, Read};
use crate::error::Error;
use crate::header::Skipped;
use conversation::Conversation;
use segment::{Flow, Segment};
use stream::Stream;

pub use file::is_packets;

const USUAL_PORT: u16 = 3306;

/// What was met and is not in the trace: by kind, how often, where first, in words.
#[derive(Default)]
pub(super) struct Notes(BTreeMap<&'static str, (u64, u64, &'static str)>);

impl Notes {
    fn note(&mut self, kind: &'static str, at: u64, says: &'static str) {
        self.0.entry(kind).or_insert((0, at, says)).0 += 1;
    }

    pub(super) fn skipped(self, file: &str) -> Vec<Skipped> {
        let skipped = |(kind, (count, at, says)): (&str, (u64, u64, &str))| Skipped {
            kind: kind.to_owned(),
            count,
            file: file.to_owned(),
            at_byte: Some(at),
            says: says.to_owned(),
        };
        self.0.into_iter().map(skipped).collect()
    }
}

/// Both directions of one connection.
struct Connection {
    number: u64,
    to_server: Stream,
    to_client: Stream,
    conversation: Conversation,
}

struct Reading<'c> {
    capture: &'c mut Capture,
    connections: HashMap<Flow, Connection>,
    /// Connections so far: a trace's numbers of the server are not in packets.
    number: u64,
    notes: Notes,
}

pub fn read(
    source: Source<'_>,
    capture: &mut Capture,
    stop: &Stop,
    progress: &mut impl FnMut(u64),
) -> Result<Read, Error> {
    let mut packets = file::Packets::new(source);
    let mut reading =
        Reading { capture, connections: HashMap::new(), number: 0, notes: Notes::default() };
    let mut count = 0_u64;
    while let Some(packet) = packets.next(stop) {
        if packet.is_cut {
            reading.notes.note("cut-packet", packet.at, "longer than tcpdump kept: use -s 0");
        }
        match segment::of(packet.link, packet.bytes) {
            Ok(segment) => reading.segment(&segment, packet.time_us, packet.at)?,
            Err(why) => reading.notes.note("other-packet", packet.at, why),
        }
        count += 1;
        if count.is_multiple_of(4096) {
            progress(reading.capture.statements);
        }
    }
    let flows: Vec<Flow> = reading.connections.keys().copied().collect();
    for flow in flows {
        reading.end(flow, None)?;
    }
    if let Some((at, says)) = packets.damage {
        reading.notes.note("broken-tail", at, says);
    }
    Ok(Read {
        bytes: packets.read_bytes,
        problems: Problems::default(),
        has_places: true,
        trouble: packets.trouble,
        commands: 0,
        untimed: None,
        notes: reading.notes,
    })
}

impl Reading<'_> {
    fn segment(&mut self, segment: &Segment<'_>, time_us: i64, at: u64) -> Result<(), Error> {
        let Some((flow, is_to_server)) = self.flow(segment) else { return Ok(()) };
        if segment.is_first && is_to_server && self.connections.contains_key(&flow) {
            // The same ports again: the connection before has ended unseen.
            let is_again = self.connections[&flow].to_server.is_other_beginning(segment.sequence);
            if is_again {
                self.end(flow, Some(time_us))?;
            }
        }
        let next = self.number;
        let connection = self.connections.entry(flow).or_insert_with(|| Connection {
            number: next,
            to_server: Stream::default(),
            to_client: Stream::default(),
            conversation: Conversation::new(segment.is_first),
        });
        self.number += u64::from(connection.number == next);
        let stream =
            if is_to_server { &mut connection.to_server } else { &mut connection.to_client };
        let gap = stream.push(segment);
        if gap {
            self.notes.note("lost-packet", at, "bytes of a connection are missing in the capture");
        }
        let has_ended = segment.is_last;
        self.advance(flow, is_to_server, gap, time_us, at)?;
        if has_ended && is_to_server {
            self.end(flow, Some(time_us))?;
        }
        Ok(())
    }

    /// Reads what has come in order.
    fn advance(
        &mut self,
        flow: Flow,
        is_to_server: bool,
        gap: bool,
        time_us: i64,
        at: u64,
    ) -> Result<(), Error> {
        let Some(connection) = self.connections.get_mut(&flow) else { return Ok(()) };
        let Connection { number, to_server, to_client, conversation } = connection;
        let number = *number;
        let mut events = Vec::new();
        if gap {
            conversation.lose(&mut events);
        }
        let stream = if is_to_server { to_server } else { to_client };
        let bytes = stream.take();
        conversation.feed(is_to_server, bytes, time_us, &mut events);
        for note in conversation.notes.drain(..) {
            let (kind, says) = note;
            self.notes.note(kind, at, says);
        }
        events.into_iter().try_for_each(|event| self.capture.event(number, event))
    }

    fn end(&mut self, flow: Flow, time_us: Option<i64>) -> Result<(), Error> {
        let Some(mut connection) = self.connections.remove(&flow) else { return Ok(()) };
        let mut events = Vec::new();
        connection.conversation.lose(&mut events);
        if let Some(time_us) = time_us {
            events.push(Event::Closed { at_us: time_us });
        }
        let number = connection.number;
        events.into_iter().try_for_each(|event| self.capture.event(number, event))
    }

    /// Which connection a segment is of, and whether it goes to the server; None for one that is not known to be
    /// a server's.
    fn flow(&self, segment: &Segment<'_>) -> Option<(Flow, bool)> {
        let (there, back) = (segment.flow, segment.flow.back());
        if self.connections.contains_key(&there) {
            return Some((there, true));
        }
        if self.connections.contains_key(&back) {
            return Some((back, false));
        }
        match (segment.is_first, segment.is_answer) {
            (true, false) => Some((there, true)),
            (true, true) => Some((back, false)),
            _ if segment.flow.to.1 == USUAL_PORT => Some((there, true)),
            _ if segment.flow.from.1 == USUAL_PORT => Some((back, false)),
            _ => None,
        }
    }
}
