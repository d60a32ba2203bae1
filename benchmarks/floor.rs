//! The least that a client of point selects can cost: two threads, each pinned to a CPU, with an epoll set and half
//! of the connections. A readable socket is read once, its next statement is written, and nothing is decoded, drawn,
//! timed or recorded. What a load generator takes beyond this is its own.
//!
//!     rustc -O benchmarks/floor.rs -o floor
//!     floor SOCKET USER DATABASE CONNECTIONS SECONDS text|prepared LAST_ID
//!
//! USER has no password. Prints the queries and the seconds in which they were answered.

use std::ffi::c_int;
use std::io::{Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

const QUERY: u8 = 0x03;
const PREPARE: u8 = 0x16;
const EXECUTE: u8 = 0x17;
const STATEMENTS: usize = 1024;

#[repr(C)]
#[cfg_attr(target_arch = "x86_64", repr(packed))]
#[derive(Clone, Copy)]
struct Event {
    events: u32,
    data: u64,
}

unsafe extern "C" {
    fn epoll_create1(flags: c_int) -> c_int;
    fn epoll_ctl(set: c_int, what: c_int, fd: c_int, event: *mut Event) -> c_int;
    fn epoll_wait(set: c_int, events: *mut Event, most: c_int, timeout_ms: c_int) -> c_int;
    fn sched_setaffinity(thread: c_int, size: usize, cpus: *const u64) -> c_int;
}

fn packet(number: u8, payload: &[u8]) -> Vec<u8> {
    let mut packet = (payload.len() as u32).to_le_bytes().to_vec();
    packet[3] = number;
    packet.extend_from_slice(payload);
    packet
}

/// Reads one packet.
fn receive(stream: &mut UnixStream) -> Vec<u8> {
    let mut header = [0; 4];
    stream.read_exact(&mut header).expect("the server closed the connection");
    let mut payload = vec![0; u32::from_le_bytes([header[0], header[1], header[2], 0]) as usize];
    stream.read_exact(&mut payload).expect("the server closed the connection");
    assert!(payload.first() != Some(&0xff), "{}", String::from_utf8_lossy(&payload[3..]));
    payload
}

fn connect(socket: &str, user: &str, database: &str) -> UnixStream {
    // PROTOCOL_41, SECURE_CONNECTION, CONNECT_WITH_DB, PLUGIN_AUTH, LONG_PASSWORD, TRANSACTIONS, DEPRECATE_EOF
    let capabilities: u32 = 0x0109_a209;
    let mut stream = UnixStream::connect(socket).expect("the server cannot be reached");
    receive(&mut stream);
    let mut login = capabilities.to_le_bytes().to_vec();
    login.extend_from_slice(&(1u32 << 24).to_le_bytes());
    login.push(45);
    login.extend_from_slice(&[0; 23]);
    login.extend_from_slice(user.as_bytes());
    login.extend_from_slice(&[0, 0]);
    login.extend_from_slice(database.as_bytes());
    login.extend_from_slice(b"\0mysql_native_password\0");
    stream.write_all(&packet(1, &login)).expect("the server takes nothing");
    while receive(&mut stream)[0] != 0 {
        // The account's plugin is another one: an empty password has an empty answer.
        stream.write_all(&packet(3, b"")).expect("the server takes nothing");
    }
    stream
}

/// Prepares the statement; its number.
fn prepare(stream: &mut UnixStream) -> [u8; 4] {
    let mut sql = vec![PREPARE];
    sql.extend_from_slice(b"SELECT c FROM sbtest1 WHERE id=?");
    stream.write_all(&packet(0, &sql)).expect("the server takes nothing");
    let answer = receive(stream);
    let number = [answer[1], answer[2], answer[3], answer[4]];
    stream.set_read_timeout(Some(Duration::from_millis(200))).expect("no such socket");
    let _ = stream.read(&mut [0; 4096]);
    stream.set_read_timeout(None).expect("no such socket");
    number
}

/// Statements for ids from 1 to `last`, spread evenly; their order is that of a multiplicative hash.
fn statements(handle: Option<[u8; 4]>, last: u64) -> Vec<Vec<u8>> {
    let ids = (0..STATEMENTS as u64).map(|place| 1 + place.wrapping_mul(2_654_435_761) % last);
    ids.map(|id| match handle {
        None => {
            let sql = format!("\u{3}SELECT c FROM sbtest1 WHERE id={id}");
            debug_assert_eq!(sql.as_bytes()[0], QUERY);
            packet(0, sql.as_bytes())
        }
        Some(handle) => {
            let mut payload = vec![EXECUTE];
            payload.extend_from_slice(&handle);
            payload.extend_from_slice(&[0, 1, 0, 0, 0, 0, 1, 8, 0]);
            payload.extend_from_slice(&id.to_le_bytes());
            packet(0, &payload)
        }
    })
    .collect()
}

fn drive(streams: &mut [UnixStream], wanted: &[Vec<Vec<u8>>], cpu: usize, start: &Barrier, over: &AtomicBool) -> u64 {
    let mut events = [Event { events: 0, data: 0 }; 256];
    let mut inbox = vec![0; 256 * 1024];
    let mut next = 0;
    let mut queries = 0;
    let set = unsafe {
        let mut cpus = [0u64; 16];
        cpus[cpu / 64] = 1 << (cpu % 64);
        sched_setaffinity(0, size_of_val(&cpus), cpus.as_ptr());
        epoll_create1(0)
    };
    for (number, stream) in streams.iter().enumerate() {
        let mut event = Event { events: 1, data: number as u64 };
        assert!(unsafe { epoll_ctl(set, 1, stream.as_raw_fd(), &mut event) } == 0);
    }
    start.wait();
    for (number, stream) in streams.iter_mut().enumerate() {
        stream.write_all(&wanted[number][number % STATEMENTS]).expect("the server takes nothing");
    }
    while !over.load(Ordering::Relaxed) {
        let count = unsafe { epoll_wait(set, events.as_mut_ptr(), events.len() as c_int, 100) };
        for event in &events[..count.max(0) as usize] {
            let number = event.data as usize;
            let read = streams[number].read(&mut inbox).expect("the server closed the connection");
            assert!(read > 0 && inbox[4] != 0xff, "the server refused a statement");
            next = (next + 1) % STATEMENTS;
            streams[number].write_all(&wanted[number][next]).expect("the server takes nothing");
            queries += 1;
        }
    }
    queries
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, socket, user, database, connections, seconds, mode, last] = &arguments[..] else {
        panic!("SOCKET USER DATABASE CONNECTIONS SECONDS text|prepared LAST_ID");
    };
    let connections: usize = connections.parse().expect("CONNECTIONS is a number");
    let seconds: f64 = seconds.parse().expect("SECONDS is a number");
    let last: u64 = last.parse().expect("LAST_ID is a number");
    let threads = connections.min(2);
    let queries = AtomicU64::new(0);
    let over = AtomicBool::new(false);
    let start = Barrier::new(threads + 1);
    let mut shares: Vec<(Vec<UnixStream>, Vec<Vec<Vec<u8>>>)> = (0..threads).map(|_| Default::default()).collect();
    for number in 0..connections {
        let mut stream = connect(socket, user, database);
        let handle = (mode == "prepared").then(|| prepare(&mut stream));
        let (streams, wanted) = &mut shares[number % threads];
        streams.push(stream);
        // Without handles all connections have the same statements.
        if handle.is_some() || wanted.is_empty() {
            wanted.push(statements(handle, last));
        } else {
            wanted.push(wanted[0].clone());
        }
    }
    let took = std::thread::scope(|scope| {
        for (cpu, (streams, wanted)) in shares.iter_mut().enumerate() {
            let (start, over, queries) = (&start, &over, &queries);
            scope.spawn(move || {
                queries.fetch_add(drive(streams, wanted, cpu, start, over), Ordering::Relaxed);
            });
        }
        start.wait();
        let began = Instant::now();
        std::thread::sleep(Duration::from_secs_f64(seconds));
        over.store(true, Ordering::Relaxed);
        began.elapsed()
    });
    println!("{} {:.6}", queries.load(Ordering::Relaxed), took.as_secs_f64());
}
