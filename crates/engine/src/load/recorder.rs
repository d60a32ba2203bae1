//! What a reactor counts, cut into intervals and into the measured part of the phase.

use std::sync::mpsc::Sender;

use serde::Serialize;

use super::gate::Window;
use super::{ErrorLog, Event, ServerEvent};
use crate::histogram::Latencies;
use crate::protocol::ServerError;
use crate::workload::Class;

/// One kind of statement in the measured part.
#[derive(Clone, Debug, Default)]
pub struct StatementPart {
    pub errors: u64,
    pub rows: u64,
    pub latencies: Latencies,
}

/// Statements by what they do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Classes {
    pub read: u64,
    pub write: u64,
    pub other: u64,
}

impl Classes {
    pub fn add(&mut self, more: Classes) {
        self.read += more.read;
        self.write += more.write;
        self.other += more.other;
    }

    fn count(&mut self, class: Class, statements: u64) {
        *match class {
            Class::Read => &mut self.read,
            Class::Write => &mut self.write,
            Class::Other => &mut self.other,
        } += statements;
    }

    fn since(self, before: Classes) -> Classes {
        Classes {
            read: self.read - before.read,
            write: self.write - before.write,
            other: self.other - before.other,
        }
    }
}

/// One connection's share of the measured part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    pub events: u64,
    /// The sum of their latencies.
    pub busy_ns: u64,
}

/// One reactor's part of an interval.
#[derive(Clone, Debug)]
pub struct IntervalPart {
    pub from_ns: u64,
    pub to_ns: u64,
    pub warmup: bool,
    /// Of the events that ended.
    pub transactions: Latencies,
    pub errors: u64,
    pub reconnects: u64,
    pub connections: u32,
    /// Of the statements.
    pub latencies: Latencies,
    pub classes: Classes,
    /// Of a slice: statements that ended in each tenth of it.
    pub tenths: [u64; 10],
}

impl IntervalPart {
    /// Counts what has ended since the tenth before to tenth number `at`.
    fn close_tenth(&mut self, at: usize) {
        self.tenths[at] = self.latencies.count() - self.tenths[..at].iter().sum::<u64>();
    }
}

/// What has ended and is not in the histograms yet.
#[derive(Clone, Copy)]
enum Ended {
    /// A statement of this kind.
    Statement(usize),
    /// A transaction of this number.
    Transaction(usize),
}

/// Latencies that are counted together. The server has displaced the histograms from the CPU's cache since the
/// last answer; counted one by one, each latency waits for its own cache miss, in a batch the misses overlap.
const BATCH: usize = 128;

/// Counts for one reactor. Recording takes no lock and allocates nothing; only the end of an
/// interval hands a histogram over.
pub struct Recorder {
    server: usize,
    reactor: usize,
    events: Sender<ServerEvent>,
    window: Window,
    interval_ns: Option<u64>,
    /// The tenth of the slice under way.
    tenth: usize,
    /// The next instant at which counting changes: end of an interval, of warm-up, of measuring.
    boundary_ns: u64,
    interval: IntervalPart,
    ended: Vec<(Ended, u64)>,
    statements: Vec<StatementPart>,
    /// Of each kind of statement.
    classes: Vec<Class>,
    /// The statements of the intervals before this one, since the warm-up was forgotten.
    handed_over: Classes,
    transactions: Vec<Latencies>,
    shares: Vec<Share>,
    statement_errors: ErrorLog,
    connection_errors: ErrorLog,
    retries: u64,
    last_ns: Option<u64>,
    late: u64,
}

/// What a recorder has counted of the measured part, and errors of connections of the whole phase.
#[derive(Clone, Debug, Default)]
pub struct Recorded {
    /// By kind; the last one is the opening of connections that events ask for.
    pub statements: Vec<StatementPart>,
    pub classes: Classes,
    /// By the number of the transaction.
    pub transactions: Vec<Latencies>,
    /// By connection.
    pub shares: Vec<Share>,
    pub errors: ErrorLog,
    /// Errors after which an event started again.
    pub retries: u64,
    /// When the last statement that counts ended; `None` when none did.
    pub last_ns: Option<u64>,
}

