//! Follows the server's answer to one statement: counts rows and finds its end.

use super::frames::Packet;
use super::{ServerError, length_encoded};

const OK: u8 = 0x00;
/// First byte of a packet in which the server requests a file of the client's.
pub const LOCAL_INFILE: u8 = 0xfb;
const END: u8 = 0xfe;
const ERROR: u8 = 0xff;
/// An EOF packet is shorter than this; a row that begins with 0xFE is far longer.
const EOF_LIMIT: u32 = 9;
/// With CLIENT_DEPRECATE_EOF the end is an OK packet, which is never as long as this, while a text
/// row beginning with 0xFE holds a value of 16 MiB or more.
const OK_LIMIT: u32 = 0xff_ffff;
/// Columns that a table, and so a result, may have at most (MySQL manual, "Table Column-Count Limits").
const MOST_COLUMNS: u64 = 4096;
/// Bit of the status flags: another result follows this one.
const MORE_RESULTS: u16 = 0x0008;

/// Bit of the status flags: a transaction is open.
const IN_TRANSACTION: u16 = 0x0001;

const LOCAL_FILE: &str = "request for a local file, which is refused";

/// How the answer ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Rows returned, or rows changed where there is no result set.
    Done {
        rows: u64,
    },
    /// The answer to COM_STMT_PREPARE.
    Prepared {
        statement_id: u32,
    },
    Failed(ServerError),
}

/// What the next packet must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expect {
    /// OK, ERR, or the number of columns.
    First,
    /// This many column definitions.
    Columns(u64),
    /// The EOF packet between columns and rows (servers without CLIENT_DEPRECATE_EOF).
    ColumnsEnd,
    Rows,
    /// OK of a prepare, or ERR.
    Prepare,
    /// This many definitions of parameters, then the EOF packet and definitions of columns.
    Definitions {
        statement_id: u32,
        now: u64,
        later: u64,
    },
    DefinitionsEnd {
        statement_id: u32,
        later: u64,
    },
}

/// What a packet is within an answer, for whoever wants to read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    Definition,
    Row,
    Other,
}

/// The state of one answer; a few words, nothing allocated.
#[derive(Clone, Copy, Debug)]
pub struct Response {
    expect: Expect,
    rows: u64,
    /// Whether CLIENT_DEPRECATE_EOF is in force.
    no_eof: bool,
    pub ends: Ends,
}

/// What the packets that end results said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ends {
    /// Rows changed; those of all results that have no rows.
    pub affected: u64,
    pub warnings: u16,
    /// The session is in a transaction.
    pub in_transaction: bool,
}

impl Response {
    /// Waits for the answer to a query or to the execution of a prepared statement.
    pub fn to_query(no_eof: bool) -> Self {
        Self { expect: Expect::First, rows: 0, no_eof, ends: Ends::default() }
    }

    /// Waits for the answer to COM_STMT_PREPARE.
    pub fn to_prepare(no_eof: bool) -> Self {
        Self { expect: Expect::Prepare, rows: 0, no_eof, ends: Ends::default() }
    }

    /// What the next packet is; to be asked before it is taken.
    pub fn part(&self, packet: Packet<'_>) -> Part {
        match (self.expect, packet.head.first()) {
            (Expect::Columns(_), _) => Part::Definition,
            (Expect::Rows, Some(&END)) if packet.length < self.end_limit() => Part::Other,
            (Expect::Rows, Some(&ERROR)) => Part::Other,
            (Expect::Rows, _) => Part::Row,
            _ => Part::Other,
        }
    }

