//! A plain blocking connection, for preparing tables, reading status and asking whether the
//! server is there.

use std::io::{self, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::net::sockopt;

use crate::failure::{Fatal, FatalCode};
use crate::os::address::{Address, Dial};
use crate::os::signals;
use crate::protocol::frames::Packet;
use crate::protocol::handshake::{Handshake, Login, Session, Step};
use crate::protocol::response::{Outcome, Response};
use crate::protocol::{ServerError, code, commands, length_encoded};
use crate::workload::Literal;

/// How often a waiting read looks for an interruption.
const LOOK_UP: Duration = Duration::from_millis(200);
const READ_BUFFER: usize = 64 * 1024;
/// Time after which a full queue of a listening socket is tried again.
const REDIAL: Duration = Duration::from_millis(5);
/// How long a server may take to accept and authenticate.
const LOGIN_LIMIT: Duration = Duration::from_secs(20);
/// How long an answer may take unless said otherwise.
const ANSWER_LIMIT: Duration = Duration::from_secs(60);
/// How long a server may take to let another connection in.
const ALIVE_LIMIT: Duration = Duration::from_secs(10);
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
    /// Where to ask whether the server still answers others, before an answer is given up.
    elsewhere: Option<(Address, Login)>,
    /// Once set, answers must come soon.
    hurry: Option<Arc<AtomicBool>>,
    /// Whether an interruption ends the waiting.
    heeds_signals: bool,
    server_pid: Option<u32>,
}

/// Rows of text columns; NULL is `None`.
pub type Rows = Vec<Vec<Option<String>>>;

trait Stream: Read + Write + Send {}
impl<T: Read + Write + Send> Stream for T {}

impl Admin {
    /// Connects and authenticates. Errors have the server's code, or the client's usual one.
    pub fn connect(address: &Address, login: &Login) -> Result<Self, ServerError> {
        Self::connect_within(address, login, LOGIN_LIMIT)
    }

    pub fn connect_within(
        address: &Address,
        login: &Login,
        limit: Duration,
    ) -> Result<Self, ServerError> {
        let (stream, server_pid) = open(address, limit)?;
        let mut admin = Self {
            stream: BufReader::with_capacity(READ_BUFFER, stream),
            session: Session::default(),
            input: Vec::new(),
            output: Vec::new(),
            patience: limit,
            deadline: Instant::now() + limit,
            elsewhere: None,
            hurry: None,
            heeds_signals: true,
            server_pid,
        };
        admin.login(login)?;
        admin.patience = ANSWER_LIMIT;
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

    /// Waits for answers as long as the server lets others in: loading and indexing may take hours.
    pub fn wait_while_alive(&mut self, address: &Address, login: &Login) {
        self.elsewhere = Some((address.clone(), Login { database: None, ..login.clone() }));
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
        self.fetch(sql.as_bytes(), |payload| rows.push(text_columns(payload)))?;
        Ok(rows)
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
        let mut columns_left = None;
        let mut numeric = None;
        let no_eof = self.session.no_eof;
        self.run(sql.as_bytes(), |payload| match columns_left {
            None => {
                let count = length_encoded(payload).map_or(0, |(count, _)| count);
                columns_left = Some(count + u64::from(!no_eof));
            }
            Some(0) => words.push(word(payload, numeric == Some(true))),
            Some(left) => {
                numeric.get_or_insert_with(|| is_numeric(payload));
                columns_left = Some(left - 1);
            }
        })?;
        Ok(words)
    }

    fn run(&mut self, sql: &[u8], mut look: impl FnMut(&[u8])) -> Result<u64, ServerError> {
        self.output.clear();
        commands::query(sql, &mut self.output);
        self.deadline = Instant::now() + self.patience;
        self.flush()?;
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
                Step::Continue => self.flush()?,
                Step::Done => break,
                Step::Failed(error) => return Err(error),
            }
        }
        self.session = handshake.into_session();
        Ok(())
    }

    fn flush(&mut self) -> Result<(), ServerError> {
        let mut sent = 0;
        while sent < self.output.len() {
            match self.stream.get_mut().write(&self.output[sent..]) {
                Ok(count) => sent += count,
                Err(error) if is_timeout(&error) => self.wait_on()?,
                Err(error) => {
                    let message = format!("server gone: {error}");
                    return Err(ServerError::new(code::SERVER_GONE, message));
                }
            }
        }
        Ok(())
    }

    /// Reads one packet into `input`; gives its length and sequence number.
    fn read_packet(&mut self) -> Result<(u32, u8), ServerError> {
        let mut header = [0u8; 4];
        self.read_exact_into(&mut header)?;
        let length = u32::from_le_bytes([header[0], header[1], header[2], 0]);
        let mut input = std::mem::take(&mut self.input);
        input.resize(length as usize, 0);
        let read = self.read_exact_into(&mut input);
        self.input = input;
        read.map(|()| (length, header[3]))
    }

    fn read_exact_into(&mut self, mut space: &mut [u8]) -> Result<(), ServerError> {
        while !space.is_empty() {
            match self.stream.read(space) {
                Ok(0) => return Err(lost("it closed the connection")),
                Ok(count) => space = &mut space[count..],
                Err(error) if is_timeout(&error) => self.wait_on()?,
                Err(error) => return Err(lost(&error.to_string())),
            }
        }
        Ok(())
    }

    /// The server has been silent for a moment: whether to go on waiting.
    fn wait_on(&mut self) -> Result<(), ServerError> {
        if self.heeds_signals && signals::interrupted() {
            return Err(lost("interrupted"));
        }
        let now = Instant::now();
        if self.hurry.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed)) {
            self.deadline = self.deadline.min(now + HURRY);
        }
        if now < self.deadline {
            return Ok(());
        }
        let Some((address, login)) = &self.elsewhere else {
            return Err(lost(&format!("no answer within {} s", self.patience.as_secs_f64())));
        };
        match Self::connect_within(address, login, ALIVE_LIMIT) {
            Err(error) if error.code != code::TOO_MANY_CONNECTIONS => Err(error),
            _ => {
                self.deadline = now + self.patience;
                Ok(())
            }
        }
    }
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

