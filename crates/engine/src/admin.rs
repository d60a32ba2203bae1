//! A plain blocking connection, for preparing tables, reading status and asking whether the
//! server is there.

mod elsewhere;
mod loading;
mod opening;
mod refusal;
mod rows;

use std::io::{self, BufReader, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::os::address::Address;
use crate::os::signals;
use crate::protocol::frames::{Packet, in_order};
use crate::protocol::handshake::{Handshake, Login, Session, Step, answer_to};
use crate::protocol::response::{Outcome, Response};
use crate::protocol::{ServerError, code, commands, compression, length_encoded, tls};
use crate::workload::Literal;
use elsewhere::Elsewhere;
use opening::{Stream, open};
use rows::{is_numeric, text_columns, word};

pub use refusal::connect_failure;

const READ_BUFFER: usize = 64 * 1024;
/// How long a server may take to accept and authenticate, whatever an answer may take.
const LOGIN_LIMIT: Duration = Duration::from_secs(20);
/// What logging in is given at least: it takes longer than an answer.
const LEAST_LOGIN_LIMIT: Duration = Duration::from_secs(1);
/// A longer row is no answer to what is asked here.
const MOST_ROW: usize = 32 << 20;
/// Memory that the rows of an answer may take, those of a dictionary of words included.
const MOST_ANSWER: usize = 64 << 20;
/// Memory of a kept row or column beside its bytes.
const ROW_OVERHEAD: usize = 64;
/// What is left of an answer's time once the run is ending.
const HURRY: Duration = Duration::from_secs(2);

pub struct Admin {
    /// Buffered for reading: the rows of a status query are 500 small packets.
    stream: BufReader<Box<dyn Stream>>,
    session: Session,
    input: Vec<u8>,
    output: Vec<u8>,
    /// How long an answer may take, and until when the one under way may.
    patience: Duration,
    deadline: Instant,
    /// Part of the answer has come.
    begun: bool,
    /// The number that the server's next packet must have.
    next_number: u8,
    /// Where to ask whether the server still works on a statement, before its answer is given up.
    elsewhere: Option<Elsewhere>,
    /// Once set, answers must come soon.
    hurry: Option<Arc<AtomicBool>>,
    /// Whether an interruption ends the waiting.
    heeds_signals: bool,
    server_pid: Option<u32>,
}

/// Rows of text columns; NULL is `None`.
pub type Rows = Vec<Vec<Option<String>>>;

impl Admin {
    /// Connects and authenticates. Any answer, also a later one, is given up after `patience`. Errors
    /// have the server's code, or the client's usual one.
    pub fn connect(
        address: &Address,
        login: &Login,
        patience: Duration,
    ) -> Result<Self, ServerError> {
        let limit = patience.clamp(LEAST_LOGIN_LIMIT, LOGIN_LIMIT);
        let mut admin = Self::connect_within(address, login, limit)?;
        admin.patience = patience;
        Ok(admin)
    }

    /// The same, with one limit for connecting, authenticating and each answer.
    pub fn connect_within(
        address: &Address,
        login: &Login,
        limit: Duration,
    ) -> Result<Self, ServerError> {
        let deadline = Instant::now() + limit;
        let (stream, server_pid) = open(address, limit)?;
        let mut admin = Self {
            stream: BufReader::with_capacity(READ_BUFFER, stream),
            session: Session::default(),
            input: Vec::new(),
            output: Vec::new(),
            patience: limit,
            deadline,
            begun: false,
            next_number: 0,
            elsewhere: None,
            hurry: None,
            heeds_signals: true,
            server_pid,
        };
        admin.login(login)?;
        Ok(admin)
    }

    pub fn session(&self) -> &Session {
        &self.session
    }

    /// The server's process, when it listens on a unix socket and can be seen from here.
    pub fn server_pid(&self) -> Option<u32> {
        self.server_pid
    }

    /// Waits for answers even after an interruption: for tidying up.
    pub fn ignore_signals(&mut self) {
        self.heeds_signals = false;
    }

    /// Gives up on any later answer that takes longer than `limit`.
    pub fn answer_within(&mut self, limit: Duration) {
        self.patience = limit;
    }

    /// Waits for answers as long as the server's process list has the statement: loading and indexing
    /// may take hours.
    pub fn wait_while_running(
        &mut self,
        address: &Address,
        login: &Login,
    ) -> Result<(), ServerError> {
        // A proxy greets with a number of its own.
        let rows = self.query("SELECT CONNECTION_ID()")?;
        self.elsewhere = Some(Elsewhere {
            address: address.clone(),
            login: Login { database: None, ..login.clone() },
            connection: rows.into_iter().flatten().flatten().next().unwrap_or_default(),
            full: 0,
        });
        Ok(())
    }

    /// Gives up soon on any answer once the flag is set.
    pub fn hurry_once(&mut self, flag: Arc<AtomicBool>) {
        self.hurry = Some(flag);
    }

    /// Runs a statement and gives the number of rows that it changed or returned.
    pub fn execute(&mut self, sql: &[u8]) -> Result<u64, ServerError> {
        self.run(sql, |_| {})
    }

    /// Runs a query and gives its rows.
    pub fn query(&mut self, sql: &str) -> Result<Rows, ServerError> {
        let mut rows = Rows::new();
        let mut size = 0;
        self.fetch(sql.as_bytes(), |payload| {
            if size <= MOST_ANSWER {
                let row = text_columns(payload);
                size += payload.len() + ROW_OVERHEAD * (row.len() + 1);
                rows.push(row);
            }
        })?;
        if size <= MOST_ANSWER { Ok(rows) } else { Err(too_long()) }
    }

    /// Runs a statement, shows each row as it came (columns as length-encoded text), and gives the
    /// number of rows that it changed or returned.
    pub fn fetch(&mut self, sql: &[u8], mut look: impl FnMut(&[u8])) -> Result<u64, ServerError> {
        let mut columns_left = None;
        let no_eof = self.session.no_eof;
        self.run(sql, |payload| match columns_left {
            None => {
                let count = length_encoded(payload).map_or(0, |(count, _)| count);
                // The definitions, then an EOF packet for servers that still send it.
                columns_left = Some(count + u64::from(!no_eof));
            }
            Some(0) => look(payload),
            Some(left) => columns_left = Some(left - 1),
        })
    }

    /// Runs a query and gives its first column: numbers of number columns, texts of all others.
    pub fn first_column(&mut self, sql: &str) -> Result<Vec<Literal>, ServerError> {
        let mut words = Vec::new();
        let mut size = 0;
        let mut columns_left = None;
        let mut numeric = None;
        let no_eof = self.session.no_eof;
        self.run(sql.as_bytes(), |payload| match columns_left {
            None => {
                let count = length_encoded(payload).map_or(0, |(count, _)| count);
                columns_left = Some(count + u64::from(!no_eof));
            }
            Some(0) if size <= MOST_ANSWER => {
                size += payload.len() + ROW_OVERHEAD;
                words.push(word(payload, numeric == Some(true)));
            }
            Some(0) => {}
            Some(left) => {
                numeric.get_or_insert_with(|| is_numeric(payload));
                columns_left = Some(left - 1);
            }
        })?;
        if size <= MOST_ANSWER { Ok(words) } else { Err(too_long()) }
    }

    /// Sends a statement; its answer is to be read next.
    fn ask(&mut self, sql: &[u8]) -> Result<(), ServerError> {
        self.output.clear();
        commands::query(sql, &mut self.output);
        self.begin_waiting();
        self.flush()?;
        self.next_number = commands::answer_number(&self.output);
        Ok(())
    }

    fn begin_waiting(&mut self) {
        self.deadline = Instant::now() + self.patience;
        self.begun = false;
    }

    fn run(&mut self, sql: &[u8], look: impl FnMut(&[u8])) -> Result<u64, ServerError> {
        let connection = self.session.connection_id;
        self.follow(sql, look).map_err(|error| match error.is_malformed() {
            true => {
                let own = format!("the engine's own connection (id {connection})");
                ServerError::new(error.code, format!("{own}: {}", error.message))
            }
            false => error,
        })
    }

    fn follow(&mut self, sql: &[u8], mut look: impl FnMut(&[u8])) -> Result<u64, ServerError> {
        self.ask(sql)?;
        let mut response = Response::to_query(self.session.no_eof);
        loop {
            let (length, sequence) = self.read_packet()?;
            let packet = Packet { length, sequence, head: &self.input };
            match response.take(packet) {
                None => look(&self.input),
                Some(Outcome::Done { rows }) => return Ok(rows),
                Some(Outcome::Failed(error)) => return Err(error),
                Some(Outcome::Prepared { .. }) => unreachable!("nothing was prepared"),
            }
        }
    }

    fn login(&mut self, login: &Login) -> Result<(), ServerError> {
        let mut handshake = Handshake::default();
        loop {
            let (length, sequence) = self.read_packet()?;
            let packet = Packet { length, sequence, head: &self.input };
            self.output.clear();
            match handshake.take(login, packet, &mut self.output) {
                Step::Continue if self.output.is_empty() => {}
                Step::Continue => self.answer()?,
                Step::Encrypt => {
                    self.flush()?;
                    self.encrypt(login)?;
                    self.output = handshake.login();
                    self.answer()?;
                }
                Step::Done => break,
                Step::Failed(error) => return Err(error),
            }
        }
        self.session = handshake.into_session();
        if let Some(algorithm) = self.session.compression {
            if !self.stream.buffer().is_empty() {
                return Err(compression::not_compressed());
            }
            self.wrap(|plain| Box::new(compression::Stream::new(plain, algorithm)));
        }
        Ok(())
    }

    /// Sends a packet of the handshake.
    fn answer(&mut self) -> Result<(), ServerError> {
        self.next_number = answer_to(&self.output);
        self.flush()
    }

    fn encrypt(&mut self, login: &Login) -> Result<(), ServerError> {
        if !self.stream.buffer().is_empty() {
            return Err(tls::not_encrypted());
        }
        let session = login.tls.as_ref().expect("the handshake wants it").session()?;
        self.wrap(|plain| Box::new(session.over(plain)));
        Ok(())
    }

    /// Puts a layer over the stream.
    fn wrap(&mut self, layer: impl FnOnce(Box<dyn Stream>) -> Box<dyn Stream>) {
        let inner = std::mem::replace(self.stream.get_mut(), Box::new(io::empty()));
        *self.stream.get_mut() = layer(inner);
    }

    fn flush(&mut self) -> Result<(), ServerError> {
        let mut sent = 0;
        while sent < self.output.len() {
            match self.stream.get_mut().write(&self.output[sent..]) {
                Ok(count) => sent += count,
                Err(error) if is_timeout(&error) => {
                    self.heed_signals()?;
                    self.wait_on()?;
                }
                Err(error) => {
                    let message = format!("server gone: {error}");
                    let gone = ServerError::new(code::SERVER_GONE, message);
                    return Err(cause(&error).unwrap_or(gone));
                }
            }
        }
        Ok(())
    }

    /// Reads one packet into `input`; gives its length and sequence number. A payload that fills its
    /// packet goes on in the next one.
    fn read_packet(&mut self) -> Result<(u32, u8), ServerError> {
        const FULL: usize = 0xff_ffff;
        let mut input = std::mem::take(&mut self.input);
        input.clear();
        let read = loop {
            match self.read_part(&mut input) {
                Ok((FULL, _)) if input.len() < MOST_ROW => {}
                Ok((FULL, _)) => break Err(too_long()),
                Ok((_, number)) => break Ok((input.len() as u32, number)),
                Err(error) => break Err(error),
            }
        };
        self.input = input;
        read
    }

    /// Appends the payload of the next packet; gives its length and number.
    fn read_part(&mut self, input: &mut Vec<u8>) -> Result<(usize, u8), ServerError> {
        let mut header = [0u8; 4];
        self.read_exact_into(&mut header)?;
        let length = u32::from_le_bytes([header[0], header[1], header[2], 0]) as usize;
        let start = input.len();
        // Memory grows with what comes, not with what is announced.
        while input.len() < start + length {
            let end = input.len();
            input.resize((start + length).min(end + READ_BUFFER), 0);
            self.read_exact_into(&mut input[end..])?;
        }
        let ordered = in_order(header[3], &input[start..], &mut self.next_number);
        // A server that compresses gives packets other numbers.
        if self.session.compression.is_none() {
            ordered?;
        }
        Ok((length, header[3]))
    }

    fn read_exact_into(&mut self, mut space: &mut [u8]) -> Result<(), ServerError> {
        while !space.is_empty() {
            // What has come is taken without a look at the clock.
            if self.stream.buffer().is_empty() {
                self.wait_on()?;
            }
            match self.stream.read(space) {
                Ok(0) => return Err(lost("it closed the connection")),
                Ok(count) => {
                    self.begun = true;
                    space = &mut space[count..];
                }
                Err(error) if is_timeout(&error) => self.heed_signals()?,
                Err(error) => {
                    return Err(cause(&error).unwrap_or_else(|| lost(&error.to_string())));
                }
            }
        }
        Ok(())
    }

    /// A silent server is not waited for after a signal; what answers at once may go on.
    fn heed_signals(&self) -> Result<(), ServerError> {
        let interrupted = self.heeds_signals && signals::interrupted();
        if interrupted { Err(lost("interrupted")) } else { Ok(()) }
    }

    /// Whether to go on waiting for the server: an answer that has begun must be whole in time, and one
    /// that has not may take longer if the server says that it works on the statement.
    fn wait_on(&mut self) -> Result<(), ServerError> {
        let now = Instant::now();
        if self.hurry.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed)) {
            self.deadline = self.deadline.min(now + HURRY);
        }
        if now < self.deadline {
            return Ok(());
        }
        match &mut self.elsewhere {
            Some(elsewhere) if !self.begun => elsewhere.ask()?,
            _ => {
                let seconds = self.patience.as_secs_f64();
                return Err(lost(&format!("no answer within {seconds} s")));
            }
        }
        self.deadline = now + self.patience;
        Ok(())
    }
}

