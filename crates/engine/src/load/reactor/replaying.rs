//! The connections of a trace: each one carries out its own steps in their order, none before its time.
//!
//! A slot is a connection of the engine; it serves one connection of the trace after another. Statements
//! that are due while the one before is under way are sent as soon as that has ended, and their latency
//! counts from when they were due.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

use super::Reactor;
use crate::load::connection::{Connection, Stage, Then};
use crate::protocol::frames::Packet;
use crate::protocol::response::{Ends, Outcome, Response};
use crate::protocol::{ServerError, code, commands};
use crate::random::Random;
use crate::replay::checksum::Checksum;
use crate::replay::choice::Reason;
use crate::replay::feed::{Lane, Queued, Step, What};
use crate::replay::record::{self, Record, UNKNOWN, flag};
use crate::replay::results::{ErrorLine, Report};

/// How long before its first statement a connection opens, where the trace does not say when.
const OPEN_BEFORE_NS: u64 = 20_000_000;
/// Rest of a connection that waits for another one to close.
const CROWDED_NS: u64 = 1_000_000;
/// A statement that is sent so much later than it was due is late.
const LATE_NS: u64 = 5_000_000;
/// Records that are handed over together, or after so long.
const TOGETHER: usize = 256;
const HAND_OVER_NS: u64 = 200_000_000;

/// One reactor's part of a replay.
pub(super) struct Replay {
    lane: Lane,
    slots: Vec<Slot>,
    /// The slots of the connections under way, by their numbers in the trace.
    of: HashMap<u64, usize>,
    free: Vec<usize>,
    /// The whole trace has been taken.
    is_read: bool,
    /// When the trace starts, on the engine's clock.
    origin_ns: u64,
    records: Vec<Record>,
    handed_over_ns: u64,
    errors: HashSet<(u64, u16)>,
}

#[derive(Default)]
struct Slot {
    steps: VecDeque<Step>,
    /// Nothing is left to do until more of the trace is read.
    waits: bool,
    /// It may have a connection open.
    has_leave: bool,
    /// The session's schema, where it is known.
    schema: Option<Arc<[u8]>>,
    /// Its transaction has ended before its time: what is left of it is skipped.
    is_doomed: bool,
    /// When the statement under way was sent, and when it was due.
    sent_ns: u64,
    due_ns: u64,
    was_in_transaction: bool,
    sum: Checksum,
}

impl Replay {
    pub fn new(lane: Lane) -> Box<Self> {
        Box::new(Self {
            lane,
            slots: Vec::new(),
            of: HashMap::new(),
            free: Vec::new(),
            is_read: false,
            origin_ns: 0,
            records: Vec::with_capacity(TOGETHER),
            handed_over_ns: 0,
            errors: HashSet::new(),
        })
    }

    pub fn begin(&mut self, origin_ns: u64) {
        self.origin_ns = origin_ns;
    }

    /// When a step is due; at full speed, at once.
    fn due_ns(&self, at_us: u64, now: u64) -> u64 {
        match self.lane.speed {
            Some(speed) => self.origin_ns + (at_us as f64 * 1000.0 / speed) as u64,
            None => now,
        }
    }

    /// What the first step of a slot says of itself in its record.
    fn record(&self, slot: usize) -> Option<Record> {
        let step = self.slots[slot].steps.front()?;
        let What::Statement(queued) = &step.what else { return None };
        let Queued { number, fingerprint, choice, traced } = &**queued;
        let mut flags = 0;
        if choice.is_ordered {
            flags |= flag::ORDERED;
        }
        if traced.error.is_some() {
            flags |= flag::TRACE_KNOWS_ERROR;
        }
        Some(Record {
            statement: *number,
            fingerprint: *fingerprint,
            connection: step.connection,
            trace_start_us: traced.at_us,
            trace_service_us: traced.duration_us.unwrap_or(UNKNOWN),
            trace_rows: traced.rows_sent.unwrap_or(UNKNOWN),
            trace_error: traced.error.unwrap_or(0),
            flags,
            class: choice.class,
            ..Record::default()
        })
    }

    /// A step has been carried out, one way or another.
    fn pop(&mut self, slot: usize) {
        if let Some(step) = self.slots[slot].steps.pop_front() {
            self.lane.done(&step);
        }
    }

    fn skip(&mut self, slot: usize, reason: Reason, now: u64) {
        if let Some(record) = self.record(slot) {
            let (outcome, reason) = (record::Outcome::Skipped, reason as u8);
            self.keep(Record { outcome, reason, ..record }, now);
        }
        self.pop(slot);
    }

    fn keep(&mut self, record: Record, now: u64) {
        self.records.push(record);
        if self.records.len() >= TOGETHER || now >= self.handed_over_ns + HAND_OVER_NS {
            self.handed_over_ns = now;
            self.hand_over();
        }
    }

