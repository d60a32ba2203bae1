//! The agent as its other side sees it: `mydyno-agent serve` over a socket.

use std::fs;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use mydyno_agent::frames::{Decoder, Frame, GREETING, Kind, PIECE};
use mydyno_agent::streams::WINDOW;
use serde_json::{Value, json};

const PATIENCE: Duration = Duration::from_secs(20);

struct Agent {
    process: Child,
    channel: UnixStream,
    decoder: Decoder,
}

impl Agent {
    /// Started, with its greeting and hello heard.
    fn start() -> Self {
        Self::start_with(&[])
    }

    /// The same with further arguments.
    fn start_with(arguments: &[&str]) -> Self {
        let (ours, its) = UnixStream::pair().unwrap();
        ours.set_read_timeout(Some(PATIENCE)).unwrap();
        let process = Command::new(env!("CARGO_BIN_EXE_mydyno-agent"))
            .arg("serve")
            .args(arguments)
            .stdin(OwnedFd::from(its.try_clone().unwrap()))
            .stdout(OwnedFd::from(its))
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut agent = Self { process, channel: ours, decoder: Decoder::default() };
        let mut greeting = vec![0; GREETING.len()];
        agent.channel.read_exact(&mut greeting).unwrap();
        assert_eq!(greeting, GREETING);
        let hello = agent.next();
        assert_eq!((hello.kind, hello.number), (Kind::Hello, 0));
        assert!(value(&hello)["memory_bytes"].as_u64().unwrap() > 0);
        agent
    }

    fn send(&mut self, kind: Kind, number: u32, payload: &[u8]) {
        let mut bytes = (payload.len() as u32).to_le_bytes().to_vec();
        bytes.push(kind as u8);
        bytes.extend(number.to_le_bytes());
        bytes.extend(payload);
        self.channel.write_all(&bytes).unwrap();
    }

    fn request(&mut self, number: u32, request: &Value) {
        self.send(Kind::Request, number, &serde_json::to_vec(request).unwrap());
    }

    fn next(&mut self) -> Frame {
        self.next_or_end().expect("the agent has ended")
    }

    fn next_or_end(&mut self) -> Option<Frame> {
        loop {
            if let Some(frame) = self.decoder.next_frame().unwrap() {
                return Some(frame);
            }
            let mut buffer = [0; 4096];
            let count = self.channel.read(&mut buffer).unwrap();
            if count == 0 {
                return None;
            }
            self.decoder.feed(&buffer[..count]);
        }
    }

    /// The reply to this request, and all frames that came before it.
    fn answer(&mut self, number: u32) -> (Value, Vec<Frame>) {
        let mut before = Vec::new();
        loop {
            let frame = self.next();
            if (frame.kind, frame.number) == (Kind::Reply, number) {
                return (value(&frame), before);
            }
            before.push(frame);
        }
    }

    /// Everything up to a frame of this kind and number.
    fn until(&mut self, kind: Kind, number: u32) -> Vec<Frame> {
        let mut seen = Vec::new();
        loop {
            let frame = self.next();
            let found = (frame.kind, frame.number) == (kind, number);
            seen.push(frame);
            if found {
                return seen;
            }
        }
    }

    /// Closes the channel and waits for the agent's end: its exit status and what it said.
    fn end(self) -> (Option<i32>, String) {
        let Self { process, channel, .. } = self;
        drop(channel);
        let output = process.wait_with_output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    }
}

fn value(frame: &Frame) -> Value {
    serde_json::from_slice(&frame.payload).unwrap()
}

fn start(argv: &[&str]) -> Value {
    json!({"do": "start", "argv": argv, "env": {"PATH": "/usr/bin:/bin"}, "cwd": "/", "user": null,
           "stdin": null, "stdout": null, "stderr": null, "output": null})
}

fn bytes_of(frames: &[Frame], kind: Kind, number: u32) -> Vec<u8> {
    let of_it = frames.iter().filter(|frame| (frame.kind, frame.number) == (kind, number));
    of_it.flat_map(|frame| frame.payload.clone()).collect()
}

fn folder(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("agent-{}-{name}", std::process::id()));
    fs::create_dir_all(&path).unwrap();
    path
}

fn is_gone(pid: &str) -> bool {
    let deadline = Instant::now() + PATIENCE;
    while Path::new("/proc").join(pid).exists() {
        if Instant::now() > deadline {
            return false;
        }
        std::thread::yield_now();
    }
    true
}