/// What a failed connection means for the run.
pub fn connect_failure(error: &ServerError) -> Fatal {
    match error.code {
        code::ACCESS_DENIED | code::DATABASE_DENIED | code::AUTH_PLUGIN => {
            Fatal::new(FatalCode::Auth, error.to_string())
                .hint("check target.user and target.password of the job")
        }
        code::TOO_MANY_CONNECTIONS => Fatal::new(FatalCode::Connect, error.to_string())
            .hint("the server has no connection left: raise max_connections"),
        code::SOCKET_CONNECT | code::HOST_CONNECT => {
            Fatal::new(FatalCode::Connect, error.to_string())
                .hint("is the server running, and does it listen there?")
        }
        _ => Fatal::new(FatalCode::Connect, error.to_string()),
    }
}

/// The stream, and the process at its other end where that is known.
type Opened = (Box<dyn Stream>, Option<u32>);

fn open(address: &Address, limit: Duration) -> Result<Opened, ServerError> {
    let refused = |error| address.refused(error);
    match address {
        Address::Unix(_) => {
            let stream = UnixStream::from(dial(address, limit)?);
            stream.set_nonblocking(false).map_err(refused)?;
            stream.set_read_timeout(Some(LOOK_UP)).map_err(refused)?;
            stream.set_write_timeout(Some(LOOK_UP)).map_err(refused)?;
            let peer = sockopt::socket_peercred(&stream).ok();
            let pid = peer.map(|peer| peer.pid.as_raw_nonzero().get() as u32);
            Ok((Box::new(stream), pid))
        }
        Address::Tcp(to) => {
            let stream = TcpStream::connect_timeout(to, limit).map_err(refused)?;
            stream.set_nodelay(true).map_err(refused)?;
            stream.set_read_timeout(Some(LOOK_UP)).map_err(refused)?;
            stream.set_write_timeout(Some(LOOK_UP)).map_err(refused)?;
            Ok((Box::new(stream), None))
        }
    }
}

/// Connects to a unix socket. A blocking connect would wait for ever while the queue of a server
/// that hangs is full.
fn dial(address: &Address, limit: Duration) -> Result<OwnedFd, ServerError> {
    let deadline = Instant::now() + limit;
    loop {
        match address.dial() {
            Dial::Connected(socket) | Dial::UnderWay(socket) => return Ok(socket),
            Dial::Failed(error) => return Err(error),
            Dial::QueueFull if Instant::now() < deadline && !signals::interrupted() => {
                thread::sleep(REDIAL);
            }
            Dial::QueueFull => {
                let full = io::Error::new(io::ErrorKind::TimedOut, "its queue is full");
                return Err(address.refused(full));
            }
        }
    }
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted
    )
}

/// Whether a column definition is that of a whole or decimal number.
fn is_numeric(definition: &[u8]) -> bool {
    /// Catalog, schema, table and column with their aliases, then the length of what follows.
    const TEXTS: usize = 6;
    const CHARACTER_SET_AND_LENGTH: usize = 6;
    let mut rest = definition;
    for _ in 0..TEXTS {
        let Some((length, text)) = length_encoded(rest) else { return false };
        rest = text.get(length as usize..).unwrap_or_default();
    }
    let kind = rest.get(1 + CHARACTER_SET_AND_LENGTH);
    // DECIMAL to DOUBLE, LONGLONG and INT24, YEAR, NEWDECIMAL.
    matches!(kind, Some(0..=5 | 8 | 9 | 13 | 246))
}

/// The first column of a row.
fn word(row: &[u8], numeric: bool) -> Literal {
    let text = length_encoded(row).and_then(|(length, rest)| rest.get(..length as usize));
    match text {
        None => Literal::Null,
        Some(text) if numeric => {
            let number = str::from_utf8(text).ok().and_then(|text| text.parse().ok());
            number.map_or_else(|| Literal::Decimal(text.into()), Literal::Integer)
        }
        Some(text) => Literal::Text(text.into()),
    }
}

fn text_columns(mut payload: &[u8]) -> Vec<Option<String>> {
    const NULL: u8 = 0xfb;
    let mut columns = Vec::new();
    while let Some(&first) = payload.first() {
        if first == NULL {
            columns.push(None);
            payload = &payload[1..];
            continue;
        }
        let Some((length, rest)) = length_encoded(payload) else {
            break;
        };
        let Some((text, rest)) = rest.split_at_checked(length as usize) else {
            break;
        };
        columns.push(Some(String::from_utf8_lossy(text).into_owned()));
        payload = rest;
    }
    columns
}