/// What a recorder counts apart.
#[derive(Debug, Default)]
pub struct Kinds {
    /// One for each kind of statement; opening connections within events is counted after them.
    pub statements: Vec<Class>,
    pub transactions: usize,
    pub connections: usize,
}

impl Recorder {
    /// Without an interval it counts slices.
    pub fn new(
        server: usize,
        reactor: usize,
        kinds: Kinds,
        interval_ns: Option<u64>,
        events: Sender<ServerEvent>,
    ) -> Self {
        let window = Window { start_ns: 0, measured_from_ns: 0, measured_to_ns: u64::MAX };
        Self {
            server,
            reactor,
            events,
            window,
            interval_ns,
            tenth: 0,
            boundary_ns: u64::MAX,
            interval: interval(window, 0, 0),
            ended: Vec::with_capacity(BATCH),
            statements: vec![StatementPart::default(); kinds.statements.len() + 1],
            classes: kinds.statements,
            handed_over: Classes::default(),
            transactions: (0..kinds.transactions).map(|_| Latencies::default()).collect(),
            shares: vec![Share::default(); kinds.connections],
            statement_errors: ErrorLog::default(),
            connection_errors: ErrorLog::default(),
            retries: 0,
            last_ns: None,
            late: 0,
        }
    }

    /// Begins to count a phase or a slice.
    pub fn start(&mut self, window: Window, connections: u32) {
        if self.window.is_warmup() && !window.is_warmup() {
            self.forget_warmup();
        }
        self.tenth = 0;
        self.late = 0;
        self.window = window;
        self.interval = interval(window, window.start_ns, connections);
        self.boundary_ns = self.next_boundary(window.start_ns);
    }

    /// The instant at which [`Recorder::cross`] should be called even if nothing happens.
    pub fn boundary_ns(&self) -> u64 {
        self.boundary_ns
    }

    /// A statement has ended well.
    #[inline]
    pub fn statement(&mut self, kind: usize, now_ns: u64, latency_ns: u64, rows: u64) {
        if now_ns >= self.boundary_ns && !self.cross(now_ns) {
            self.late += 1;
            return;
        }
        self.statements[kind].rows += rows;
        self.last_ns = Some(now_ns);
        self.end(Ended::Statement(kind), latency_ns);
    }

    /// Statements that ended well after the window and do not count.
    pub fn late(&self) -> u64 {
        self.late
    }

    /// An event has opened its connection. That is no query.
    pub fn connect(&mut self, kind: usize, now_ns: u64, latency_ns: u64) {
        if now_ns >= self.boundary_ns && !self.cross(now_ns) {
            return;
        }
        self.statements[kind].latencies.record(latency_ns);
        self.last_ns = Some(now_ns);
    }

    /// Whether the clock ends the measured part.
    pub fn has_end(&self) -> bool {
        self.window.measured_to_ns != u64::MAX
    }

    /// So many connections are open now.
    pub fn connections(&mut self, open: u32) {
        self.interval.connections = open;
    }

    /// One more connection is counted.
    pub fn add_connection(&mut self) {
        self.shares.push(Share::default());
    }

    /// A lost connection was opened again.
    pub fn reconnected(&mut self) {
        self.interval.reconnects += 1;
    }

    /// An event of this connection has ended well, as the transaction of this number.
    #[inline]
    pub fn transaction(&mut self, connection: usize, number: usize, now_ns: u64, latency_ns: u64) {
        if now_ns >= self.boundary_ns && !self.cross(now_ns) {
            return;
        }
        let share = &mut self.shares[connection];
        share.events += 1;
        share.busy_ns += latency_ns;
        self.end(Ended::Transaction(number), latency_ns);
    }

    #[inline]
    fn end(&mut self, what: Ended, latency_ns: u64) {
        self.ended.push((what, latency_ns));
        if self.ended.len() == BATCH {
            self.count_ended();
        }
    }

