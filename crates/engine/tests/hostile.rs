//! Servers that mean harm, and the whole engine against them: it ends within the time that the job gives an
//! answer, says why, and never needs much memory.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

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
}

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
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    // It ends with the test: an accept cannot be called off.
    thread::spawn(move || {
        for stream in listener.incoming() {
            thread::spawn(move || serve(stream.unwrap(), moment, trick));
        }
    });
    let select = json!({"send": {"name": "select", "sql": ["SELECT 1"]}});
    let job = json!({
        "protocol": 3,
        "target": {"host": "127.0.0.1", "port": port, "user": "bench", "password": "correct horse",
                   "database": "mydyno"},
        "workload": {"program": {"name": "one", "transactions": [{"name": "one", "steps": [select]}]}},
        "prepare": "create",
        "phases": [{"connections": 2, "work": {"kind": "timed", "warmup_s": 0.2, "measure_s": 0.5}}],
        "sampling": {},
        "answer_within_s": ANSWER_WITHIN_S,
    });
    run(&job)
}

fn run(job: &Value) -> Outcome {
    let begun = Instant::now();
    let mut child = Command::new(env!("CARGO_BIN_EXE_mydyno-engine"))
        .arg("load")
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

fn serve(mut stream: TcpStream, moment: Moment, trick: Trick) -> Option<()> {
    let _ = stream.set_nodelay(true);
    if moment == Moment::Greeting {
        return play(&mut stream, trick, 0);
    }
    stream.write_all(&packet(0, &greeting())).ok()?;
    let (number, _) = read(&mut stream)?;
    if moment == Moment::Login {
        return play(&mut stream, trick, number.wrapping_add(1));
    }
    stream.write_all(&packet(number + 1, OK)).ok()?;
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
fn play(stream: &mut TcpStream, trick: Trick, number: u8) -> Option<()> {
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

fn read(stream: &mut TcpStream) -> Option<(u8, Vec<u8>)> {
    let mut header = [0u8; 4];
    stream.read_exact(&mut header).ok()?;
    let mut payload = vec![0u8; u32::from_le_bytes([header[0], header[1], header[2], 0]) as usize];
    stream.read_exact(&mut payload).ok()?;
    Some((header[3], payload))
}

/// Protocol 10, version, connection, nonce, capabilities, character set, status, plugin.
fn greeting() -> Vec<u8> {
    // PROTOCOL_41, CONNECT_WITH_DB, TRANSACTIONS, SECURE_CONNECTION, PLUGIN_AUTH, DEPRECATE_EOF.
    let able = (1u32 << 9 | 1 << 3 | 1 << 13 | 1 << 15 | 1 << 19 | 1 << 24).to_le_bytes();
    let head = b"\x0a8.4.0-hostile\0\x07\0\0\0abcdefgh\0";
    let tail = b"ijklmnopqrst\0mysql_native_password\0";
    [&head[..], &able[..2], &[45, 2, 0], &able[2..], &[21], &[0; 10], &tail[..]].concat()
}

#[test]
fn whatever_a_server_does_instead_of_an_answer_the_engine_ends_in_time_and_in_little_memory() {
    use Moment::{Greeting, Login, Statement};
    let cases: [(Moment, Trick, &str); 25] = [
        (Greeting, Trick::Silence, "no answer within 1 s"),
        (Greeting, Trick::Drip, "no answer within 1 s"),
        (Greeting, Trick::Flood, "\"fatal\""),
        (Greeting, Trick::WrongNumber, "out of order"),
        (Login, Trick::Silence, "no answer within 1 s"),
        (Login, Trick::Drip, "no answer within 1 s"),
        (Login, Trick::Flood, "\"fatal\""),
        (Login, Trick::WrongNumber, "out of order"),
        (Login, Trick::Switches, "another way to authenticate, again"),
        (Login, Trick::ClearPassword, "mysql_clear_password"),
        (Login, Trick::ShortKey, "--server-public-key"),
        (Statement("SELECT CONNECTION_ID"), Trick::EndlessRows, "\"fatal\""),
        (Statement("CREATE"), Trick::Silence, "its process list lacks the statement"),
        (Statement("CREATE"), Trick::Drip, "no answer within 1 s"),
        (Statement("CREATE"), Trick::Flood, "\"fatal\""),
        (Statement("CREATE"), Trick::EndlessRows, "no answer within 1 s"),
        (Statement("CREATE"), Trick::EndlessColumns, "number of columns"),
        (Statement("CREATE"), Trick::WrongNumber, "out of order"),
        (Statement("SELECT 1"), Trick::Silence, "\"exit\":\"aborted\""),
        (Statement("SELECT 1"), Trick::Drip, "\"exit\":\"aborted\""),
        (Statement("SELECT 1"), Trick::EndlessRows, "\"exit\":\"aborted\""),
        (Statement("SELECT 1"), Trick::EndlessColumns, "number of columns"),
        (Statement("SELECT 1"), Trick::WrongNumber, "out of order"),
        (Statement("SELECT 1"), Trick::Errors, "\"exit\":\"ok\""),
        (Statement("SHOW GLOBAL STATUS"), Trick::EndlessRows, "\"exit\":\"ok\""),
    ];
    let runs: Vec<_> =
        cases.map(|case| (case, thread::spawn(move || against(case.0, case.1)))).into();
    let mut wrong = Vec::new();
    for ((moment, trick, said), run) in runs {
        let outcome = run.join().unwrap();
        let Outcome { status, text, elapsed, peak_bytes } = &outcome;
        let ended = matches!(status, Some(0 | 3)) && text.contains(said);
        if !ended || *peak_bytes > MOST_BYTES || text.contains("correct horse") {
            let last = text.lines().last().unwrap_or_default();
            let last = &last[..last.len().min(600)];
            wrong.push(format!(
                "{moment:?} {trick:?}: {status:?} after {elapsed:?}, {peak_bytes} bytes: {last}"
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(ANSWERS.lock().unwrap().is_empty(), "an answer to who asks for the password");
}