    fn hand_over(&mut self) {
        if !self.records.is_empty() {
            let records = std::mem::replace(&mut self.records, Vec::with_capacity(TOGETHER));
            // The writer outlives the reactors.
            let _ = self.lane.reports.send(Report::Records(records));
        }
    }

    /// Keeps the first message of each error of each fingerprint.
    fn note_error(&mut self, record: &Record, error: &ServerError) {
        let key = (record.fingerprint, error.code);
        if self.errors.insert(key) {
            let line = ErrorLine {
                id: format!("{:016x}", record.fingerprint),
                error: error.code,
                message: error.message.clone(),
                statement: record.statement,
                key,
            };
            let _ = self.lane.reports.send(Report::Error(line));
        }
    }

    /// The times of the statement under way, which ended `now`.
    fn timed(&self, slot: usize, record: Record, now: u64) -> Record {
        let Slot { sent_ns, due_ns, was_in_transaction, .. } = self.slots[slot];
        let is_late = sent_ns > due_ns + LATE_NS;
        let mut flags = record.flags;
        if is_late {
            flags |= flag::LATE;
        }
        if was_in_transaction {
            flags |= flag::IN_TRANSACTION;
        }
        let error_ns = sent_ns.cast_signed() - due_ns.cast_signed();
        Record {
            sent_us: sent_ns.saturating_sub(self.origin_ns) / 1000,
            start_error_us: error_ns / 1000,
            latency_us: now.saturating_sub(due_ns) / 1000,
            service_us: now.saturating_sub(sent_ns) / 1000,
            flags,
            ..record
        }
    }
}

/// What is to be done for a connection.
enum Next {
    Nothing,
    Rest(u64),
    Open,
    Close,
    Choose(Arc<[u8]>),
    Send,
}