    fn count_ended(&mut self) {
        for (what, latency_ns) in self.ended.drain(..) {
            let (of_interval, of_phase) = match what {
                Ended::Statement(kind) => {
                    (&mut self.interval.latencies, &mut self.statements[kind].latencies)
                }
                Ended::Transaction(number) => {
                    (&mut self.interval.transactions, &mut self.transactions[number])
                }
            };
            of_interval.record(latency_ns);
            of_phase.record(latency_ns);
        }
    }

    /// A statement was refused; whether its event starts again.
    pub fn failure(&mut self, kind: usize, now_ns: u64, error: &ServerError, retried: bool) {
        if now_ns >= self.boundary_ns && !self.cross(now_ns) {
            return;
        }
        self.interval.errors += 1;
        self.statements[kind].errors += 1;
        self.retries += u64::from(retried);
        self.statement_errors.add(error);
        self.last_ns = Some(now_ns);
    }

    /// A connection was lost or could not be opened. It counts for the whole phase, warm-up
    /// included.
    pub fn connection_error(&mut self, error: &ServerError) {
        self.connection_errors.add(error);
        self.interval.errors += 1;
    }

    /// The connection of this kind of statement was lost under way; whether its event starts again.
    pub fn lost_statement(&mut self, kind: usize, retried: bool) {
        self.statements[kind].errors += 1;
        self.retries += u64::from(retried);
    }

    /// Moves past every boundary up to `now_ns`. Gives false once the measured part is over.
    #[cold]
    pub fn cross(&mut self, now_ns: u64) -> bool {
        self.count_ended();
        while now_ns >= self.boundary_ns {
            if self.boundary_ns >= self.window.measured_to_ns {
                self.hand_over_interval(self.window.measured_to_ns);
                return false;
            }
            let boundary = self.boundary_ns;
            if self.interval_ns.is_none() {
                self.interval.close_tenth(self.tenth);
                self.tenth += 1;
            } else {
                self.hand_over_interval(boundary);
                if boundary == self.window.measured_from_ns {
                    self.forget_warmup();
                }
            }
            self.boundary_ns = self.next_boundary(boundary);
        }
        true
    }

    /// Ends counting at `now_ns`; rounds have ended with their last statement.
    pub fn finish(mut self, now_ns: u64) -> Recorded {
        let rounds = !self.has_end();
        let end_ns = self.last_ns.filter(|_| rounds).unwrap_or(now_ns);
        if self.cross(end_ns) {
            self.hand_over_interval(end_ns);
        }
        let classes = self.counted();
        let mut errors = self.statement_errors;
        errors.merge(&self.connection_errors);
        Recorded {
            classes,
            statements: self.statements,
            transactions: self.transactions,
            shares: self.shares,
            errors,
            retries: self.retries,
            last_ns: self.last_ns,
        }
    }

    /// Sends the interval up to `to_ns`, unless it is empty in time, and begins the next.
    fn hand_over_interval(&mut self, to_ns: u64) {
        if to_ns <= self.interval.from_ns {
            return;
        }
        let next = interval(self.window, to_ns, self.interval.connections);
        let mut part = std::mem::replace(&mut self.interval, next);
        part.to_ns = to_ns;
        part.close_tenth(self.tenth);
        let counted = self.counted();
        part.classes = counted.since(std::mem::replace(&mut self.handed_over, counted));
        let (reactor, part) = (self.reactor, Box::new(part));
        // The conductor outlives the reactors.
        let _ = self.events.send((self.server, Event::Interval { reactor, part }));
    }

    /// The statements by class, as far as they count.
    fn counted(&self) -> Classes {
        let mut counted = Classes::default();
        for (part, class) in self.statements.iter().zip(&self.classes) {
            counted.count(*class, part.latencies.count());
        }
        counted
    }

    fn forget_warmup(&mut self) {
        self.statements.fill(StatementPart::default());
        self.handed_over = Classes::default();
        self.transactions.iter_mut().for_each(|one| *one = Latencies::default());
        self.shares.fill(Share::default());
        self.statement_errors = ErrorLog::default();
        self.retries = 0;
        self.last_ns = None;
    }

