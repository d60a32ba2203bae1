//! Servers that mean harm, and the whole engine against them: it ends within the time that the job gives an
//! answer, says why, and never needs much memory.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde_json::{Value, json};

const ANSWER_WITHIN_S: f64 = 1.0;
/// Several answers may be waited for one after the other, on a busy machine, by a debug build.
const MOST_SECONDS: u64 = 25;
const MOST_BYTES: u64 = 300 << 20;

/// What a server does instead of an answer.
#[derive(Clone, Copy, Debug)]
enum Trick {
    Silence,
    /// One byte of an endless packet a second.
    Drip,
    /// A packet of 16 MiB after the other, as fast as it goes.
    Flood,
    EndlessRows,
    EndlessColumns,
    WrongNumber,
    /// Every answer is an error of another code, with a long text.
    Errors,
    /// Other ways to authenticate, for ever.
    Switches,
    /// A clear password, please.
    ClearPassword,
    /// caching_sha2_password: all of the password, please; and here is a key of 512 bits.
    ShortKey,
    /// The server sends nothing more and goes on reading.
    HalfClosed,
    /// An OK packet that ends within its first number.
    Malformed,
    /// Another packet of the handshake than any that there is.
    Nonsense,
    /// LOAD DATA LOCAL of a file of the client, which did not ask for that.
    LocalFile,
    /// An error whose text commands a terminal.
    Escapes,
    /// One row of so many bytes, which is no trick but rare.
    Row(usize),
    /// All packets are right, and come one byte at a time.
    Bytes,
}

const MOST_PAYLOAD: usize = 0xff_ffff;
/// Sets the title, clears the screen (C0 and C1), turns the order of reading around.
const ESCAPES: &str = "\u{1b}]0;owned\u{7}\u{1b}[2J\u{9b}2J\u{202e}\u{2066}\u{7f}";

/// Where it begins.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Moment {
    Greeting,
    Login,
    /// A statement that begins so, on any connection.
    Statement(&'static str),
}

struct Outcome {
    status: Option<i32>,
    text: String,
    elapsed: Duration,
    peak_bytes: u64,
}

fn against(moment: Moment, trick: Trick) -> Outcome {
    run(&job(tricked(moment, trick)))
}

/// A target that plays a trick.
fn tricked(moment: Moment, trick: Trick) -> Value {
    listen(move |stream| match trick {
        Trick::Bytes => serve(ByteByByte(stream), moment, trick),
        _ => serve(stream, moment, trick),
    })
}

/// Starts a server that serves its connections so; gives where it is.
fn listen(serve: impl Fn(TcpStream) -> Option<()> + Copy + Send + 'static) -> Value {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    // It ends with the test: an accept cannot be called off.
    thread::spawn(move || {
        for stream in listener.incoming() {
            thread::spawn(move || serve(stream.unwrap()));
        }
    });
    json!({"host": "127.0.0.1", "port": port})
}

fn job(mut target: Value) -> Value {
    let who = json!({"user": "bench", "password": "correct horse", "database": "mydyno"});
    target.as_object_mut().unwrap().extend(who.as_object().unwrap().clone());
    let select = json!({"send": {"name": "select", "sql": ["SELECT 1"]}});
    json!({
        "protocol": 3,
        "target": target,
        "workload": {"program": {"name": "one", "transactions": [{"name": "one", "steps": [select]}]}},
        "prepare": "create",
        "phases": [{"connections": 2, "work": {"kind": "timed", "warmup_s": 0.2, "measure_s": 0.5}}],
        "sampling": {},
        "answer_within_s": ANSWER_WITHIN_S,
    })
}