    /// Takes the next packet; gives the outcome with the last one.
    #[inline]
    pub fn take(&mut self, packet: Packet<'_>) -> Option<Outcome> {
        let first = packet.head.first().copied();
        match self.expect {
            Expect::Rows => {
                if first == Some(END) && packet.length < self.end_limit() {
                    self.end_of_rows(packet)
                } else if first == Some(ERROR) {
                    Some(Outcome::Failed(packet.error()))
                } else {
                    self.rows += 1;
                    None
                }
            }
            Expect::Columns(left) => {
                self.expect = match left {
                    0 | 1 if self.no_eof => Expect::Rows,
                    0 | 1 => Expect::ColumnsEnd,
                    _ => Expect::Columns(left - 1),
                };
                None
            }
            Expect::First => self.first(first, packet),
            Expect::ColumnsEnd => {
                self.expect = Expect::Rows;
                None
            }
            Expect::Prepare => self.prepared(first, packet),
            Expect::Definitions { statement_id, now, later } => match (now, self.no_eof) {
                (2.., _) => {
                    self.expect = Expect::Definitions { statement_id, now: now - 1, later };
                    None
                }
                (_, true) => self.definitions(statement_id, later, 0),
                (_, false) => {
                    self.expect = Expect::DefinitionsEnd { statement_id, later };
                    None
                }
            },
            Expect::DefinitionsEnd { statement_id, later } => {
                self.definitions(statement_id, later, 0)
            }
        }
    }

    fn end_limit(&self) -> u32 {
        if self.no_eof { OK_LIMIT } else { EOF_LIMIT }
    }

    fn first(&mut self, first: Option<u8>, packet: Packet<'_>) -> Option<Outcome> {
        match first {
            Some(OK) => {
                let Some((changed, status)) = changed_rows(packet.head) else {
                    return malformed("OK packet", packet);
                };
                self.rows = self.rows.saturating_add(changed);
                self.ends.affected = self.ends.affected.saturating_add(changed);
                self.ends.warnings = warnings(packet.head);
                self.end_of_result(status)
            }
            Some(ERROR) => Some(Outcome::Failed(packet.error())),
            Some(LOCAL_INFILE) => malformed(LOCAL_FILE, packet),
            None => malformed("answer", packet),
            Some(_) => match length_encoded(packet.head) {
                Some((columns, _)) if columns <= MOST_COLUMNS => {
                    self.expect = Expect::Columns(columns);
                    None
                }
                _ => malformed("number of columns", packet),
            },
        }
    }

    fn end_of_rows(&mut self, packet: Packet<'_>) -> Option<Outcome> {
        let status = if self.no_eof {
            changed_rows(packet.head).map(|(_, status)| status)
        } else {
            packet.head.get(3..5).map(|flags| u16::from_le_bytes([flags[0], flags[1]]))
        };
        let warned = match self.no_eof {
            true => Some(ending_warnings(packet.head)),
            false => packet.head.get(1..3).map(|count| u16::from_le_bytes([count[0], count[1]])),
        };
        self.ends.warnings = warned.unwrap_or(0);
        match status {
            Some(status) => self.end_of_result(status),
            None => malformed("end of the rows", packet),
        }
    }

    fn end_of_result(&mut self, status: u16) -> Option<Outcome> {
        self.ends.in_transaction = status & IN_TRANSACTION != 0;
        if status & MORE_RESULTS != 0 {
            self.expect = Expect::First;
            return None;
        }
        Some(Outcome::Done { rows: self.rows })
    }

    fn prepared(&mut self, first: Option<u8>, packet: Packet<'_>) -> Option<Outcome> {
        match (first, packet.head) {
            (Some(ERROR), _) => Some(Outcome::Failed(packet.error())),
            (Some(OK), [_, a, b, c, d, columns_low, columns_high, low, high, ..]) => {
                let statement_id = u32::from_le_bytes([*a, *b, *c, *d]);
                let columns = u16::from_le_bytes([*columns_low, *columns_high]);
                let parameters = u16::from_le_bytes([*low, *high]);
                self.definitions(statement_id, u64::from(parameters), u64::from(columns))
            }
            _ => malformed("answer to a prepare", packet),
        }
    }