    fn next_boundary(&self, from_ns: u64) -> u64 {
        let Window { start_ns, measured_from_ns, measured_to_ns } = self.window;
        let Some(interval_ns) = self.interval_ns else {
            let tenth_ns = (measured_to_ns - start_ns) / 10;
            return if self.tenth < 9 { from_ns + tenth_ns } else { measured_to_ns };
        };
        let step = from_ns + interval_ns;
        if from_ns < measured_from_ns {
            return step.min(measured_from_ns);
        }
        // A remainder shorter than half an interval is not worth a line of its own.
        if measured_to_ns < step.saturating_add(interval_ns / 2) {
            return measured_to_ns;
        }
        step
    }
}

fn interval(window: Window, from_ns: u64, connections: u32) -> IntervalPart {
    IntervalPart {
        from_ns,
        to_ns: from_ns,
        warmup: from_ns < window.measured_from_ns,
        transactions: Latencies::default(),
        errors: 0,
        reconnects: 0,
        connections,
        latencies: Latencies::default(),
        classes: Classes::default(),
        tenths: [0; 10],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::{Receiver, channel};

    const WINDOW: Window = Window { start_ns: 100, measured_from_ns: 250, measured_to_ns: 550 };

    fn one_kind() -> Kinds {
        Kinds { statements: vec![Class::Read], transactions: 1, connections: 1 }
    }

    fn recorder() -> (Recorder, Receiver<ServerEvent>) {
        let (sender, receiver) = channel();
        let mut recorder = Recorder::new(0, 0, one_kind(), Some(100), sender);
        recorder.start(WINDOW, 7);
        (recorder, receiver)
    }

    /// (from, to, warm-up, statements) of every interval.
    fn intervals(receiver: Receiver<ServerEvent>) -> Vec<(u64, u64, bool, u64)> {
        receiver
            .try_iter()
            .map(|(_, event)| match event {
                Event::Interval { part, .. } => {
                    (part.from_ns, part.to_ns, part.warmup, part.latencies.count())
                }
                _ => panic!("only intervals are sent"),
            })
            .collect()
    }

    #[test]
    fn intervals_are_cut_at_the_end_of_the_warmup_and_of_the_measured_part() {
        let (mut recorder, receiver) = recorder();
        for now in [120, 199, 200, 249, 250, 349, 350, 549, 550, 600] {
            recorder.statement(0, now, 5, 1);
        }
        let part = recorder.finish(700);
        assert_eq!(
            intervals(receiver),
            [
                (100, 200, true, 2),
                (200, 250, true, 2),
                (250, 350, false, 2),
                (350, 450, false, 1),
                (450, 550, false, 1),
            ]
        );
        assert_eq!(part.statements[0].latencies.count(), 4, "only the measured part counts");
        assert_eq!(part.statements[0].rows, 4);
        assert_eq!(part.last_ns, Some(549));
    }

    #[test]
    fn the_histograms_of_the_measured_intervals_add_up_to_those_of_the_phase() {
        let (mut recorder, receiver) = recorder();
        for now in (110..600).step_by(7) {
            recorder.statement(0, now, now * now, 1);
        }
        let part = recorder.finish(700);
        let mut sum = Latencies::default();
        for (_, event) in receiver.try_iter() {
            if let Event::Interval { part, .. } = event
                && !part.warmup
            {
                sum.merge(&part.latencies);
            }
        }
        assert!(sum.count() > 30);
        assert_eq!(sum.summary(), part.statements[0].latencies.summary());
    }

    #[test]
    fn errors_of_statements_in_the_warmup_are_forgotten_but_lost_connections_are_not() {
        let (mut recorder, _receiver) = recorder();
        recorder.failure(0, 150, &ServerError::new(1213, "Deadlock"), true);
        recorder.connection_error(&ServerError::new(2013, "Lost"));
        recorder.failure(0, 300, &ServerError::new(1205, "Timeout"), true);
        let part = recorder.finish(700);
        assert_eq!(part.errors.counts, [(1205, 1), (2013, 1)].into());
        assert_eq!((part.retries, part.statements[0].errors), (1, 1));
    }

    #[test]
    fn statements_by_class_transactions_and_shares_are_those_of_the_measured_part() {
        let (sender, receiver) = channel();
        let statements = vec![Class::Read, Class::Write, Class::Other];
        let kinds = Kinds { statements, transactions: 2, connections: 2 };
        let mut recorder = Recorder::new(0, 0, kinds, Some(100), sender);
        recorder.start(WINDOW, 7);
        for now in [150, 260, 360, 370] {
            recorder.statement(0, now, 5, 1);
            recorder.statement(1, now, 5, 1);
            recorder.transaction(1, 1, now, 9);
        }
        recorder.statement(2, 380, 5, 1);
        recorder.transaction(0, 0, 390, 20);
        recorder.reconnected();
        let part = recorder.finish(700);
        let intervals: Vec<_> = receiver
            .try_iter()
            .map(|(_, event)| match event {
                Event::Interval { part, .. } => (part.from_ns, part.classes, part.reconnects),
                _ => panic!("only intervals are sent"),
            })
            .collect();
        let classes = |read, write, other| Classes { read, write, other };
        assert_eq!(
            intervals,
            [
                (100, classes(1, 1, 0), 0),
                (200, classes(0, 0, 0), 0),
                (250, classes(1, 1, 0), 0),
                (350, classes(2, 2, 1), 1),
                (450, classes(0, 0, 0), 0),
            ]
        );
        assert_eq!(part.classes, classes(3, 3, 1));
        assert_eq!(part.transactions.iter().map(Latencies::count).collect::<Vec<_>>(), [1, 3]);
        let share = |events, busy_ns| Share { events, busy_ns };
        assert_eq!(part.shares, [share(1, 20), share(3, 27)]);
    }

    #[test]
    fn a_quiet_reactor_still_gives_every_interval() {
        let (mut recorder, receiver) = recorder();
        assert!(recorder.cross(460));
        let ends: Vec<u64> = intervals(receiver).iter().map(|interval| interval.1).collect();
        assert_eq!(ends, [200, 250, 350, 450]);
    }

    #[test]
    fn rounds_have_no_end_of_their_own_and_close_with_a_shorter_interval() {
        let (sender, receiver) = channel();
        let mut recorder = Recorder::new(0, 0, one_kind(), Some(100), sender);
        recorder
            .start(Window { start_ns: 100, measured_from_ns: 100, measured_to_ns: u64::MAX }, 1);
        recorder.statement(0, 210, 5, 1);
        recorder.finish(230);
        assert_eq!(intervals(receiver), [(100, 200, false, 0), (200, 210, false, 1)]);
    }

    #[test]
    fn slices_are_counted_in_tenths_and_those_of_the_warmup_are_forgotten() {
        let (sender, receiver) = channel();
        let mut recorder = Recorder::new(1, 0, one_kind(), None, sender);
        recorder.start(Window::slice(1_000, 1_105, true), 2);
        for now in [1_000, 1_009, 1_010, 1_104, 1_105, 1_200] {
            recorder.statement(0, now, 5, 1);
        }
        assert_eq!(recorder.late(), 2);
        recorder.start(Window::slice(2_000, 2_100, false), 2);
        assert_eq!(recorder.late(), 0);
        recorder.statement(0, 2_055, 5, 1);
        assert!(!recorder.cross(2_100));
        recorder.start(Window::slice(3_000, 3_100, false), 2);
        recorder.statement(0, 3_000, 5, 1);
        // Ends early: the rest of the slice is empty.
        let part = recorder.finish(3_020);
        let slices: Vec<_> = receiver
            .try_iter()
            .map(|(server, event)| match event {
                Event::Interval { part, .. } => (server, part.to_ns, part.warmup, part.tenths),
                _ => panic!("only intervals are sent"),
            })
            .collect();
        let expected = [
            (1, 1_105, true, [2, 1, 0, 0, 0, 0, 0, 0, 0, 1]),
            (1, 2_100, false, [0, 0, 0, 0, 0, 1, 0, 0, 0, 0]),
            (1, 3_020, false, [1, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
        ];
        assert_eq!(slices, expected);
        assert_eq!(part.statements[0].latencies.count(), 2, "the warm-up does not count");
    }
}
