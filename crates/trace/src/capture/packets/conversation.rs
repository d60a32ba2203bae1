//! Both directions of a connection as MySQL's protocol: commands, and what became of them.
//!
//! Sources: MySQL's protocol documentation ("Connection Phase", "Command Phase"), MariaDB's ("Client/Server
//! Protocol"). Capabilities are looked at only where the bytes themselves do not show them, so that a
//! conversation is read from its middle as well.

use std::collections::{HashMap, VecDeque};

use super::binary::{bound, literal, quoted};
use super::bytes::Bytes;
use crate::capture::{Event, Sent, used};

const MORE_RESULTS: u16 = 8;
const CURSOR: u16 = 64;
/// What MariaDB calls the statement that it has just prepared.
const LAST_PREPARED: u32 = u32::MAX;
/// More than a packet may have; what says so is not the beginning of one.
const MOST_PACKET: usize = 0xff_ffff;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Greeting,
    /// The user is known when the client has answered.
    Login,
    Commands,
    /// Encrypted, compressed, or something else: nothing more is read.
    Closed,
}

/// A command that waits for its answer.
struct Pending {
    what: What,
    at_us: i64,
    sql: Vec<u8>,
    prepared: bool,
    answer: Answer,
    rows_sent: u64,
    affected: Option<u64>,
}

#[derive(Clone, PartialEq, Eq)]
enum What {
    Statement,
    Prepare,
    Schema,
    User {
        user: Vec<u8>,
        schema: Vec<u8>,
    },
    /// One that nothing is made of, with an answer of one packet, or of rows.
    Other,
}

/// Where in its answer a command is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Answer {
    First,
    /// So many column definitions are to come, and then perhaps an EOF.
    Columns(u64),
    AfterColumns,
    Rows,
    /// Of a prepare: definitions of parameters and columns.
    Definitions(u64),
    AfterDefinitions,
}

#[derive(Default)]
struct Prepared {
    sql: Vec<u8>,
    parameters: usize,
    kinds: Vec<u16>,
    long: HashMap<u16, Vec<u8>>,
}

pub struct Conversation {
    phase: Phase,
    from_client: Vec<u8>,
    from_server: Vec<u8>,
    /// A packet of 16 MB goes on in the next.
    joined: [Vec<u8>; 2],
    pending: VecDeque<Pending>,
    statements: HashMap<u32, Prepared>,
    last_prepared: u32,
    user: Vec<u8>,
    schema: Vec<u8>,
    /// Bytes were lost: commands are looked for again where a segment begins with one.
    is_lost: bool,
    pub notes: Vec<(&'static str, &'static str)>,
}

impl Conversation {
    /// `is_whole`: from its first packet on.
    pub fn new(is_whole: bool) -> Self {
        Self {
            phase: if is_whole { Phase::Greeting } else { Phase::Commands },
            from_client: Vec::new(),
            from_server: Vec::new(),
            joined: [Vec::new(), Vec::new()],
            pending: VecDeque::new(),
            statements: HashMap::new(),
            last_prepared: 0,
            user: Vec::new(),
            schema: Vec::new(),
            is_lost: !is_whole,
            notes: Vec::new(),
        }
    }

    /// Bytes are lost: commands without their whole answer are given without what became of them.
    pub fn lose(&mut self, events: &mut Vec<Event>) {
        for pending in std::mem::take(&mut self.pending) {
            if pending.what == What::Statement {
                self.give(pending, None, None, events);
            }
        }
        self.from_client.clear();
        self.from_server.clear();
        self.joined = [Vec::new(), Vec::new()];
        self.is_lost = true;
    }