fn run(job: &Value) -> Outcome {
    let begun = Instant::now();
    let mut child = Command::new(env!("CARGO_BIN_EXE_mydyno-engine"))
        .arg("run")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(job.to_string().as_bytes()).unwrap();
    let mut output = child.stdout.take().unwrap();
    let reader = thread::spawn(move || {
        let mut text = String::new();
        output.read_to_string(&mut text).unwrap();
        text
    });
    let (mut peak_bytes, mut status) = (0, None);
    while begun.elapsed() < Duration::from_secs(MOST_SECONDS) && status.is_none() {
        peak_bytes = peak_bytes.max(peak(child.id()));
        thread::sleep(Duration::from_millis(20));
        status = child.try_wait().unwrap();
    }
    let elapsed = begun.elapsed();
    let _ = child.kill();
    let _ = child.wait();
    let text = reader.join().unwrap();
    Outcome { status: status.and_then(|status| status.code()), text, elapsed, peak_bytes }
}

/// The most memory that a process has had so far; 0 once it has ended.
fn peak(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("0 kB");
    line.trim().strip_suffix(" kB").unwrap().parse::<u64>().unwrap() * 1024
}

/// A connection that the server can end in one direction.
trait Wire: Read + Write {
    fn socket(&self) -> &TcpStream;
}

impl Wire for TcpStream {
    fn socket(&self) -> &TcpStream {
        self
    }
}

impl Wire for StreamOwned<ServerConnection, TcpStream> {
    fn socket(&self) -> &TcpStream {
        &self.sock
    }
}

/// Sends each byte alone.
struct ByteByByte(TcpStream);

impl Read for ByteByByte {
    fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
        self.0.read(space)
    }
}

