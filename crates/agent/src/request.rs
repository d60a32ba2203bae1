//! What mydyno asks for and what it is answered, as JSON. docs/reference/agent-protocol.md is the contract.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// A user to run as or to own a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct User {
    pub uid: u32,
    pub gid: u32,
}

/// A process to start. The numbers of streams are chosen by mydyno; None: nothing is connected.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Start {
    pub argv: Vec<String>,
    pub env: BTreeMap<String, String>,
    pub cwd: PathBuf,
    pub user: Option<User>,
    /// Stream that the process reads; takes precedence over `bytes`.
    pub stdin: Option<u32>,
    pub stdout: Option<u32>,
    pub stderr: Option<u32>,
    /// File that both outputs are appended to instead.
    pub output: Option<PathBuf>,
    /// Numbers of `hold` requests whose files it inherits.
    #[serde(default)]
    pub held: Vec<u32>,
    /// Length of the content that it reads on its standard input.
    #[serde(default)]
    pub bytes: usize,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
pub enum Request {
    Start(Start),
    /// Sends a signal to a started process; nothing happens when it has ended.
    Signal {
        process: u32,
        signal: i32,
    },
    /// Connects `stream` to a unix socket.
    Dial {
        path: PathBuf,
        stream: u32,
    },
    /// Keeps content as an anonymous file.
    Hold {
        bytes: usize,
    },
    Wipe {
        held: u32,
    },
    Read {
        path: PathBuf,
    },
    Write {
        path: PathBuf,
        mode: u32,
        owner: Option<User>,
        bytes: usize,
    },
    MakeFolder {
        path: PathBuf,
        mode: u32,
        owner: Option<User>,
    },
    RemoveTree {
        path: PathBuf,
    },
    Exists {
        path: PathBuf,
    },
    /// Reports which folder, disk and free space belong to a path.
    Place {
        path: PathBuf,
    },
    /// Reports the time of day.
    Clock {},
    PowerOff {},
}

impl Request {
    /// How many bytes of content follow it.
    pub fn content(&self) -> usize {
        match self {
            Self::Start(Start { bytes, .. }) | Self::Hold { bytes } | Self::Write { bytes, .. } => {
                *bytes
            }
            _ => 0,
        }
    }
}

/// What a path is on: see `Request::Place`.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Place {
    /// The path itself or its nearest parent that is there, links resolved.
    pub path: String,
    /// What an ordinary user may still fill.
    pub free_bytes: u64,
    pub major: u32,
    pub minor: u32,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Answer {
    Started { pid: u32 },
    Held { path: String },
    Bytes { bytes: usize },
    Exists { exists: bool },
    Place(Place),
    Clock { nanoseconds: u64 },
    Done {},
}

/// Why a request failed.
#[derive(Debug, Serialize)]
pub struct Refusal {
    /// An error number of Linux.
    pub errno: i32,
    pub message: String,
    /// Whether it is the program to start that is not there or may not be executed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub program: bool,
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Self {
        let errno = error.raw_os_error().unwrap_or(libc::EIO);
        Self { errno, message: error.to_string(), program: false }
    }
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    Ok(Answer),
    Error(Refusal),
}

/// The agent's first frame.
#[derive(Debug, Serialize)]
pub struct Hello {
    pub version: &'static str,
    /// Release of the kernel, as uname(1) prints it.
    pub kernel: String,
    /// CPUs that the agent may use.
    pub cpus: usize,
    pub memory_bytes: u64,
    /// Bytes that may be under way to the agent; None: as many as the channel takes.
    pub window: Option<usize>,
}

impl Hello {
    pub fn of_this_machine(window: Option<usize>) -> Self {
        let memory = rustix::system::sysinfo();
        Self {
            version: env!("CARGO_PKG_VERSION"),
            kernel: rustix::system::uname().release().to_string_lossy().into_owned(),
            cpus: std::thread::available_parallelism().map_or(1, usize::from),
            memory_bytes: memory.totalram as u64 * u64::from(memory.mem_unit),
            window,
        }
    }
}