    pub fn feed(
        &mut self,
        is_to_server: bool,
        bytes: Vec<u8>,
        at_us: i64,
        events: &mut Vec<Event>,
    ) {
        if self.phase == Phase::Closed || bytes.is_empty() {
            return;
        }
        if self.is_lost {
            if !is_to_server || !is_command(&bytes) {
                return;
            }
            self.is_lost = false;
        }
        let mut buffer = std::mem::take(self.buffer(is_to_server));
        buffer.extend_from_slice(&bytes);
        let mut at = 0;
        while self.phase != Phase::Closed
            && let Some((length, sequence)) = head(&buffer[at..])
            && let Some(packet) = buffer.get(at + 4..at + 4 + length)
        {
            at += 4 + length;
            let joined = &mut self.joined[usize::from(is_to_server)];
            if length == MOST_PACKET || !joined.is_empty() {
                joined.extend_from_slice(packet);
                if length < MOST_PACKET {
                    let whole = std::mem::take(joined);
                    self.packet(is_to_server, 0, &whole, at_us, events);
                }
            } else {
                self.packet(is_to_server, sequence, packet, at_us, events);
            }
        }
        buffer.drain(..at);
        *self.buffer(is_to_server) = buffer;
    }

    fn buffer(&mut self, is_to_server: bool) -> &mut Vec<u8> {
        if is_to_server { &mut self.from_client } else { &mut self.from_server }
    }

    fn packet(
        &mut self,
        is_to_server: bool,
        sequence: u8,
        packet: &[u8],
        at_us: i64,
        events: &mut Vec<Event>,
    ) {
        match (self.phase, is_to_server) {
            (Phase::Greeting, false) => match packet.first() {
                Some(10) => self.phase = Phase::Login,
                Some(0xff) => self.close("refused", "the server refused a connection"),
                _ => self.phase = Phase::Closed,
            },
            (Phase::Greeting, true) => self.phase = Phase::Closed,
            (Phase::Login, true) if self.user.is_empty() => self.login(packet, sequence),
            (Phase::Login, true) => {}
            (Phase::Login, false) => match packet.first() {
                Some(0) => {
                    self.phase = Phase::Commands;
                    let (user, schema) = (self.user.clone(), self.schema.clone());
                    events.push(Event::Opened { at_us, user, schema });
                }
                Some(0xff) => self.close("refused", "the server refused a login"),
                _ => {}
            },
            (Phase::Commands, true) => {
                let _ = self.command(packet, sequence, at_us, events);
            }
            (Phase::Commands, false) => self.answer(packet, at_us, events),
            (Phase::Closed, _) => {}
        }
    }

    fn close(&mut self, kind: &'static str, says: &'static str) {
        self.phase = Phase::Closed;
        self.notes.push((kind, says));
    }

    /// The client's answer to the greeting.
    fn login(&mut self, packet: &[u8], sequence: u8) {
        const WITH_SCHEMA: u32 = 1 << 3;
        const COMPRESSED: u32 = 1 << 5 | 1 << 26;
        const TLS: u32 = 1 << 11;
        const SECURE: u32 = 1 << 15;
        const LONG_SECRET: u32 = 1 << 21;
        let mut bytes = Bytes(packet);
        let Some(capabilities) = bytes.array().map(u32::from_le_bytes) else { return };
        if capabilities & TLS != 0 && packet.len() <= 32 {
            return self.close(
                "encrypted",
                "a connection is encrypted (TLS): capture the slow log instead, or let the client connect \
                 with --ssl-mode=DISABLED",
            );
        }
        if sequence > 2 || bytes.take(28).is_none() {
            return;
        }
        self.user = bytes.until_zero().to_vec();
        let secret = if capabilities & LONG_SECRET != 0 {
            bytes.text().map(drop)
        } else if capabilities & SECURE != 0 {
            bytes.array::<1>().and_then(|[count]| bytes.take(count.into())).map(drop)
        } else {
            bytes.until_zero();
            Some(())
        };
        if secret.is_some() && capabilities & WITH_SCHEMA != 0 {
            self.schema = bytes.until_zero().to_vec();
        }
        if capabilities & COMPRESSED != 0 {
            self.close(
                "compressed",
                "a connection is compressed: let the client connect without compression, or capture the \
                 slow log instead",
            );
        }
    }