fn too_long() -> ServerError {
    let message = format!("the server's answer is longer than {} MiB", MOST_ANSWER >> 20);
    ServerError::new(code::MALFORMED_PACKET, message)
}

fn lost(reason: &str) -> ServerError {
    ServerError::new(code::SERVER_LOST, format!("lost connection to the server: {reason}"))
}

impl Drop for Admin {
    fn drop(&mut self) {
        self.output.clear();
        commands::quit(&mut self.output);
        // The write gives up by itself when the server takes nothing.
        let _ = self.stream.get_mut().write(&self.output);
    }
}

/// The error of the stream, where a layer of it is the cause.
fn cause(error: &io::Error) -> Option<ServerError> {
    tls::cause(error).or_else(|| compression::cause(error))
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A server that says this, whatever it is sent, and closes.
    struct Said(io::Cursor<Vec<u8>>);

    impl Read for Said {
        fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
            self.0.read(space)
        }
    }

    impl Write for Said {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn connected_to(said: Vec<u8>) -> Admin {
        let stream: Box<dyn Stream> = Box::new(Said(io::Cursor::new(said)));
        Admin {
            stream: BufReader::new(stream),
            session: Session::default(),
            input: Vec::new(),
            output: Vec::new(),
            patience: Duration::from_secs(1),
            deadline: Instant::now() + Duration::from_secs(1),
            begun: false,
            next_number: 0,
            elsewhere: None,
            hurry: None,
            heeds_signals: false,
            server_pid: None,
        }
    }

    /// Announces 16 MB, sends ten bytes of them, and closes.
    #[test]
    fn a_packet_that_is_announced_takes_no_memory_before_it_comes() {
        let mut admin = connected_to([&[0xfe, 0xff, 0xff, 0][..], b"ten bytes."].concat());
        assert_eq!(admin.read_packet().unwrap_err().code, code::SERVER_LOST);
        assert!(admin.input.capacity() <= 2 * READ_BUFFER, "{}", admin.input.capacity());
    }

    #[test]
    fn an_answer_without_a_request_for_the_file_has_loaded_nothing() {
        let ok = [7, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0];
        let mut admin = connected_to(ok.to_vec());
        let error = admin.load(b"LOAD DATA", |_| panic!("nothing is sent")).unwrap_err();
        assert_eq!(error.code, code::MALFORMED_PACKET);
        assert!(error.message.contains("did not request the file"), "{}", error.message);
    }

    #[test]
    fn a_file_is_sent_when_it_is_requested() {
        let request = [&[5, 0, 0, 1, 0xfb][..], b"rows"].concat();
        let ok = [7, 0, 0, 4, 0, 2, 0, 2, 0, 1, 0];
        let mut admin = connected_to([&request[..], &ok].concat());
        let mut pieces = [&b"1\n2\n"[..], b""].into_iter();
        let loaded = admin.load(b"LOAD DATA", |out| out.extend_from_slice(pieces.next().unwrap()));
        let loaded = loaded.unwrap();
        assert_eq!((loaded.rows, loaded.warnings), (2, 1));
    }
}
