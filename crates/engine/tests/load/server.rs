//! A server that a test plays: it lets connections in, and answers as the test's script says.

use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// The server's answer to a statement.
pub enum Reply {
    Ok,
    /// Rows of text columns; NULL is `None`.
    Rows(&'static [&'static [Option<&'static str>]]),
    Error(u16, &'static str),
    Silence,
    HangUp,
}

impl Reply {
    pub fn silence() -> Self {
        Self::Silence
    }

    pub fn hang_up() -> Self {
        Self::HangUp
    }
}

/// What happened on which connection (numbered from 1 in the order of arrival), and when.
#[derive(Clone, Debug)]
pub struct Seen {
    pub connection: usize,
    pub what: String,
    pub at: Instant,
    /// Just before the answer to a statement is sent.
    pub answered: Option<Instant>,
}

type Script = Box<dyn Fn(usize, &str) -> Reply + Send + Sync>;

struct Shared {
    script: Script,
    most: usize,
    live: AtomicUsize,
    most_live: AtomicUsize,
    stop: AtomicBool,
    seen: Mutex<Vec<Seen>>,
}

pub struct Server {
    pub socket: PathBuf,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Answers every statement with OK.
    pub fn agreeable() -> Self {
        Self::start(usize::MAX, |_, _| Reply::Ok)
    }

    /// Lets at most `most` connections in at a time; `script` sees the connection's number and the
    /// statement.
    pub fn start(
        most: usize,
        script: impl Fn(usize, &str) -> Reply + Send + Sync + 'static,
    ) -> Self {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::SeqCst);
        let name = format!("mydyno-load-{}-{number}.sock", std::process::id());
        let socket = std::env::temp_dir().join(name);
        let listener = UnixListener::bind(&socket).unwrap();
        listener.set_nonblocking(true).unwrap();
        let shared = Arc::new(Shared {
            script: Box::new(script),
            most,
            live: AtomicUsize::new(0),
            most_live: AtomicUsize::new(0),
            stop: AtomicBool::new(false),
            seen: Mutex::new(Vec::new()),
        });
        let accepting = shared.clone();
        let thread = thread::spawn(move || accept(&listener, &accepting));
        Self { socket, shared, thread: Some(thread) }
    }

    /// Everything that happened: `open`, statements, `quit`.
    pub fn seen(&self) -> Vec<Seen> {
        self.shared.seen.lock().unwrap().clone()
    }

    pub fn count(&self, what: &str) -> usize {
        self.seen().iter().filter(|seen| seen.what == what).count()
    }

    /// Statements in order, without openings and farewells.
    pub fn statements(&self) -> Vec<String> {
        let all = self.seen().into_iter().map(|seen| seen.what);
        all.filter(|what| what != "open" && what != "quit").collect()
    }

    /// The most connections that were in at one time.
    pub fn most_live(&self) -> usize {
        self.shared.most_live.load(Ordering::SeqCst)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::SeqCst);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        let _ = std::fs::remove_file(&self.socket);
    }
}

fn accept(listener: &UnixListener, shared: &Arc<Shared>) {
    let mut number = 0;
    while !shared.stop.load(Ordering::SeqCst) {
        match listener.accept() {
            Ok((stream, _)) => {
                number += 1;
                let shared = shared.clone();
                thread::spawn(move || serve(stream, number, &shared));
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                thread::sleep(Duration::from_micros(200));
            }
            Err(error) => panic!("{error}"),
        }
    }
}

fn serve(mut stream: UnixStream, connection: usize, shared: &Shared) {
    stream.set_nonblocking(false).unwrap();
    let live = shared.live.fetch_add(1, Ordering::SeqCst) + 1;
    if live > shared.most {
        let _ = stream.write_all(&packet(0, &error(1040, "Too many connections")));
    } else {
        shared.most_live.fetch_max(live, Ordering::SeqCst);
        let _ = converse(&mut stream, connection, shared);
    }
    shared.live.fetch_sub(1, Ordering::SeqCst);
}

fn converse(stream: &mut UnixStream, connection: usize, shared: &Shared) -> Option<()> {
    let note = |what: &str| {
        let seen = Seen { connection, what: what.to_owned(), at: Instant::now(), answered: None };
        let mut all = shared.seen.lock().unwrap();
        all.push(seen);
        all.len() - 1
    };
    stream.write_all(&packet(0, &greeting())).ok()?;
    let (sequence, _) = read(stream)?;
    note("open");
    stream.write_all(&packet(sequence + 1, OK)).ok()?;
    loop {
        let (_, payload) = read(stream)?;
        match payload.split_first()? {
            (1, _) => {
                note("quit");
                return None;
            }
            (3, sql) => {
                let sql = String::from_utf8_lossy(sql);
                let place = note(&sql);
                let reply = (shared.script)(connection, &sql);
                shared.seen.lock().unwrap()[place].answered = Some(Instant::now());
                match reply {
                    Reply::Ok => stream.write_all(&packet(1, OK)).ok()?,
                    Reply::Rows(rows) => stream.write_all(&result(rows)).ok()?,
                    Reply::Error(code, text) => {
                        stream.write_all(&packet(1, &error(code, text))).ok()?;
                    }
                    Reply::Silence => {}
                    Reply::HangUp => return None,
                }
            }
            (command, _) => panic!("command {command}"),
        }
    }
}

const OK: &[u8] = &[0, 1, 0, 2, 0, 0, 0];

fn error(code: u16, text: &str) -> Vec<u8> {
    [&[0xff][..], &code.to_le_bytes(), b"#HY000", text.as_bytes()].concat()
}

/// A result set for a client that wants no EOF packets.
fn result(rows: &[&[Option<&str>]]) -> Vec<u8> {
    let columns = rows.first().map_or(1, |row| row.len());
    let mut definition = Vec::new();
    for text in ["def", "s", "t", "t", "c", "c"] {
        definition.push(text.len() as u8);
        definition.extend(text.bytes());
    }
    definition.extend([12, 45, 0, 11, 0, 0, 0, 253, 0, 0, 0, 0, 0]);
    let mut payloads = vec![vec![columns as u8]];
    payloads.extend((0..columns).map(|_| definition.clone()));
    for row in rows {
        let values = row.iter().flat_map(|value| match value {
            None => vec![0xfb],
            Some(text) => [&[text.len() as u8][..], text.as_bytes()].concat(),
        });
        payloads.push(values.collect());
    }
    payloads.push(vec![0xfe, 0, 0, 2, 0, 0, 0]);
    let numbered = payloads.iter().enumerate();
    numbered.flat_map(|(number, payload)| packet(number as u8 + 1, payload)).collect()
}

fn packet(sequence: u8, payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u32).to_le_bytes();
    [&[length[0], length[1], length[2], sequence], payload].concat()
}