    /// One command; None where it cannot be read.
    fn command(
        &mut self,
        packet: &[u8],
        sequence: u8,
        at_us: i64,
        events: &mut Vec<Event>,
    ) -> Option<()> {
        // In an answer a client sends only files and passwords, whose numbers go on.
        if sequence != 0 {
            return Some(());
        }
        let (&code, text) = packet.split_first()?;
        let number = || text.first_chunk().copied().map(u32::from_le_bytes);
        match code {
            0x01 => {
                events.push(Event::Closed { at_us });
                self.phase = Phase::Closed;
            }
            0x02 => self.wait(What::Schema, at_us, text.to_vec()),
            0x03 => match without_attributes(text) {
                Some(sql) => self.wait(What::Statement, at_us, sql.to_vec()),
                None => {
                    self.notes
                        .push(("attributes", "a statement with attributes that cannot be read"));
                    self.wait(What::Other, at_us, Vec::new());
                }
            },
            0x16 => self.wait(What::Prepare, at_us, text.to_vec()),
            0x17 => self.execute(text, at_us),
            0x18 => {
                let parameter = u16::from_le_bytes(text.get(4..6)?.try_into().ok()?);
                let prepared = self.statements.get_mut(&number()?)?;
                prepared.long.entry(parameter).or_default().extend_from_slice(&text[6..]);
            }
            0x19 => drop(self.statements.remove(&number()?)),
            0x11 => {
                let mut bytes = Bytes(text);
                let user = bytes.until_zero().to_vec();
                let [count] = bytes.array()?;
                bytes.take(count.into())?;
                let schema = bytes.until_zero().to_vec();
                self.wait(What::User { user, schema }, at_us, Vec::new());
            }
            0x12 | 0x1e | 0x15 => {
                self.close("replication", "a replica's connection: it sends no statements")
            }
            0xfa => {
                self.notes.push((
                    "bulk",
                    "MariaDB's bulk execution is not read: its statements are missing",
                ));
                self.wait(What::Other, at_us, Vec::new());
            }
            _ => self.wait(What::Other, at_us, Vec::new()),
        }
        Some(())
    }

    fn wait(&mut self, what: What, at_us: i64, sql: Vec<u8>) {
        let answer = Answer::First;
        self.pending.push_back(Pending {
            what,
            at_us,
            sql,
            prepared: false,
            answer,
            rows_sent: 0,
            affected: None,
        });
    }

    fn execute(&mut self, text: &[u8], at_us: i64) {
        match self.executed(text) {
            Some(sql) => {
                self.wait(What::Statement, at_us, sql);
                if let Some(pending) = self.pending.back_mut() {
                    pending.prepared = true;
                }
            }
            None => {
                self.notes.push((
                    "not-prepared",
                    "an execution whose statement was prepared before the capture, or whose values cannot be read",
                ));
                self.wait(What::Other, at_us, Vec::new());
            }
        }
    }

    fn executed(&mut self, text: &[u8]) -> Option<Vec<u8>> {
        let mut bytes = Bytes(text);
        let mut id = u32::from_le_bytes(bytes.array()?);
        if id == LAST_PREPARED {
            id = self.last_prepared;
        }
        let [flags] = bytes.array()?;
        let _iterations: [u8; 4] = bytes.array()?;
        let prepared = self.statements.get_mut(&id)?;
        let mut count = prepared.parameters;
        // MySQL 8: the count is there, with attributes behind the parameters, each with a name.
        let has_names = flags & 8 != 0;
        if has_names {
            count = usize::try_from(bytes.number()?).ok()?;
        }
        let mut literals = Vec::new();
        if count > 0 {
            let nulls = bytes.take(count.div_ceil(8) as u64)?;
            if bytes.array::<1>()? == [1] {
                prepared.kinds.clear();
                for _ in 0..count {
                    prepared.kinds.push(u16::from_le_bytes(bytes.array()?));
                    if has_names {
                        bytes.text()?;
                    }
                }
            }
            for (place, &kind) in prepared.kinds.iter().take(count).enumerate() {
                literals.push(if let Some(long) = prepared.long.get(&(place as u16)) {
                    quoted(long)
                } else if nulls[place / 8] >> (place % 8) & 1 == 1 {
                    b"NULL".to_vec()
                } else {
                    literal(kind, &mut bytes)?
                });
            }
        }
        prepared.long.clear();
        literals.truncate(prepared.parameters);
        bound(&prepared.sql, &literals)
    }

