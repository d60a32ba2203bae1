//! One connection: a socket, where it is in its conversation, and the event it carries out.

use std::os::fd::OwnedFd;

use crate::protocol::capture::Capture;
use crate::protocol::commands;
use crate::protocol::compression::{Algorithm, Incoming};
use crate::protocol::frames::Frames;
use crate::protocol::handshake::Handshake;
use crate::protocol::response::Response;
use crate::protocol::tls::Session;
use crate::random::Random;
use crate::workload::Cursor;

/// Where a connection is.
pub(super) enum Stage {
    /// To be dialled at once, or once the queue of the listening socket has room.
    Waiting,
    /// The TCP connection is being made.
    Dialing,
    Greeting(Box<Handshake>),
    /// The session statement of this number is under way.
    Session(usize),
    /// The statement of this number is being prepared.
    Preparing(usize),
    /// Open, with nothing to do.
    Idle,
    /// A statement is under way.
    Busy,
    /// The same, and the workload reads its answer.
    Reading,
    /// The same, and the workload leaves a result set unread.
    Leaving,
    /// A statement of a trace is under way.
    Replaying,
    /// The schema of the next one is being chosen.
    Choosing,
    /// A failed transaction is being rolled back.
    RollingBack(Then),
    /// Nothing happens until the connection's timer.
    Resting(Then),
    Closed,
}

/// How a connection goes on once it is open, rolled back or rested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Then {
    /// Wait for the gate: the phase has not begun.
    Start,
    /// Go on with the steps of the event.
    Step,
    /// Begin the event again.
    Again,
    /// Begin the next event.
    Next,
    /// Do nothing: this connection carries no events, or has carried all of its own.
    Idle,
}

/// What the server calls a prepared statement.
#[derive(Clone, Copy, Debug)]
pub(super) enum Handle {
    Prepared(u32),
    /// The server cannot prepare this one (MySQL and BEGIN): it goes as text.
    Text,
}

/// What lies between the packets of a connection and its socket: compression, and encryption around it.
#[derive(Default)]
pub(super) struct Wrapping {
    pub compression: Option<Algorithm>,
    pub incoming: Incoming,
    pub tls: Option<Session>,
}

pub(super) struct Connection {
    pub socket: Option<OwnedFd>,
    /// Once compression or TLS has begun.
    pub wrapping: Option<Box<Wrapping>>,
    pub stage: Stage,
    pub frames: Frames,
    /// The number that the server's next packet must have.
    pub next_number: u8,
    pub response: Response,
    /// The stream that draws this connection's statements.
    pub random: Random,
    pub cursor: Cursor,
    /// The statement under way.
    pub statement: usize,
    /// Start of the statement and of the event, from which their latencies count.
    pub statement_ns: u64,
    pub event_ns: u64,
    /// Events still to begin in a closed loop.
    pub events_left: u64,
    pub handles: Vec<Handle>,
    /// What the socket did not take; empty but for moments of congestion.
    pub unsent: Vec<u8>,
    /// Rows that the workload reads; made by the first statement that does.
    pub capture: Option<Box<Capture>>,
    /// When the first packet came of a result set that the workload left unread.
    pub unread_ns: Option<u64>,
    pub in_transaction: bool,
    /// Carries events, now or later.
    pub active: bool,
    /// Whether it carries events at all.
    pub carries: bool,
    /// Was open and is not any more, against the workload's will.
    pub lost: bool,
    /// Was open at some time of the phase.
    pub reached: bool,
    /// When it began to open, and what comes after.
    pub dialled_ns: u64,
    pub then: Then,
    /// Since when it has been lost without being opened again.
    pub lost_ns: u64,
    /// The instant of its timer; others that are still in the queue are stale.
    pub wake_ns: u64,
    /// The statement that the last sweep saw under way, and when one first saw it.
    pub seen: (u64, u64),
}

impl Connection {
    pub fn new(random: Random, cursor: Cursor, events_left: u64, carries: bool) -> Self {
        Self {
            socket: None,
            wrapping: None,
            stage: Stage::Closed,
            frames: Frames::default(),
            next_number: 0,
            response: Response::to_query(false),
            random,
            cursor,
            statement: 0,
            statement_ns: 0,
            event_ns: 0,
            events_left,
            handles: Vec::new(),
            unsent: Vec::new(),
            capture: None,
            unread_ns: None,
            in_transaction: false,
            active: false,
            carries,
            lost: false,
            reached: false,
            dialled_ns: 0,
            then: Then::Start,
            lost_ns: 0,
            wake_ns: 0,
            seen: (0, 0),
        }
    }

    /// A statement is under way and its answer is to come.
    pub fn in_flight(&self) -> bool {
        matches!(
            self.stage,
            Stage::Busy
                | Stage::Reading
                | Stage::Leaving
                | Stage::Replaying
                | Stage::Choosing
                | Stage::RollingBack(_)
        )
    }

    /// Waiting to be dialled, dialing, authenticating or preparing.
    pub fn is_opening(&self) -> bool {
        matches!(
            self.stage,
            Stage::Waiting
                | Stage::Dialing
                | Stage::Greeting(_)
                | Stage::Session(_)
                | Stage::Preparing(_)
        )
    }

    /// The server owes the event under way an answer, or its connection.
    pub fn is_awaited(&self) -> bool {
        let opening = self.is_opening() && self.socket.is_some() && self.then == Then::Step;
        self.in_flight() || opening
    }

    /// An event is under way and can still come to its end.
    pub fn is_in_event(&self) -> bool {
        let within = |then| matches!(then, Then::Step | Then::Again);
        match self.stage {
            Stage::Resting(then) => within(then) && !self.lost,
            _ if self.is_opening() => within(self.then) && !self.lost,
            _ => self.in_flight(),
        }
    }

    /// What takes leave of the server: the prepared statements are closed first, as sysbench does it.
    pub fn leave(&self, out: &mut Vec<u8>) {
        for handle in &self.handles {
            if let Handle::Prepared(statement_id) = *handle {
                commands::close_statement(statement_id, out);
            }
        }
        commands::quit(out);
    }

    /// Whether packets are compressed, and encrypted.
    pub fn wraps(&self) -> (bool, bool) {
        let wrapping = self.wrapping.as_ref();
        wrapping.map_or((false, false), |one| (one.compression.is_some(), one.tls.is_some()))
    }

    /// Closes the socket, and forgets what belonged to its conversation.
    pub fn close(&mut self) -> bool {
        self.stage = Stage::Closed;
        self.in_transaction = false;
        self.unread_ns = None;
        self.unsent.clear();
        self.wrapping = None;
        self.socket.take().is_some()
    }
}