fn read(stream: &mut UnixStream) -> Option<(u8, Vec<u8>)> {
    let mut header = [0u8; 4];
    stream.read_exact(&mut header).ok()?;
    let length = u32::from_le_bytes([header[0], header[1], header[2], 0]) as usize;
    let mut payload = vec![0u8; length];
    stream.read_exact(&mut payload).ok()?;
    Some((header[3], payload))
}

/// Protocol 10, version, connection, nonce, capabilities, character set, status, plugin.
fn greeting() -> Vec<u8> {
    const PROTOCOL_41: u32 = 1 << 9;
    const CONNECT_WITH_DB: u32 = 1 << 3;
    const TRANSACTIONS: u32 = 1 << 13;
    const SECURE: u32 = 1 << 15;
    const PLUGIN_AUTH: u32 = 1 << 19;
    const NO_EOF: u32 = 1 << 24;
    let able = (PROTOCOL_41 | CONNECT_WITH_DB | TRANSACTIONS | SECURE | PLUGIN_AUTH | NO_EOF)
        .to_le_bytes();
    [
        &b"\x0a10.11.0-played\0\x01\0\0\0abcdefgh\0"[..],
        &able[..2],
        &[45, 2, 0],
        &able[2..],
        &[21],
        &[0; 10],
        b"ijklmnopqrst\0mysql_native_password\0",
    ]
    .concat()
}