impl Reactor<'_> {
    fn replay(&mut self) -> &mut Replay {
        self.replay.as_mut().expect("a trace is replayed")
    }

    /// Takes what has been read of the trace since.
    pub(super) fn take_steps(&mut self, now: u64) {
        let mut awake = Vec::new();
        // Looked at first: what was read last came before.
        self.replay().is_read = self.replay().lane.is_over();
        while let Some(steps) = self.replay().lane.receive() {
            for step in steps {
                let slot = match self.replay().of.get(&step.connection) {
                    Some(&slot) => slot,
                    None => self.slot_for(step.connection),
                };
                let own = &mut self.replay().slots[slot];
                own.steps.push_back(step);
                if std::mem::take(&mut own.waits) {
                    awake.push(slot);
                }
            }
        }
        for slot in awake {
            self.replay_next(slot, now);
        }
    }

    /// A slot for a connection of the trace that begins.
    fn slot_for(&mut self, connection: u64) -> usize {
        let slot = match self.replay().free.pop() {
            Some(slot) => slot,
            None => self.one_more_slot(),
        };
        let replay = self.replay();
        replay.slots[slot].waits = true;
        replay.of.insert(connection, slot);
        slot
    }

    fn one_more_slot(&mut self) -> usize {
        let slot = self.connections.len();
        let random = Random::stream(self.plan.seed, &[slot as u64]);
        let cursor = self.plan.workload.cursor(slot as u32 + 1, self.plan.phase.connections);
        let mut connection = Connection::new(random, cursor, u64::MAX, true);
        connection.active = true;
        self.active += 1;
        self.connections.push(connection);
        self.recorder.add_connection();
        self.replay().slots.push(Slot::default());
        slot
    }

    /// Every step has been carried out.
    pub(super) fn is_replayed(&self) -> bool {
        self.replay.as_ref().is_some_and(|replay| replay.is_read && replay.of.is_empty())
    }

    /// Goes on with a connection's steps.
    pub(super) fn replay_next(&mut self, slot: usize, now: u64) {
        if !self.drives() {
            return self.stop(slot);
        }
        match self.next_step(slot, now) {
            Next::Nothing => self.connections[slot].stage = Stage::Idle,
            Next::Rest(at_ns) => self.rest(slot, at_ns, Then::Step),
            Next::Open => {
                self.connections[slot].statement_ns = now;
                self.open(slot, Then::Step, now);
            }
            Next::Close => self.close_replayed(slot),
            Next::Choose(schema) => self.choose(slot, &schema, now),
            Next::Send => self.send_replayed(slot),
        }
    }

    /// What comes next, after skipping what is not sent.
    fn next_step(&mut self, slot: usize, now: u64) -> Next {
        let is_open = self.connections[slot].socket.is_some();
        let replay = self.replay.as_mut().expect("a trace is replayed");
        loop {
            let Some(step) = replay.slots[slot].steps.front() else {
                replay.slots[slot].waits = true;
                return Next::Nothing;
            };
            let due_ns = replay.due_ns(step.at_us, now);
            let queued = match &step.what {
                What::Open | What::Close if now < due_ns => return Next::Rest(due_ns),
                What::Close => return Next::Close,
                What::Open => {
                    if !is_open && !replay.may_open(slot) {
                        return Next::Rest(now + CROWDED_NS);
                    }
                    replay.pop(slot);
                    if is_open {
                        continue;
                    }
                    return Next::Open;
                }
                What::Statement(queued) => queued,
            };
            let choice = queued.choice;
            let schema = match queued.traced.schema.is_empty() {
                false => Some(queued.traced.schema.clone()),
                true => replay.lane.default_schema.clone(),
            };
            let own = &mut replay.slots[slot];
            own.is_doomed &= !choice.is_boundary;
            let doomed = own.is_doomed.then_some(Reason::TransactionLost);
            if let Some(reason) = choice.skip.or(doomed) {
                if now < due_ns {
                    return Next::Rest(due_ns);
                }
                replay.skip(slot, reason, now);
                continue;
            }
            if !is_open {
                let open_ns = due_ns.saturating_sub(OPEN_BEFORE_NS);
                if now < open_ns {
                    return Next::Rest(open_ns);
                }
                return if replay.may_open(slot) {
                    Next::Open
                } else {
                    Next::Rest(now + CROWDED_NS)
                };
            }
            let own = &mut replay.slots[slot];
            if let Some(schema) = schema
                && own.schema.as_ref() != Some(&schema)
            {
                return Next::Choose(schema);
            }
            if now < due_ns {
                return Next::Rest(due_ns);
            }
            own.due_ns = due_ns;
            return Next::Send;
        }
    }

    fn choose(&mut self, slot: usize, schema: &Arc<[u8]>, now: u64) {
        self.outbox.clear();
        commands::init_db(schema, &mut self.outbox);
        self.replay().slots[slot].schema = Some(schema.clone());
        let response = Response::to_query(self.no_eof);
        let connection = &mut self.connections[slot];
        connection.statement_ns = now;
        connection.response = response;
        connection.stage = Stage::Choosing;
        self.send(slot);
    }

    /// The schema is chosen, or the statement fails as it would without it.
    pub(super) fn chosen(&mut self, slot: usize, outcome: Outcome) {
        let now = self.now();
        let Outcome::Failed(error) = outcome else { return self.replay_next(slot, now) };
        if code::ends_connection(error.code) {
            return self.lost(slot, error.code, &error.message);
        }
        let replay = self.replay();
        let step = replay.slots[slot].steps.front();
        let due_ns = step.map_or(now, |step| replay.due_ns(step.at_us, now));
        let was_in_transaction = self.connections[slot].in_transaction;
        let own = &mut self.replay().slots[slot];
        own.schema = None;
        (own.sent_ns, own.due_ns) = (now, due_ns.min(now));
        own.was_in_transaction = was_in_transaction;
        own.sum.begin();
        self.ended(slot, &Outcome::Failed(error), Ends::default(), now);
    }

    fn send_replayed(&mut self, slot: usize) {
        let now = self.now();
        let was_in_transaction = self.connections[slot].in_transaction;
        let replay = self.replay.as_mut().expect("a trace is replayed");
        let own = &mut replay.slots[slot];
        let Some(Step { what: What::Statement(queued), .. }) = own.steps.front() else { return };
        self.outbox.clear();
        commands::query(&queued.traced.sql, &mut self.outbox);
        own.sent_ns = now;
        if replay.lane.speed.is_none() {
            own.due_ns = now;
        }
        own.was_in_transaction = was_in_transaction;
        own.sum.begin();
        let class = usize::from(queued.choice.class) - 1;
        let response = Response::to_query(self.no_eof);
        let connection = &mut self.connections[slot];
        connection.statement = class;
        connection.statement_ns = now;
        connection.response = response;
        connection.stage = Stage::Replaying;
        self.send(slot);
    }

    /// Takes a packet of an answer into its checksum.
    pub(super) fn sum_along(&mut self, slot: usize, packet: Packet<'_>) {
        let part = self.connections[slot].response.part(packet);
        self.replay().slots[slot].sum.take(part, packet);
    }

    /// A statement has been answered.
    pub(super) fn replayed(&mut self, slot: usize, outcome: Outcome) {
        if let Outcome::Failed(error) = &outcome
            && code::ends_connection(error.code)
        {
            return self.lost(slot, error.code, &error.message);
        }
        let now = self.now();
        let ends = self.connections[slot].response.ends;
        self.ended(slot, &outcome, ends, now);
    }

    /// Records a statement that has ended, and goes on.
    fn ended(&mut self, slot: usize, outcome: &Outcome, ends: Ends, now: u64) {
        let class = self.connections[slot].statement;
        let replay = self.replay.as_mut().expect("a trace is replayed");
        let Some(record) = replay.record(slot) else { return };
        let mut record = replay.timed(slot, record, now);
        record.outcome = record::Outcome::Replayed;
        let (ordered, unordered) = replay.slots[slot].sum.finish();
        (record.ordered, record.unordered) = (ordered, unordered);
        if ordered != 0 {
            record.flags |= flag::RESULT_SET;
        }
        if replay.slots[slot].sum.has_long_row {
            record.flags |= flag::LONG_ROW;
        }
        let connection = &mut self.connections[slot];
        match outcome {
            Outcome::Failed(error) => {
                record.error = error.code;
                (record.ordered, record.unordered) = (0, 0);
                replay.note_error(&record, error);
                if error.code == code::DEADLOCK {
                    // The server has rolled it back: what is left of it must not run without it.
                    replay.slots[slot].is_doomed = connection.in_transaction;
                    connection.in_transaction = false;
                }
                self.recorder.failure(class, now, error, false);
            }
            Outcome::Done { rows } => {
                (record.affected, record.warnings) = (ends.affected, ends.warnings);
                record.rows = rows - ends.affected.min(*rows);
                connection.in_transaction = ends.in_transaction;
                self.recorder.statement(class, now, record.service_us * 1000, record.rows);
                self.recorder.transaction(slot, 0, now, record.latency_us * 1000);
            }
            Outcome::Prepared { .. } => unreachable!("nothing is being prepared"),
        }
        if replay.uses_schema(slot) {
            replay.slots[slot].schema = None;
        }
        replay.keep(record, now);
        replay.pop(slot);
        self.replay_next(slot, now);
    }

    /// The trace's connection ends: so does the slot's.
    fn close_replayed(&mut self, slot: usize) {
        self.hang_up(slot);
        let replay = self.replay();
        if let Some(step) = replay.slots[slot].steps.front() {
            let connection = step.connection;
            replay.of.remove(&connection);
        }
        replay.pop(slot);
        let own = &mut replay.slots[slot];
        own.schema = None;
        own.is_doomed = false;
        if std::mem::take(&mut own.has_leave) {
            replay.lane.give_connection_back();
        }
        replay.free.push(slot);
    }

    /// The connection was lost, perhaps with a statement under way.
    pub(super) fn lose_replayed(
        &mut self,
        slot: usize,
        stage: &Stage,
        in_transaction: bool,
        error: &ServerError,
    ) {
        let Some(replay) = &mut self.replay else { return };
        let now = self.plan.clock.now_ns();
        replay.slots[slot].schema = None;
        replay.slots[slot].is_doomed |= in_transaction;
        if matches!(stage, Stage::Replaying)
            && let Some(record) = replay.record(slot)
        {
            let record = Record {
                outcome: record::Outcome::Lost,
                error: error.code,
                ..replay.timed(slot, record, now)
            };
            replay.note_error(&record, error);
            replay.keep(record, now);
            replay.pop(slot);
        }
    }

    /// The connection could not be opened: its next statement goes without.
    pub(super) fn skip_unopened(&mut self, slot: usize, now: u64) {
        let Some(replay) = &mut self.replay else { return };
        if matches!(replay.slots[slot].steps.front(), Some(Step { what: What::Statement(_), .. })) {
            replay.skip(slot, Reason::NoConnection, now);
        }
    }

    /// The replay ends while statements are under way.
    pub(super) fn give_up_replayed(&mut self) {
        let under_way: Vec<usize> = (0..self.connections.len())
            .filter(|&slot| matches!(self.connections[slot].stage, Stage::Replaying))
            .collect();
        let Some(replay) = &mut self.replay else { return };
        let now = self.plan.clock.now_ns();
        for slot in under_way {
            if let Some(record) = replay.record(slot) {
                let record = replay.timed(slot, record, now);
                replay.keep(Record { outcome: record::Outcome::Lost, ..record }, now);
            }
        }
    }

    pub(super) fn hand_over_records(&mut self) {
        if let Some(replay) = &mut self.replay {
            replay.hand_over();
        }
    }
}

impl Replay {
    /// Whether a slot may open its connection now.
    fn may_open(&mut self, slot: usize) -> bool {
        let own = &mut self.slots[slot];
        own.has_leave = own.has_leave || self.lane.take_connection();
        own.has_leave
    }

    /// Whether the statement under way has changed the session's schema.
    fn uses_schema(&self, slot: usize) -> bool {
        match self.slots[slot].steps.front() {
            Some(Step { what: What::Statement(queued), .. }) => queued.choice.uses,
            _ => false,
        }
    }
}
