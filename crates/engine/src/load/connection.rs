//! One connection: a socket, where it is in its conversation, and the event it carries out.

use std::os::fd::OwnedFd;

use crate::protocol::frames::Frames;
use crate::protocol::handshake::Handshake;
use crate::protocol::response::Response;
use crate::random::Random;
use crate::workload::Cursor;

/// Where a connection is.
pub(super) enum Stage {
    /// Not yet accepted into the queue of the listening socket.
    Waiting,
    /// The TCP connection is being made.
    Dialing,
    Greeting(Box<Handshake>),
    /// The statement of this number is being prepared.
    Preparing(usize),
    /// Open, with nothing to do.
    Idle,
    /// A statement is under way.
    Busy,
    /// A failed transaction is being rolled back; then it starts again, or the next one does.
    RollingBack {
        again: bool,
    },
    Closed,
}

/// What the server calls a prepared statement.
#[derive(Clone, Copy, Debug)]
pub(super) enum Handle {
    Prepared(u32),
    /// The server cannot prepare this one (MySQL and BEGIN): it goes as text.
    Text,
}

pub(super) struct Connection {
    pub socket: Option<OwnedFd>,
    pub stage: Stage,
    pub frames: Frames,
    pub response: Response,
    pub dialled_ns: u64,
    /// The stream that draws this connection's statements.
    pub random: Random,
    pub cursor: Cursor,
    /// Kind of that statement.
    pub kind: usize,
    /// Start of the statement and of the event, from which their latencies count.
    pub statement_ns: u64,
    pub event_ns: u64,
    /// Events still to begin in a closed loop.
    pub events_left: u64,
    pub handles: Vec<Handle>,
    /// What the socket did not take; empty but for moments of congestion.
    pub unsent: Vec<u8>,
}

impl Connection {
    pub fn new(random: Random, cursor: Cursor, events_left: u64) -> Self {
        Self {
            socket: None,
            stage: Stage::Waiting,
            frames: Frames::default(),
            response: Response::to_query(false),
            dialled_ns: 0,
            random,
            cursor,
            kind: 0,
            statement_ns: 0,
            event_ns: 0,
            events_left,
            handles: Vec::new(),
            unsent: Vec::new(),
        }
    }

    /// A statement is under way and its answer is to come.
    pub fn in_flight(&self) -> bool {
        matches!(self.stage, Stage::Busy | Stage::RollingBack { .. })
    }

    /// Dialing, authenticating or preparing.
    pub fn is_opening(&self) -> bool {
        matches!(
            self.stage,
            Stage::Waiting | Stage::Dialing | Stage::Greeting(_) | Stage::Preparing(_)
        )
    }
}