impl Write for ByteByByte {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(&bytes[..bytes.len().min(1)])
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Wire for ByteByByte {
    fn socket(&self) -> &TcpStream {
        &self.0
    }
}

fn serve(mut stream: impl Wire, moment: Moment, trick: Trick) -> Option<()> {
    let _ = stream.socket().set_nodelay(true);
    if moment == Moment::Greeting {
        return play(&mut stream, trick, 0);
    }
    stream.write_all(&packet(0, &greeting(false))).ok()?;
    let (number, _) = read(&mut stream)?;
    if moment == Moment::Login {
        return play(&mut stream, trick, number.wrapping_add(1));
    }
    stream.write_all(&packet(number + 1, OK)).ok()?;
    converse(stream, moment, trick)
}

fn converse(mut stream: impl Wire, moment: Moment, trick: Trick) -> Option<()> {
    loop {
        let (_, payload) = read(&mut stream)?;
        let (command, sql) = payload.split_first()?;
        let sql = String::from_utf8_lossy(sql);
        match moment {
            _ if *command != 3 => return None,
            Moment::Statement(start) if sql.starts_with(start) => play(&mut stream, trick, 1)?,
            _ if sql == "SELECT CONNECTION_ID()" || sql.starts_with("SHOW") => {
                let answer = [packet(1, &[1]), definition(2), packet(3, b"\x017"), packet(4, END)];
                stream.write_all(&answer.concat()).ok()?;
            }
            _ => stream.write_all(&packet(1, OK)).ok()?,
        }
    }
}

/// Plays the trick in place of an answer whose first packet has this number; `None` at the end of the
/// connection.
fn play(stream: &mut impl Wire, trick: Trick, number: u8) -> Option<()> {
    let mut number = number;
    match trick {
        Trick::Silence => loop {
            read(stream)?;
        },
        Trick::Drip => {
            stream.write_all(&[0xfe, 0xff, 0xff, number]).ok()?;
            loop {
                stream.write_all(b"\x0a").ok()?;
                thread::sleep(Duration::from_secs(1));
            }
        }
        Trick::Flood => loop {
            let body = vec![b'x'; 0xff_ffff];
            stream.write_all(&[&[0xff, 0xff, 0xff, number], &body[..]].concat()).ok()?;
            number = number.wrapping_add(1);
        },
        Trick::EndlessRows => {
            stream.write_all(&packet(number, &[1])).ok()?;
            stream.write_all(&definition(number.wrapping_add(1))).ok()?;
            number = number.wrapping_add(2);
            loop {
                let rows = (0..1000).flat_map(|_| {
                    number = number.wrapping_add(1);
                    packet(number.wrapping_sub(1), b"\x011")
                });
                let rows: Vec<u8> = rows.collect();
                stream.write_all(&rows).ok()?;
            }
        }
        Trick::EndlessColumns => {
            stream.write_all(&packet(number, &[0xfe, 255, 255, 255, 255, 255, 255, 0, 0])).ok()?;
            loop {
                number = number.wrapping_add(1);
                stream.write_all(&definition(number)).ok()?;
            }
        }
        Trick::WrongNumber => stream.write_all(&packet(number.wrapping_add(5), OK)).ok(),
        Trick::Errors => {
            static CODE: std::sync::atomic::AtomicU16 = std::sync::atomic::AtomicU16::new(3000);
            let code = CODE.fetch_add(1, std::sync::atomic::Ordering::Relaxed).max(2100);
            let text = [&[0xff][..], &code.to_le_bytes(), b"#HY000", &[b'x'; 60_000]].concat();
            stream.write_all(&packet(number, &text)).ok()
        }
        Trick::Switches => loop {
            let payload = b"\xfemysql_native_password\0abcdefghijklmnopqrst\0";
            stream.write_all(&packet(number, payload)).ok()?;
            number = read(stream)?.0.wrapping_add(1);
        },
        Trick::ClearPassword => {
            stream.write_all(&packet(number, b"\xfemysql_clear_password\0")).ok()?;
            note_answer(&read(stream)?.1);
            None
        }
        Trick::ShortKey => {
            let payload = b"\xfecaching_sha2_password\0abcdefghijklmnopqrst\0";
            stream.write_all(&packet(number, payload)).ok()?;
            let (number, _) = read(stream)?;
            stream.write_all(&packet(number.wrapping_add(1), &[1, 4])).ok()?;
            note_answer(&read(stream)?.1);
            None
        }
        Trick::HalfClosed => {
            stream.socket().shutdown(Shutdown::Write).ok()?;
            loop {
                read(stream)?;
            }
        }
        Trick::Malformed => stream.write_all(&packet(number, &[0, 0xfc])).ok(),
        Trick::Nonsense => stream.write_all(&packet(number, &[7, 8, 9])).ok(),
        Trick::LocalFile => {
            stream.write_all(&packet(number, b"\xfb/etc/passwd")).ok()?;
            note_answer(&read(stream)?.1);
            None
        }
        Trick::Escapes => {
            let text = [b"\xff\x15\x04#28000", ESCAPES.as_bytes()].concat();
            stream.write_all(&packet(number, &text)).ok()
        }
        Trick::Row(length) => {
            let mut row = vec![b'x'; length];
            row[0] = 0xfd;
            row[1..4].copy_from_slice(&(length as u32 - 4).to_le_bytes()[..3]);
            let mut answer = [packet(number, &[1]), definition(number + 1)].concat();
            number += 2;
            // One that fills its packets is followed by an empty one.
            for piece in 0..=length / MOST_PAYLOAD {
                let end = length.min((piece + 1) * MOST_PAYLOAD);
                answer.extend(packet(number, &row[piece * MOST_PAYLOAD..end]));
                number += 1;
            }
            answer.extend(packet(number, END));
            stream.write_all(&answer).ok()
        }
        Trick::Bytes => {
            let row = packet(number + 2, &[&[0xfc, 44, 1][..], &[b'x'; 300]].concat());
            let answer =
                [packet(number, &[1]), definition(number + 1), row, packet(number + 3, END)];
            stream.write_all(&answer.concat()).ok()
        }
    }
}

/// What the engine answered where it must only take its leave (COM_QUIT).
static ANSWERS: Mutex<Vec<Vec<u8>>> = Mutex::new(Vec::new());

fn note_answer(payload: &[u8]) {
    const QUIT: &[u8] = &[1];
    if payload != QUIT {
        ANSWERS.lock().unwrap().push(payload.to_vec());
    }
}

const OK: &[u8] = &[0, 0, 0, 2, 0, 0, 0];
const END: &[u8] = &[0xfe, 0, 0, 2, 0, 0, 0];

fn definition(number: u8) -> Vec<u8> {
    let names: Vec<u8> = ["def", "", "", "", "c", ""]
        .iter()
        .flat_map(|name| [&[name.len() as u8][..], name.as_bytes()].concat())
        .collect();
    packet(number, &[&names[..], &[12, 45, 0, 11, 0, 0, 0, 253, 0, 0, 0, 0, 0]].concat())
}

fn packet(number: u8, payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u32).to_le_bytes();
    [&[length[0], length[1], length[2], number], payload].concat()
}

