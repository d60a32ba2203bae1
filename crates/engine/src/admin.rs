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
use crate::protocol::frames::{Packet, in_order};
use crate::protocol::handshake::{Handshake, Login, Session, Step};
use crate::protocol::response::{Outcome, Response};
use crate::protocol::{ServerError, code, commands, length_encoded};
use crate::workload::Literal;

/// How often a waiting read looks for an interruption.
const LOOK_UP: Duration = Duration::from_millis(200);
const READ_BUFFER: usize = 64 * 1024;
/// Time after which a full queue of a listening socket is tried again.
const REDIAL: Duration = Duration::from_millis(5);
/// How long a server may take to accept and authenticate, whatever an answer may take.
const LOGIN_LIMIT: Duration = Duration::from_secs(20);
/// What logging in is given at least: it takes longer than an answer.
const LEAST_LOGIN_LIMIT: Duration = Duration::from_secs(1);
/// How long a server may take to let another connection in.
const ALIVE_LIMIT: Duration = Duration::from_secs(10);
/// How often in a row a full server is taken for one that still works on a statement.
const MOST_FULL: u32 = 10;
/// A longer row is no answer to what is asked here.
const MOST_ROW: usize = 32 << 20;
/// Memory that the rows of an answer may take, those of a dictionary of words included.
const MOST_ANSWER: usize = 64 << 20;
/// Memory of a kept row or column beside its bytes.
const ROW_OVERHEAD: usize = 64;
/// Columns that are read of a row (MySQL manual, "Table Column-Count Limits").
const MOST_COLUMNS: usize = 4096;
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

/// Another way in, to ask after this connection.
struct Elsewhere {
    address: Address,
    login: Login,
    /// The server's number of this connection.
    connection: String,
    /// How often in a row there was no room to ask.
    full: u32,
}

/// Rows of text columns; NULL is `None`.
pub type Rows = Vec<Vec<Option<String>>>;

trait Stream: Read + Write + Send {}
impl<T: Read + Write + Send> Stream for T {}

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

    fn run(&mut self, sql: &[u8], mut look: impl FnMut(&[u8])) -> Result<u64, ServerError> {
        self.output.clear();
        commands::query(sql, &mut self.output);
        self.deadline = Instant::now() + self.patience;
        self.begun = false;
        self.flush()?;
        self.next_number = commands::answer_number(&self.output);
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
                Step::Continue => {
                    self.flush()?;
                    if let Some(number) = self.output.get(3) {
                        self.next_number = number.wrapping_add(1);
                    }
                }
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
                Err(error) if is_timeout(&error) => {
                    self.heed_signals()?;
                    self.wait_on()?;
                }
                Err(error) => {
                    let message = format!("server gone: {error}");
                    return Err(ServerError::new(code::SERVER_GONE, message));
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
        input.resize(start + length, 0);
        self.read_exact_into(&mut input[start..])?;
        in_order(header[3], input.first(), &mut self.next_number)?;
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
                Err(error) => return Err(lost(&error.to_string())),
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

impl Elsewhere {
    /// Asks the server whether it still works on the connection's statement.
    fn ask(&mut self) -> Result<(), ServerError> {
        const ID: usize = 0;
        const COMMAND: usize = 4;
        let mut admin = match Admin::connect_within(&self.address, &self.login, ALIVE_LIMIT) {
            Err(error) if error.code == code::TOO_MANY_CONNECTIONS && self.full < MOST_FULL => {
                self.full += 1;
                return Ok(());
            }
            other => other?,
        };
        self.full = 0;
        let running = admin.query("SHOW PROCESSLIST")?.iter().any(|row| {
            let column = |at: usize| row.get(at).and_then(Option::as_deref);
            column(ID) == Some(self.connection.as_str())
                && column(COMMAND).is_some_and(|command| command != "Sleep")
        });
        if running {
            Ok(())
        } else {
            Err(lost("no answer, and its process list lacks the statement"))
        }
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

/// What a failed connection means for the run.
pub fn connect_failure(error: &ServerError, address: &Address) -> Fatal {
    let (kind, hint) = match error.code {
        code::AUTH_REFUSED => (
            FatalCode::Auth,
            "use the server's unix socket, or name its key with --server-public-key-path, or let the \
             account log in once over TLS (mysql --ssl-mode=REQUIRED): the server then has it in memory",
        ),
        code::SECURE_TRANSPORT => (FatalCode::Auth, UNENCRYPTED),
        code::ACCESS_DENIED if !address.is_local() => (FatalCode::Auth, DENIED_OVER_TCP),
        code::ACCESS_DENIED | code::DATABASE_DENIED | code::AUTH_PLUGIN => {
            (FatalCode::Auth, "check target.user and target.password of the job")
        }
        code::TOO_MANY_CONNECTIONS => {
            (FatalCode::Connect, "the server has no connection left: raise max_connections")
        }
        code::SOCKET_CONNECT | code::HOST_CONNECT => {
            (FatalCode::Connect, "is the server running, and does it listen there?")
        }
        code::TCP_CREATE => (FatalCode::Connect, NO_PORT),
        _ => return Fatal::new(FatalCode::Connect, error.to_string()),
    };
    Fatal::new(kind, error.to_string()).hint(hint)
}

const UNENCRYPTED: &str = "the engine does not encrypt: use the server's unix socket";
const DENIED_OVER_TCP: &str = "check user and password; an account with REQUIRE SSL is denied in the \
    same words, as the engine does not encrypt: use the server's unix socket";
const NO_PORT: &str = "widen net.ipv4.ip_local_port_range, set net.ipv4.tcp_tw_reuse = 1, keep \
    connections open, or use the server's unix socket";

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
    while let Some(&first) = payload.first()
        && columns.len() < MOST_COLUMNS
    {
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