    /// Waits for `now` definitions and `later` more after them, either of which may be none.
    fn definitions(&mut self, statement_id: u32, now: u64, later: u64) -> Option<Outcome> {
        let (now, later) = if now == 0 { (later, 0) } else { (now, later) };
        if now == 0 {
            return Some(Outcome::Prepared { statement_id });
        }
        self.expect = Expect::Definitions { statement_id, now, later };
        None
    }
}

/// Rows changed and status flags of an OK packet, or of the OK packet that ends a result set.
fn changed_rows(payload: &[u8]) -> Option<(u64, u16)> {
    let (changed, rest) = length_encoded(payload.get(1..)?)?;
    let (_last_insert_id, rest) = length_encoded(rest)?;
    let (status, _) = rest.split_first_chunk::<2>()?;
    Some((changed, u16::from_le_bytes(*status)))
}

/// Number of warnings in an OK packet; none in any other.
pub fn warnings(payload: &[u8]) -> u16 {
    if payload.first() == Some(&OK) { ending_warnings(payload) } else { 0 }
}

/// The same, whether the packet answers a statement or ends rows.
fn ending_warnings(payload: &[u8]) -> u16 {
    let count = || {
        let (_changed, rest) = length_encoded(payload.get(1..)?)?;
        let (_last_insert_id, rest) = length_encoded(rest)?;
        rest.get(2..4).map(|bytes| u16::from_le_bytes([bytes[0], bytes[1]]))
    };
    count().unwrap_or(0)
}