    fn answer(&mut self, packet: &[u8], at_us: i64, events: &mut Vec<Event>) {
        let Some(mut pending) = self.pending.pop_front() else { return };
        let first = packet.first().copied().unwrap_or(0);
        if first == 0xff {
            let error = packet.get(1..3).map(|code| u16::from_le_bytes([code[0], code[1]]));
            if pending.what == What::Statement {
                self.give(pending, error.or(Some(u16::MAX)), Some(at_us), events);
            }
            return;
        }
        let is_end = match pending.answer {
            Answer::First => self.first(&mut pending, packet),
            Answer::Columns(1) => {
                pending.answer = Answer::AfterColumns;
                false
            }
            Answer::Columns(left) => {
                pending.answer = Answer::Columns(left - 1);
                false
            }
            Answer::AfterColumns if first == 0xfe && packet.len() == 5 => {
                pending.answer = Answer::Rows;
                status_of_eof(packet) & CURSOR != 0
            }
            Answer::AfterColumns | Answer::Rows if first == 0xfe && packet.len() < MOST_PACKET => {
                let status =
                    if packet.len() == 5 { status_of_eof(packet) } else { status_of_ok(packet) };
                pending.answer = Answer::First;
                status & MORE_RESULTS == 0
            }
            Answer::AfterColumns | Answer::Rows => {
                pending.answer = Answer::Rows;
                pending.rows_sent += 1;
                false
            }
            Answer::Definitions(1) => {
                pending.answer = Answer::AfterDefinitions;
                false
            }
            Answer::Definitions(left) => {
                pending.answer = Answer::Definitions(left - 1);
                false
            }
            Answer::AfterDefinitions => true,
        };
        if is_end {
            self.done(pending, at_us, events);
        } else {
            self.pending.push_front(pending);
        }
    }

    /// The first packet of a result; whether it is the last one, too.
    fn first(&mut self, pending: &mut Pending, packet: &[u8]) -> bool {
        let first = packet.first().copied().unwrap_or(0);
        match pending.what {
            What::Prepare => return self.prepared(pending, packet),
            // A switch of the method, or more data for it.
            What::User { .. } if matches!(first, 0xfe | 1) => return false,
            What::User { .. } | What::Schema | What::Other
                if first == 0 || pending.sql.is_empty() =>
            {
                return true;
            }
            _ => {}
        }
        if first == 0 {
            let mut bytes = Bytes(&packet[1..]);
            if let Some(affected) = bytes.number() {
                pending.affected = Some(pending.affected.unwrap_or(0) + affected);
            }
            return status_of_ok(packet) & MORE_RESULTS == 0;
        }
        if first == 0xfb {
            // The client sends a file, and the answer comes then.
            return false;
        }
        let mut bytes = Bytes(packet);
        match bytes.number() {
            // MariaDB may leave the definitions out that it has sent before.
            Some(_) if bytes.0 == [0] => pending.answer = Answer::AfterColumns,
            Some(columns) if columns > 0 => pending.answer = Answer::Columns(columns),
            _ => return true,
        }
        false
    }

    fn prepared(&mut self, pending: &mut Pending, packet: &[u8]) -> bool {
        let mut bytes = Bytes(packet.get(1..).unwrap_or_default());
        let id = bytes.array().map(u32::from_le_bytes);
        let columns = bytes.array().map(u16::from_le_bytes);
        let parameters = bytes.array().map(u16::from_le_bytes);
        let (Some(id), Some(columns), Some(parameters)) = (id, columns, parameters) else {
            return true;
        };
        let sql = std::mem::take(&mut pending.sql);
        let prepared = Prepared { sql, parameters: parameters.into(), ..Prepared::default() };
        self.statements.insert(id, prepared);
        self.last_prepared = id;
        let definitions = u64::from(columns) + u64::from(parameters);
        if definitions > 0 {
            pending.answer = Answer::Definitions(definitions);
        }
        definitions == 0
    }