fn read(stream: &mut impl Read) -> Option<(u8, Vec<u8>)> {
    let mut header = [0u8; 4];
    stream.read_exact(&mut header).ok()?;
    let mut payload = vec![0u8; u32::from_le_bytes([header[0], header[1], header[2], 0]) as usize];
    stream.read_exact(&mut payload).ok()?;
    Some((header[3], payload))
}

/// Protocol 10, version, connection, nonce, capabilities, character set, status, plugin.
fn greeting(tls: bool) -> Vec<u8> {
    // CONNECT_WITH_DB, COMPRESS, PROTOCOL_41, TRANSACTIONS, SECURE_CONNECTION, PLUGIN_AUTH, DEPRECATE_EOF.
    let able = 1u32 << 3 | 1 << 5 | 1 << 9 | 1 << 13 | 1 << 15 | 1 << 19 | 1 << 24;
    let able = (able | u32::from(tls) << 11).to_le_bytes();
    let head = b"\x0a8.4.0-hostile\0\x07\0\0\0abcdefgh\0";
    let tail = b"ijklmnopqrst\0mysql_native_password\0";
    [&head[..], &able[..2], &[45, 2, 0], &able[2..], &[21], &[0; 10], &tail[..]].concat()
}

/// Every run ended in time, saying so, needed little memory and commanded no terminal.
fn all_ended<'a>(outcomes: impl Iterator<Item = (String, &'a str, Outcome)>) {
    let mut wrong = Vec::new();
    for (case, said, Outcome { status, text, elapsed, peak_bytes }) in outcomes {
        let ended = matches!(status, Some(0 | 3)) && text.contains(said);
        let commands = text.lines().any(|line| line.contains(char::is_control));
        let secret = text.contains("correct horse");
        if !ended || commands || secret || peak_bytes > MOST_BYTES {
            let last = text.lines().last().unwrap_or_default();
            let last = &last[..last.len().min(600)];
            wrong.push(format!("{case}: {status:?} after {elapsed:?}, {peak_bytes} bytes: {last}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Runs each case; the engine says what it must, in time and in little memory.
fn check(cases: &[(Moment, Trick, &str)]) {
    // On a small machine more engines at a time take too long.
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let runs: Vec<_> = cases
        .iter()
        .map(|&(moment, trick, _)| thread::spawn(move || against(moment, trick)))
        .collect();
    all_ended(cases.iter().zip(runs).map(|((moment, trick, said), run)| {
        (format!("{moment:?} {trick:?}"), *said, run.join().unwrap())
    }));
    assert!(ANSWERS.lock().unwrap().is_empty(), "an answer to who asks for a password or a file");
}

#[test]
fn whatever_a_server_does_instead_of_an_answer_the_engine_ends_in_time_and_in_little_memory() {
    use Moment::{Greeting, Login, Statement};
    check(&[
        (Greeting, Trick::Silence, "no answer within 1 s"),
        (Greeting, Trick::Drip, "no answer within 1 s"),
        (Greeting, Trick::Flood, "\"fatal\""),
        (Greeting, Trick::WrongNumber, "out of order"),
        (Greeting, Trick::HalfClosed, "it closed the connection"),
        (Login, Trick::Silence, "no answer within 1 s"),
        (Login, Trick::Drip, "no answer within 1 s"),
        (Login, Trick::Flood, "\"fatal\""),
        (Login, Trick::WrongNumber, "out of order"),
        (Login, Trick::Switches, "another way to authenticate, again"),
        (Login, Trick::ClearPassword, "mysql_clear_password"),
        (Login, Trick::ShortKey, "--server-public-key"),
        (Login, Trick::HalfClosed, "it closed the connection"),
        (Login, Trick::Nonsense, "handshake: packet number 2 of 3 bytes: 07 08 09"),
        (Statement("SELECT CONNECTION_ID"), Trick::EndlessRows, "\"fatal\""),
        (Statement("CREATE"), Trick::Silence, "its process list lacks the statement"),
        (Statement("CREATE"), Trick::Drip, "no answer within 1 s"),
        (Statement("CREATE"), Trick::Flood, "\"fatal\""),
        (Statement("CREATE"), Trick::EndlessRows, "no answer within 1 s"),
        (Statement("CREATE"), Trick::EndlessColumns, "number of columns"),
        (
            Statement("CREATE"),
            Trick::WrongNumber,
            "out of order: number 6 in place of 1: 00 00 00 02",
        ),
        (Statement("CREATE"), Trick::HalfClosed, "it closed the connection"),
        (Statement("SELECT 1"), Trick::Silence, "\"exit\":\"aborted\""),
        (Statement("SELECT 1"), Trick::Drip, "\"exit\":\"aborted\""),
        (Statement("SELECT 1"), Trick::EndlessRows, "\"exit\":\"aborted\""),
        (Statement("SELECT 1"), Trick::EndlessColumns, "number of columns"),
        (Statement("SELECT 1"), Trick::WrongNumber, "out of order"),
        (Statement("SELECT 1"), Trick::HalfClosed, "the server closed it"),
        (Statement("SELECT 1"), Trick::Errors, "\"exit\":\"ok\""),
        (Statement("SHOW GLOBAL STATUS"), Trick::EndlessRows, "\"exit\":\"ok\""),
    ]);
}

#[test]
fn a_packet_that_cannot_be_is_shown_with_its_connection_its_number_and_its_bytes() {
    use Moment::{Login, Statement};
    let own = "the engine's own connection (id 7): the server sent a malformed packet (OK packet): \
               packet number 1 of 2 bytes: 00 fc";
    let loads = "connection 1: lost connection to the server: the server sent a malformed packet \
                 (OK packet): packet number 1 of 2 bytes: 00 fc";
    check(&[
        (Statement("CREATE"), Trick::Malformed, own),
        (Statement("SELECT 1"), Trick::Malformed, loads),
        (Statement("CREATE"), Trick::LocalFile, "request for a local file, which is refused"),
        (Statement("SELECT 1"), Trick::LocalFile, "request for a local file, which is refused"),
        (Login, Trick::Escapes, "\\u001b]0;owned\\u0007\\u001b[2J\\u009b2J\\u202e\\u2066\\u007f"),
        (Statement("SELECT 1"), Trick::Escapes, "\\u001b]0;owned\\u0007\\u001b[2J\\u009b2J"),
    ]);
}

#[test]
fn answers_of_sixteen_megabytes_and_of_single_bytes_are_read_to_their_end() {
    let one = Moment::Statement("SELECT 1");
    let lengths = [MOST_PAYLOAD - 1, MOST_PAYLOAD, MOST_PAYLOAD + 1];
    for trick in lengths.map(Trick::Row).into_iter().chain([Trick::Bytes]) {
        let mut job = job(tricked(one, trick));
        job["phases"][0]["work"] = json!({"kind": "rounds", "rounds": 3});
        job["answer_within_s"] = 20.into();
        let Outcome { text, peak_bytes, .. } = run(&job);
        let messages = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let end = messages.into_iter().find(|message| message["type"] == "phase_end").expect(&text);
        let select = &end["statements"]["select"];
        assert_eq!(end["errors"], json!({}), "{trick:?}");
        assert_eq!((&select["rows"], &select["count"]), (&json!(6), &json!(6)), "{trick:?}");
        assert!(peak_bytes < MOST_BYTES);
    }
}

/// A self-signed certificate and its key, made for this test alone.
const KEY: &str = "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgUrX0RXCX7CXbpxCMXHuItVMSIgaN8nbIrjZa\
    MsGVitahRANCAATgQU6g7obexd602aJjvyqKBwPzEyXL7Al8/DTeLUEtFjr29g3G6eMBUm+WYAdQrFt6/OhIjGRTdfoJ9cI3Ibv2";
const CERTIFICATE: &str = "MIIBdjCCARugAwIBAgIUD3PyXpu3Pe9bqVI3kAoY3qvTPYEwCgYIKoZIzj0EAwIwDzENMAsGA1UEAwwE\
    dGVzdDAgFw0yNjExMjMxMzE4MzBaGA8yMTI2MTAzMDEzMTgzMFowDzENMAsGA1UEAwwEdGVzdDBZMBMGByqGSM49AgEGCCqGSM49\
    AwEHA0IABOBBTqDuht7F3rTZomO/KooHA/MTJcvsCXz8NN4tQS0WOvb2Dcbp4wFSb5ZgB1CsW3r86EiMZFN1+gn1wjchu/ajUzBR\
    MB0GA1UdDgQWBBSDQbFfzXBigoKvgxZdGwHjwx/d8DAfBgNVHSMEGDAWgBSDQbFfzXBigoKvgxZdGwHjwx/d8DAPBgNVHRMBAf8E\
    BTADAQH/MAoGCCqGSM49BAMCA0kAMEYCIQDmEEd7rzkEKfpOU00KecVkTGfzVehr9xQM1dxJzuoy/AIhAOZkxltbKGQ6/PthP/WW\
    x8cYe122EyLYl1K7Q+pYDpnE";

/// Encrypts the first so many connections and offers the others no TLS.
fn serve_with_tls(mut stream: TcpStream, offers: bool, config: Arc<ServerConfig>) -> Option<()> {
    let _ = stream.set_nodelay(true);
    stream.write_all(&packet(0, &greeting(offers))).ok()?;
    if !offers {
        note_answer(&read(&mut stream)?.1);
        return None;
    }
    let (_, request) = read(&mut stream)?;
    assert_eq!(request.len(), 32, "the request for TLS, without a name");
    let mut stream = StreamOwned::new(ServerConnection::new(config).unwrap(), stream);
    let (number, _) = read(&mut stream)?;
    stream.write_all(&packet(number + 1, OK)).ok()?;
    converse(stream, Moment::Statement("no such statement"), Trick::Silence)
}

#[test]
fn where_tls_is_required_nothing_is_sent_to_a_server_that_offers_none_or_no_longer() {
    let certificate = CertificateDer::from(STANDARD.decode(CERTIFICATE).unwrap());
    let key = PrivatePkcs8KeyDer::from(STANDARD.decode(KEY).unwrap());
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], PrivateKeyDer::from(key))
        .unwrap();
    let config = Arc::new(config);
    // Of those that offer TLS the first connection is the engine's own, which prepares; then comes the sampler's.
    for (offered, said) in
        [(0, "\"fatal\""), (1, "no connection could be opened"), (usize::MAX, "\"exit\":\"ok\"")]
    {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let config = config.clone();
        thread::spawn(move || {
            for (number, stream) in listener.incoming().enumerate() {
                let config = config.clone();
                thread::spawn(move || serve_with_tls(stream.unwrap(), number < offered, config));
            }
        });
        let tls = json!({"mode": "required"});
        let mut job = job(json!({"host": "127.0.0.1", "port": port, "tls": tls}));
        job.as_object_mut().unwrap().remove("sampling");
        let text = run(&job).text;
        assert!(text.contains(said), "{offered}: {text}");
        assert_eq!(text.contains("does not offer TLS"), offered < usize::MAX, "{text}");
    }
    assert!(ANSWERS.lock().unwrap().is_empty(), "a name sent in clear");
}

/// What a server that compresses sends to a statement.
#[derive(Clone, Copy, Debug)]
enum Packed {
    /// Endless packets that are 1000 times as long once decompressed: a row that does not end.
    Bombs,
    /// Another length than announced.
    Lie,
    /// No compressed data.
    Noise,
    /// A packet that is not compressed, after the handshake.
    Plain,
}

#[test]
fn a_server_that_compresses_with_bad_intent_is_left_in_time_and_in_little_memory() {
    let cases = [
        ("SELECT CONNECTION_ID", Packed::Bombs, "\"fatal\""),
        ("SELECT CONNECTION_ID", Packed::Lie, "decompressed to the announced length"),
        ("SELECT 1", Packed::Bombs, "\"exit\":\"aborted\""),
        ("SELECT 1", Packed::Lie, "decompressed to the announced length"),
        ("SELECT 1", Packed::Noise, "decompressed to the announced length"),
        ("", Packed::Plain, "\"fatal\""),
    ];
    let runs = cases.map(|(start, trick, said)| {
        let mut target = listen(move |stream| serve_packed(stream, start, trick));
        target["compression"] = json!({"algorithms": ["zlib"]});
        let run = thread::spawn(move || run(&job(target)));
        (format!("{start} {trick:?}"), said, run)
    });
    all_ended(runs.into_iter().map(|(case, said, run)| (case, said, run.join().unwrap())));
}

/// A server until a statement begins with `start`.
fn serve_packed(mut stream: TcpStream, start: &str, trick: Packed) -> Option<()> {
    stream.write_all(&packet(0, &greeting(false))).ok()?;
    let (number, _) = read(&mut stream)?;
    stream.write_all(&packet(number + 1, OK)).ok()?;
    if matches!(trick, Packed::Plain) {
        return stream.write_all(&packet(1, OK)).ok();
    }
    loop {
        let command = read_packed(&mut stream)?;
        let sql = String::from_utf8_lossy(&command[5..]);
        let answer = match () {
            () if command[4] != 3 => return None,
            () if sql.starts_with(start) => return cheat(&mut stream, trick),
            () if sql == "SELECT CONNECTION_ID()" || sql.starts_with("SHOW") => {
                [packet(1, &[1]), definition(2), packet(3, b"\x017"), packet(4, END)].concat()
            }
            () => packet(1, OK),
        };
        stream.write_all(&packed(1, &answer, 0)).ok()?;
    }
}

fn cheat(stream: &mut TcpStream, trick: Packed) -> Option<()> {
    let answer = [packet(1, &[1]), definition(2)].concat();
    stream.write_all(&packed(1, &answer, 0)).ok()?;
    match trick {
        Packed::Bombs => {
            let row = packet(3, &vec![b'x'; 0xff_ffff]);
            let bomb = packed(2, &deflated(&row[..0xff_ffff]), 0xff_ffff);
            loop {
                stream.write_all(&bomb).ok()?;
            }
        }
        Packed::Lie => {
            stream.write_all(&packed(2, &deflated(&packet(3, &[b'x'; 100])), 0xff_ffff)).ok()?;
        }
        Packed::Noise => stream.write_all(&packed(2, &[0x55; 4000], 9000)).ok()?,
        Packed::Plain => unreachable!("it ends before"),
    }
    // The connection stays open: the engine must close it.
    read_packed(stream).and(None)
}

fn packed(number: u8, content: &[u8], before: u32) -> Vec<u8> {
    let (length, before) = ((content.len() as u32).to_le_bytes(), before.to_le_bytes());
    [&length[..3], &[number], &before[..3], content].concat()
}

fn deflated(plain: &[u8]) -> Vec<u8> {
    let mut out = vec![0; plain.len() / 2 + 1000];
    let mut deflate = zlib_rs::Deflate::new(6, true, 15);
    deflate.compress(plain, &mut out, zlib_rs::DeflateFlush::Finish).unwrap();
    out.truncate(deflate.total_out() as usize);
    out
}

/// The content of the next compressed packet.
fn read_packed(stream: &mut TcpStream) -> Option<Vec<u8>> {
    let mut header = [0u8; 7];
    stream.read_exact(&mut header).ok()?;
    let length = |bytes: &[u8]| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], 0]) as usize;
    let mut content = vec![0; length(&header)];
    stream.read_exact(&mut content).ok()?;
    let mut plain = vec![0; length(&header[4..])];
    if plain.is_empty() {
        return Some(content);
    }
    let mut inflate = zlib_rs::Inflate::new(true, 15);
    inflate.decompress(&content, &mut plain, zlib_rs::InflateFlush::Finish).ok()?;
    Some(plain)
}