#[cold]
fn malformed(what: &str, packet: Packet<'_>) -> Option<Outcome> {
    let what = format!("the server sent a malformed packet ({what})");
    Some(Outcome::Failed(packet.malformed(&what)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::code;
    use crate::protocol::frames::Frames;
    use proptest::collection::vec;
    use proptest::prelude::*;

    const OK_PACKET: &[u8] = &[0, 3, 0, 2, 0, 0, 0];
    const EOF: &[u8] = &[0xfe, 0, 0, 2, 0];
    const EOF_MORE: &[u8] = &[0xfe, 0, 0, 0x0a, 0];
    const OK_END: &[u8] = &[0xfe, 0, 0, 2, 0, 0, 0];
    const DEADLOCK: &[u8] = b"\xff\xbd\x04#40001Deadlock found";

    fn stream(payloads: &[&[u8]]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (sequence, payload) in payloads.iter().enumerate() {
            let length = (payload.len() as u32).to_le_bytes();
            bytes.extend([length[0], length[1], length[2], sequence as u8]);
            bytes.extend(*payload);
        }
        bytes
    }

    /// The outcome of an answer that arrives in pieces; it must come with the very last byte.
    fn follow(mut response: Response, pieces: &[&[u8]]) -> Option<Outcome> {
        let mut frames = Frames::default();
        let (mut outcome, mut expected) = (None, 0);
        for piece in pieces {
            let mut bytes = *piece;
            while let Some(packet) = frames.next(&mut bytes, &mut expected) {
                assert_eq!(outcome, None, "the answer went on after its end");
                outcome = response.take(packet.unwrap());
            }
        }
        outcome
    }

    fn follow_everywhere(response: Response, payloads: &[&[u8]]) -> Option<Outcome> {
        let bytes = stream(payloads);
        let whole = follow(response, &[&bytes]);
        for cut in 0..bytes.len() {
            let (left, right) = bytes.split_at(cut);
            assert_eq!(follow(response, &[left]), None, "ended early at byte {cut}");
            assert_eq!(follow(response, &[left, right]), whole, "split at byte {cut}");
        }
        whole
    }

    #[test]
    fn an_ok_packet_gives_the_rows_changed() {
        let outcome = follow_everywhere(Response::to_query(true), &[OK_PACKET]);
        assert_eq!(outcome, Some(Outcome::Done { rows: 3 }));
    }

    #[test]
    fn a_result_set_counts_its_rows_with_and_without_eof_packets() {
        let rows: [&[u8]; 3] = [b"\x01a", b"\xfb", b"\x00"];
        let modern = [&[&[1u8][..], b"column"], &rows[..], &[OK_END]].concat();
        let classic = [&[&[1u8][..], b"column", EOF], &rows[..], &[EOF]].concat();
        let three = Some(Outcome::Done { rows: 3 });
        assert_eq!(follow_everywhere(Response::to_query(true), &modern), three);
        assert_eq!(follow_everywhere(Response::to_query(false), &classic), three);
    }

    #[test]
    fn a_row_that_begins_like_an_end_packet_is_distinguished_by_its_length() {
        let mut row = vec![0xfe];
        row.resize(300, b'x');
        let payloads: [&[u8]; 5] = [&[1], b"column", EOF, &row, EOF];
        let outcome = follow_everywhere(Response::to_query(false), &payloads);
        assert_eq!(outcome, Some(Outcome::Done { rows: 1 }));
    }

    #[test]
    fn an_error_in_place_of_the_answer_or_of_a_row_is_the_outcome() {
        let deadlock = Some(Outcome::Failed(ServerError::new(1213, "Deadlock found")));
        assert_eq!(follow_everywhere(Response::to_query(true), &[DEADLOCK]), deadlock);
        let payloads: [&[u8]; 4] = [&[1], b"column", b"\x01a", DEADLOCK];
        assert_eq!(follow_everywhere(Response::to_query(true), &payloads), deadlock);
    }

    #[test]
    fn several_results_of_one_statement_are_one_answer() {
        let payloads: [&[u8]; 6] = [&[1], b"column", EOF, b"\x01a", EOF_MORE, OK_PACKET];
        let outcome = follow_everywhere(Response::to_query(false), &payloads);
        assert_eq!(outcome, Some(Outcome::Done { rows: 4 }));
    }

    #[test]
    fn a_prepare_ends_after_its_last_definition() {
        let ok = |columns, parameters| [0, 9, 0, 0, 0, columns, 0, parameters, 0, 0, 0, 0];
        let ready = Some(Outcome::Prepared { statement_id: 9 });
        for (columns, parameters) in [(0, 0), (0, 2), (1, 0), (1, 2), (3, 1)] {
            for no_eof in [true, false] {
                let head = ok(columns, parameters);
                let mut payloads: Vec<&[u8]> = vec![&head];
                for count in [parameters, columns].into_iter().filter(|&count| count > 0) {
                    payloads.extend(std::iter::repeat_n(&b"definition"[..], count.into()));
                    if !no_eof {
                        payloads.push(EOF);
                    }
                }
                let outcome = follow_everywhere(Response::to_prepare(no_eof), &payloads);
                assert_eq!(outcome, ready, "{columns} columns, {parameters} parameters");
            }
        }
    }

    #[test]
    fn more_columns_than_a_table_can_have_are_malformed() {
        for count in [&[0xfc, 0x01, 0x10][..], &[0xfe, 255, 255, 255, 255, 255, 255, 255, 255]] {
            let outcome = follow_everywhere(Response::to_query(true), &[count]);
            let Some(Outcome::Failed(error)) = outcome else { panic!("{outcome:?}") };
            assert_eq!(error.code, code::MALFORMED_PACKET);
        }
    }

    #[test]
    fn a_request_for_a_local_file_is_refused() {
        let outcome = follow_everywhere(Response::to_query(true), &[b"\xfb/etc/passwd"]);
        let Some(Outcome::Failed(error)) = outcome else { panic!("{outcome:?}") };
        assert_eq!(error.code, code::MALFORMED_PACKET);
    }

    proptest! {
        #[test]
        fn no_bytes_from_a_server_make_the_engine_panic(
            payloads in vec(vec(any::<u8>(), 0..40), 0..20),
            no_eof: bool,
            prepare: bool,
        ) {
            let mut response =
                if prepare { Response::to_prepare(no_eof) } else { Response::to_query(no_eof) };
            for payload in &payloads {
                let packet = Packet { length: payload.len() as u32, sequence: 0, head: payload };
                if response.take(packet).is_some() {
                    break;
                }
            }
        }
    }
}