    fn done(&mut self, pending: Pending, at_us: i64, events: &mut Vec<Event>) {
        match &pending.what {
            What::Statement => self.give(pending, Some(0), Some(at_us), events),
            What::Schema => self.schema.clone_from(&pending.sql),
            What::User { user, schema } => {
                (self.user, self.schema) = (user.clone(), schema.clone());
                let (user, schema) = (user.clone(), schema.clone());
                events.push(Event::Closed { at_us });
                events.push(Event::Opened { at_us, user, schema });
            }
            What::Prepare | What::Other => {}
        }
    }

    fn give(
        &mut self,
        pending: Pending,
        error: Option<u16>,
        end_us: Option<i64>,
        events: &mut Vec<Event>,
    ) {
        let sql = pending.sql.trim_ascii();
        let sql = sql.strip_suffix(b";").unwrap_or(sql).trim_ascii_end().to_vec();
        if sql.is_empty() {
            return;
        }
        let used = used(&sql).filter(|_| error == Some(0)).map(<[u8]>::to_vec);
        let is_known = end_us.is_some();
        events.push(Event::Statement(Sent {
            user: self.user.clone(),
            schema: self.schema.clone(),
            start_us: pending.at_us,
            duration_us: end_us.map(|end| end.saturating_sub(pending.at_us).max(0) as u64),
            rows_sent: is_known.then_some(pending.rows_sent),
            rows_affected: pending.affected,
            error,
            prepared: pending.prepared,
            sql,
        }));
        if let Some(schema) = used {
            self.schema = schema;
        }
    }
}

/// The length and the number of a packet.
fn head(bytes: &[u8]) -> Option<(usize, u8)> {
    let &[low, middle, high, sequence] = bytes.first_chunk::<4>()?;
    Some((u32::from_le_bytes([low, middle, high, 0]) as usize, sequence))
}

/// Whether a segment is one whole command.
fn is_command(bytes: &[u8]) -> bool {
    head(bytes)
        .is_some_and(|(length, sequence)| sequence == 0 && length > 0 && bytes.len() == 4 + length)
        && matches!(bytes[4], 0x01..=0x1f)
}

fn status_of_eof(packet: &[u8]) -> u16 {
    u16::from_le_bytes([packet[3], packet[4]])
}

/// Behind the rows and the id.
fn status_of_ok(packet: &[u8]) -> u16 {
    let mut bytes = Bytes(packet.get(1..).unwrap_or_default());
    let status = bytes.number().and_then(|_| bytes.number()).and_then(|_| bytes.array());
    status.map_or(0, u16::from_le_bytes)
}

/// The statement behind MySQL 8's attributes, which no statement looks like: the number of them, that of sets
/// (1), and then a map of those without a value, their types with names, and their values.
fn without_attributes(text: &[u8]) -> Option<&[u8]> {
    if text.get(1) != Some(&1) || text[0] >= 0x20 {
        return Some(text);
    }
    let mut bytes = Bytes(&text[2..]);
    let count = usize::from(text[0]);
    if count == 0 {
        return Some(bytes.0);
    }
    let nulls = bytes.take(count.div_ceil(8) as u64)?;
    let _is_bound: [u8; 1] = bytes.array()?;
    let mut kinds = Vec::with_capacity(count);
    for _ in 0..count {
        kinds.push(u16::from_le_bytes(bytes.array()?));
        bytes.text()?;
    }
    for (place, kind) in kinds.into_iter().enumerate() {
        if nulls[place / 8] >> (place % 8) & 1 == 0 {
            literal(kind, &mut bytes)?;
        }
    }
    Some(bytes.0)
}