#[test]
fn a_process_is_heard_and_its_code_reported() {
    let mut agent = Agent::start();
    let mut request = start(&["sh", "-c", "cat; echo trouble >&2; exit 3"]);
    request["stdout"] = json!(11);
    request["stderr"] = json!(12);
    request["bytes"] = json!(4);
    agent.request(1, &request);
    agent.send(Kind::Content, 1, b"wo");
    agent.send(Kind::Content, 1, b"rd");
    let mut frames = agent.until(Kind::Exit, 1);
    assert_eq!(value(frames.last().unwrap()), json!({"code": 3}));
    for stream in [11, 12] {
        if !frames.iter().any(|frame| (frame.kind, frame.number) == (Kind::End, stream)) {
            frames.extend(agent.until(Kind::End, stream));
        }
    }
    assert_eq!(bytes_of(&frames, Kind::Data, 11), b"word");
    assert_eq!(bytes_of(&frames, Kind::Data, 12), b"trouble\n");
    assert_eq!(agent.end(), (Some(0), String::new()));
}

#[test]
fn a_missing_program_is_distinguished_from_other_errors() {
    let mut agent = Agent::start();
    agent.request(1, &start(&["/nowhere/mysqld"]));
    let (reply, _) = agent.answer(1);
    assert_eq!(reply["error"]["program"], json!(true));
    agent.request(2, &json!({"do": "read", "path": "/nowhere"}));
    let (reply, _) = agent.answer(2);
    assert_eq!((&reply["error"]["errno"], &reply["error"]["program"]), (&json!(2), &Value::Null));
}

#[test]
fn a_reader_that_takes_nothing_holds_up_its_own_stream_only() {
    let mut agent = Agent::start();
    let mut request = start(&["sh", "-c", "head -c 1000000 /dev/zero"]);
    request["stdout"] = json!(11);
    agent.request(1, &request);
    let mut heard = 0;
    while heard < WINDOW {
        let frame = agent.next();
        heard += if frame.kind == Kind::Data { frame.payload.len() } else { 0 };
    }
    assert_eq!(heard, WINDOW);
    agent.request(2, &json!({"do": "exists", "path": "/"}));
    let (reply, before) = agent.answer(2);
    assert_eq!(reply, json!({"ok": {"exists": true}}));
    assert_eq!(bytes_of(&before, Kind::Data, 11).len(), 0);
    while heard < 1_000_000 {
        agent.send(Kind::Credit, 11, &(PIECE as u32).to_le_bytes());
        let mut granted = PIECE.min(1_000_000 - heard);
        heard += granted;
        while granted > 0 {
            let frame = agent.next();
            granted -= if frame.number == 11 { frame.payload.len() } else { 0 };
        }
    }
    agent.until(Kind::End, 11);
}

#[test]
fn a_stream_that_nobody_reads_any_more_breaks_the_pipe() {
    let mut agent = Agent::start();
    let mut request = start(&["yes"]);
    request["stdout"] = json!(11);
    agent.request(1, &request);
    agent.until(Kind::Data, 11);
    agent.send(Kind::Discard, 11, &[]);
    let frames = agent.until(Kind::Exit, 1);
    assert_eq!(value(frames.last().unwrap()), json!({"code": -libc::SIGPIPE}));
}

#[test]
fn what_a_process_does_not_read_is_discarded() {
    let mut agent = Agent::start();
    let mut request = start(&["true"]);
    request["stdin"] = json!(10);
    agent.request(1, &request);
    agent.until(Kind::Exit, 1);
    agent.send(Kind::Data, 10, &[0; 100]);
    agent.until(Kind::Discard, 10);
    agent.send(Kind::Data, 10, &[0; 100]);
    agent.request(2, &json!({"do": "exists", "path": "/nowhere"}));
    assert_eq!(agent.answer(2).0, json!({"ok": {"exists": false}}));
}

#[test]
fn a_socket_is_a_stream_both_ways_and_each_way_ends_by_itself() {
    let folder = folder("dial");
    let listener = UnixListener::bind(folder.join("s")).unwrap();
    let mut agent = Agent::start();
    agent.request(1, &json!({"do": "dial", "path": folder.join("s"), "stream": 5}));
    let (mut server, _) = listener.accept().unwrap();
    assert_eq!(agent.answer(1).0, json!({"ok": {}}));
    agent.send(Kind::Data, 5, b"ask");
    agent.send(Kind::End, 5, &[]);
    let mut heard = String::new();
    server.read_to_string(&mut heard).unwrap();
    assert_eq!(heard, "ask");
    server.write_all(b"answer").unwrap();
    drop(server);
    assert_eq!(bytes_of(&agent.until(Kind::End, 5), Kind::Data, 5), b"answer");
    agent.request(2, &json!({"do": "dial", "path": folder.join("none"), "stream": 6}));
    assert_eq!(agent.answer(2).0["error"]["errno"], json!(2));
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_held_file_is_read_by_the_process_that_gets_it_and_is_empty_when_wiped() {
    let mut agent = Agent::start();
    agent.request(1, &json!({"do": "hold", "bytes": 6}));
    agent.send(Kind::Content, 1, b"secret");
    let path = agent.answer(1).0["ok"]["path"].as_str().unwrap().to_owned();
    let mut request = start(&["sh", "-c", &format!("cat {path}; read go; cat {path}")]);
    request["held"] = json!([1]);
    request["stdin"] = json!(10);
    request["stdout"] = json!(11);
    agent.request(2, &request);
    assert_eq!(bytes_of(&agent.until(Kind::Data, 11), Kind::Data, 11), b"secret");
    agent.request(3, &json!({"do": "wipe", "held": 1}));
    agent.answer(3);
    agent.send(Kind::Data, 10, b"\n");
    assert_eq!(bytes_of(&agent.until(Kind::End, 11), Kind::Data, 11), b"");
    agent.request(4, &start(&["cat", &path]));
    agent.until(Kind::Exit, 4);
}

#[test]
fn nothing_that_was_started_outlives_the_channel_not_even_what_has_left_its_session() {
    let folder = folder("end");
    let mut agent = Agent::start();
    let script = format!(
        "setsid sh -c 'echo $$ > {0}/away; exec sleep 60' & echo $$ > {0}/here; echo; exec sleep 60",
        folder.display()
    );
    let mut request = start(&["sh", "-c", &script]);
    request["stdout"] = json!(11);
    agent.request(1, &request);
    agent.until(Kind::Data, 11);
    let deadline = Instant::now() + PATIENCE;
    let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap_or_default();
    while !(read("away").ends_with('\n') && read("here").ends_with('\n')) {
        assert!(Instant::now() < deadline);
        std::thread::yield_now();
    }
    assert_eq!(agent.end(), (Some(0), String::new()));
    assert!(is_gone(read("away").trim()) && is_gone(read("here").trim()));
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn power_off_is_answered_before_the_agent_ends() {
    let mut agent = Agent::start();
    agent.request(1, &json!({"do": "power_off"}));
    assert_eq!(agent.answer(1).0, json!({"ok": {}}));
    assert!(agent.next_or_end().is_none());
    assert_eq!(agent.end(), (Some(0), String::new()));
}

#[test]
fn whoever_breaks_the_protocol_is_shown_how_on_standard_error() {
    let broken: [(&str, &[u8]); 6] = [
        ("a payload of 4294967295 bytes", &[255, 255, 255, 255, 6, 0, 0, 0, 0]),
        ("frame kind 0", &[0, 0, 0, 0, 0, 0, 0, 0, 0]),
        ("a frame of kind Reply is not for an agent", &[0, 0, 0, 0, 3, 0, 0, 0, 0]),
        ("content for no request (1)", &[1, 0, 0, 0, 4, 1, 0, 0, 0, 0]),
        ("a request that is none", b"\x02\0\0\0\x02\x01\0\0\0{}"),
        ("unknown variant `dance`", b"\x0e\0\0\0\x02\x01\0\0\0{\"do\":\"dance\"}"),
    ];
    for (said, bytes) in broken {
        let mut agent = Agent::start();
        agent.channel.write_all(bytes).unwrap();
        assert!(agent.next_or_end().is_none(), "{said}");
        let (code, heard) = agent.end();
        assert_eq!(code, Some(1), "{said}");
        assert!(heard.contains(said), "{said:?} is not in {heard:?}");
    }
}

#[test]
fn more_than_the_window_breaks_the_protocol() {
    let mut agent = Agent::start();
    let mut request = start(&["sleep", "60"]);
    request["stdin"] = json!(10);
    agent.request(1, &request);
    agent.answer(1);
    // The pipe takes some; what is used up is reported, and what is reported may be sent again.
    let mut allowed = WINDOW;
    let mut sent = 0;
    while sent <= allowed {
        agent.send(Kind::Data, 10, &[0; PIECE]);
        sent += PIECE;
        if sent == allowed {
            agent.request(2, &json!({"do": "exists", "path": "/"}));
            allowed += agent.answer(2).1.len() * WINDOW;
        }
    }
    assert!(agent.next_or_end().is_none());
    assert!(agent.end().1.contains("stream 10 got more than it takes"));
}

#[test]
fn the_clock_says_the_time_of_day_and_a_credit_for_the_channel_is_only_a_sign_of_life() {
    let mut agent = Agent::start();
    agent.send(Kind::Credit, 0, &0u32.to_le_bytes());
    let before = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos();
    agent.request(1, &json!({"do": "clock"}));
    let there = u128::from(agent.answer(1).0["ok"]["nanoseconds"].as_u64().unwrap());
    let after = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos();
    assert!((before..=after).contains(&there), "{before} {there} {after}");
}

#[test]
fn a_session_has_a_folder_that_its_processes_know_and_that_goes_with_it() {
    let parent = folder("session");
    let path = parent.join("mydyno-00000000cafe");
    let arguments = ["--session", path.to_str().unwrap(), "--silence", "60"];
    let mut agent = Agent::start_with(&arguments);
    assert!(path.is_dir());
    let mut request = start(&["printenv", "MYDYNO_SESSION"]);
    request["stdout"] = json!(11);
    agent.request(1, &request);
    let frames = agent.until(Kind::End, 11);
    assert_eq!(bytes_of(&frames, Kind::Data, 11), format!("{}\n", path.display()).as_bytes());
    let second = Command::new(env!("CARGO_BIN_EXE_mydyno-agent"))
        .args(["serve", "--session", parent.join("mydyno-00000000beef").to_str().unwrap()])
        .args(["--silence", "60"])
        .output()
        .unwrap();
    assert_eq!(second.status.code(), Some(75));
    assert!(String::from_utf8_lossy(&second.stderr).contains("another run"));
    assert_eq!(agent.end(), (Some(0), String::new()));
    assert!(!path.exists());
    fs::remove_dir_all(parent).unwrap();
}

#[test]
fn a_session_ends_when_nothing_comes_for_too_long() {
    let parent = folder("silence");
    let path = parent.join("mydyno-00000000dead");
    let arguments = ["--session", path.to_str().unwrap(), "--silence", "1"];
    let mut agent = Agent::start_with(&arguments);
    let mut request = start(&["sh", "-c", "echo $$; sleep 600 & wait"]);
    request["stdout"] = json!(11);
    agent.request(1, &request);
    let frames = agent.until(Kind::Data, 11);
    let pid = String::from_utf8(bytes_of(&frames, Kind::Data, 11)).unwrap();
    while agent.next_or_end().is_some() {}
    let (code, said) = agent.end();
    assert_eq!(code, Some(1));
    assert!(said.contains("nothing was heard"), "{said}");
    assert!(is_gone(pid.trim()));
    assert!(!path.exists());
    fs::remove_dir_all(parent).unwrap();
}

#[test]
fn sweep_ends_what_a_killed_agent_has_left() {
    let parent = folder("sweep");
    let path = parent.join("mydyno-00000000feed");
    let arguments = ["--session", path.to_str().unwrap(), "--silence", "60"];
    let mut agent = Agent::start_with(&arguments);
    let mut request = start(&["sh", "-c", "setsid sleep 600 & echo $!; wait"]);
    request["stdout"] = json!(11);
    agent.request(1, &request);
    let pid = String::from_utf8(bytes_of(&agent.until(Kind::Data, 11), Kind::Data, 11)).unwrap();
    agent.process.kill().unwrap();
    agent.end();
    assert!(Path::new("/proc").join(pid.trim()).exists());
    let sweep = |parent: &Path| {
        Command::new(env!("CARGO_BIN_EXE_mydyno-agent")).arg("sweep").arg(parent).output().unwrap()
    };
    let swept = sweep(&parent);
    assert_eq!(String::from_utf8_lossy(&swept.stdout), format!("{}\n", path.display()));
    assert!(is_gone(pid.trim()) && !path.exists());
    assert!(sweep(&parent).stdout.is_empty());
    assert!(sweep(&parent.join("none")).status.success());
    fs::remove_dir_all(parent).unwrap();
}
