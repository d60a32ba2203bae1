//! Reads the trace ahead of the load and deals its connections to the reactors, in bounded memory.

use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use mydyno_trace::{Record as TraceRecord, Statement, Trace};

use super::choice::{Choice, choose};
use super::fingerprints::Fingerprints;
use super::results::{Report, Results};
use super::tally::Summary;
use crate::failure::{Fatal, FatalCode};
use crate::job::ReplayJob;
use crate::os::poll::Waker;

/// Bytes of statements that may wait to be sent.
const MOST_QUEUED: u64 = 64 << 20;
/// What a statement needs besides its text.
const OVERHEAD: u64 = 200;
/// Steps that are handed over together.
const BATCH: usize = 64;
/// How often the reader looks whether there is room again.
const PAUSE: Duration = Duration::from_millis(2);
/// Where nothing has been sent for so long, statements further ahead may be what the others wait for: a
/// lock that their connection gives back, or its end.
const STUCK: Duration = Duration::from_secs(1);

/// One step of a connection.
pub struct Step {
    pub connection: u64,
    /// Since the start of the replayed part, in microseconds of the trace.
    pub at_us: u64,
    pub what: What,
}

pub enum What {
    Open,
    Statement(Box<Queued>),
    Close,
}

/// A statement to be sent, or skipped.
pub struct Queued {
    pub number: u64,
    pub fingerprint: u64,
    pub choice: Choice,
    pub traced: Statement,
}

impl Step {
    fn bytes(&self) -> u64 {
        match &self.what {
            What::Statement(queued) => queued.traced.sql.len() as u64 + OVERHEAD,
            What::Open | What::Close => OVERHEAD,
        }
    }
}

/// What the reader and the reactors share.
struct Shared {
    queued: AtomicU64,
    /// Taken by reactors, ever.
    taken: AtomicU64,
    stop: AtomicBool,
    over: AtomicBool,
    /// The first part has been read: the load may begin.
    filled: AtomicBool,
    /// Connections that may still be open.
    free: AtomicI64,
    wakers: OnceLock<Vec<Waker>>,
}

/// A reactor's end of the feed.
pub struct Lane {
    steps: Receiver<Vec<Step>>,
    shared: Arc<Shared>,
    pub reports: Sender<Report>,
    /// How fast the trace's time runs; none: as fast as possible.
    pub speed: Option<f64>,
    pub default_schema: Option<Arc<[u8]>>,
}

impl Lane {
    /// The steps that have been read for the reactor since.
    pub fn receive(&self) -> Option<Vec<Step>> {
        self.steps.try_recv().ok()
    }

    /// Whether [`Lane::receive`] will give no more once it gives none.
    pub fn is_over(&self) -> bool {
        self.shared.over.load(Ordering::Acquire)
    }

    /// A step has been carried out.
    pub fn done(&self, step: &Step) {
        self.shared.queued.fetch_sub(step.bytes(), Ordering::Relaxed);
        self.shared.taken.fetch_add(1, Ordering::Relaxed);
    }

    /// Asks for leave to open a connection: never more at a time than the phase has.
    pub fn take_connection(&self) -> bool {
        let fewer = |free: i64| (free > 0).then_some(free - 1);
        self.shared.free.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fewer).is_ok()
    }

    pub fn give_connection_back(&self) {
        self.shared.free.fetch_add(1, Ordering::Relaxed);
    }
}

/// The reading thread and the writing one.
pub struct Feed {
    shared: Arc<Shared>,
    reader: JoinHandle<(Fingerprints, Option<String>)>,
    results: Results,
    job: ReplayJob,
    source: mydyno_trace::Source,
}

impl Feed {
    /// Opens the trace and reads its first part.
    ///
    /// # Errors
    /// The trace cannot be read, or the folder of the results cannot be written.
    pub fn start(
        job: &ReplayJob,
        connections: u32,
        reactors: usize,
    ) -> Result<(Self, Vec<Lane>), Fatal> {
        let trace = open(&job.trace)?;
        let source = trace.header().source;
        let (results, reports) = Results::start(job)?;
        let shared = Arc::new(Shared {
            queued: AtomicU64::new(0),
            taken: AtomicU64::new(0),
            stop: AtomicBool::new(false),
            over: AtomicBool::new(false),
            filled: AtomicBool::new(false),
            free: AtomicI64::new(i64::from(connections)),
            wakers: OnceLock::new(),
        });
        let (mut ends, mut lanes) = (Vec::new(), Vec::new());
        for _ in 0..reactors {
            let (sender, steps) = channel();
            ends.push(sender);
            lanes.push(Lane {
                steps,
                shared: shared.clone(),
                reports: reports.clone(),
                speed: job.speed,
                default_schema: job.schema.as_ref().map(|name| name.as_bytes().into()),
            });
        }
        let reading = Reading {
            job: job.clone(),
            shared: shared.clone(),
            pending: ends.iter().map(|_| Vec::with_capacity(BATCH)).collect(),
            load: vec![0; ends.len()],
            ends,
            reports,
            owners: HashMap::new(),
            fingerprints: Fingerprints::default(),
        };
        let reader = thread::Builder::new()
            .name("trace".into())
            .spawn(move || reading.run(trace))
            .map_err(|error| internal(&format!("cannot start a thread: {error}")))?;
        while !shared.filled.load(Ordering::Acquire) {
            thread::sleep(PAUSE);
        }
        Ok((Self { shared, reader, results, job: job.clone(), source }, lanes))
    }

    /// The reactors are there and can be woken.
    pub fn wake(&self, wakers: Vec<Waker>) {
        let _ = self.shared.wakers.set(wakers);
    }

    /// Ends both threads, after the reactors have ended, and sums up.
    pub fn finish(self) -> Result<Summary, Fatal> {
        self.shared.stop.store(true, Ordering::Release);
        let (fingerprints, problem) =
            self.reader.join().map_err(|_| internal("the reader of the trace failed"))?;
        self.results.finish(&self.job, self.source, &fingerprints, problem)
    }
}

/// Opens a trace.
pub fn open(path: &Path) -> Result<Trace, Fatal> {
    Trace::open(path).map_err(|error| unread(&error))
}

/// What is wrong with a trace.
pub fn unread(error: &mydyno_trace::Error) -> Fatal {
    let fatal = Fatal::new(FatalCode::BadJob, error.to_string());
    match error.hint() {
        Some(hint) => fatal.hint(hint),
        None => fatal,
    }
}

fn internal(what: &str) -> Fatal {
    Fatal::new(FatalCode::Internal, what.to_owned())
}

/// The reading thread.
struct Reading {
    job: ReplayJob,
    shared: Arc<Shared>,
    ends: Vec<Sender<Vec<Step>>>,
    pending: Vec<Vec<Step>>,
    /// Connections of each reactor that are open in the trace.
    load: Vec<usize>,
    reports: Sender<Report>,
    /// The reactors of the connections that are open in the trace.
    owners: HashMap<u64, usize>,
    fingerprints: Fingerprints,
}

impl Reading {
    fn run(mut self, trace: Trace) -> (Fingerprints, Option<String>) {
        let (from_us, until_us) = self.job.part_us();
        let mut number = 0;
        let mut last_us = 0;
        let mut has_begun = false;
        let mut problem = None;
        let records = match trace.records() {
            Ok(records) => records,
            Err(error) => {
                problem = Some(error.to_string());
                return self.end(last_us, problem);
            }
        };
        for record in records {
            let record = match record {
                Ok(record) => record,
                Err(error) => {
                    problem = Some(error.to_string());
                    break;
                }
            };
            if record.at_us() >= until_us || self.shared.stop.load(Ordering::Acquire) {
                break;
            }
            let at_us = record.at_us().saturating_sub(from_us);
            let is_early = record.at_us() < from_us;
            last_us = last_us.max(at_us);
            let connection = u64::from(record.connection());
            let what = match record {
                // One that is open when the part begins opens with its first statement.
                TraceRecord::Opened(_) if is_early => continue,
                TraceRecord::Opened(_) => What::Open,
                TraceRecord::Closed(_) => What::Close,
                TraceRecord::Statement(traced) => {
                    let own = number;
                    number += 1;
                    if is_early {
                        continue;
                    }
                    if !std::mem::replace(&mut has_begun, true) {
                        let _ = self.reports.send(Report::First(own));
                    }
                    What::Statement(self.queued(own, traced))
                }
            };
            self.deal(Step { connection, at_us, what });
            self.wait_for_room();
        }
        self.end(last_us, problem)
    }

    fn end(mut self, last_us: u64, problem: Option<String>) -> (Fingerprints, Option<String>) {
        // What the trace does not close is closed where it ends.
        for connection in self.owners.keys().copied().collect::<Vec<_>>() {
            self.deal(Step { connection, at_us: last_us, what: What::Close });
        }
        self.hand_over_all();
        self.shared.over.store(true, Ordering::Release);
        self.shared.filled.store(true, Ordering::Release);
        self.wake_all();
        (self.fingerprints, problem)
    }

    fn queued(&mut self, number: u64, traced: Statement) -> Box<Queued> {
        let (fingerprint, described) = self.fingerprints.meet(number, &traced);
        if let Some(described) = described {
            // The writer outlives the reader.
            let _ = self.reports.send(Report::Fingerprint(Box::new(described)));
        }
        let choice = choose(&traced.sql, &self.job);
        Box::new(Queued { number, fingerprint, choice, traced })
    }

    fn deal(&mut self, step: Step) {
        let owner = match self.owners.get(&step.connection) {
            Some(&owner) => owner,
            None if matches!(step.what, What::Close) => return,
            None => {
                let least = self.load.iter().enumerate().min_by_key(|(_, count)| **count);
                let owner = least.map_or(0, |(reactor, _)| reactor);
                self.load[owner] += 1;
                self.owners.insert(step.connection, owner);
                owner
            }
        };
        if matches!(step.what, What::Close) {
            self.owners.remove(&step.connection);
            self.load[owner] -= 1;
        }
        self.shared.queued.fetch_add(step.bytes(), Ordering::Relaxed);
        self.pending[owner].push(step);
        if self.pending[owner].len() >= BATCH {
            self.hand_over(owner);
        }
    }

    fn hand_over(&mut self, reactor: usize) {
        if self.pending[reactor].is_empty() {
            return;
        }
        let steps = std::mem::replace(&mut self.pending[reactor], Vec::with_capacity(BATCH));
        // A reactor that has ended needs none.
        let _ = self.ends[reactor].send(steps);
        if let Some(wakers) = self.shared.wakers.get() {
            wakers[reactor].wake();
        }
    }

    fn hand_over_all(&mut self) {
        for reactor in 0..self.ends.len() {
            self.hand_over(reactor);
        }
    }

    fn wake_all(&self) {
        if let Some(wakers) = self.shared.wakers.get() {
            wakers.iter().for_each(Waker::wake);
        }
    }

    fn wait_for_room(&mut self) {
        let is_full = |shared: &Shared| shared.queued.load(Ordering::Relaxed) >= MOST_QUEUED;
        if !is_full(&self.shared) {
            return;
        }
        self.hand_over_all();
        self.shared.filled.store(true, Ordering::Release);
        let mut taken = self.shared.taken.load(Ordering::Relaxed);
        let mut since = Instant::now();
        while is_full(&self.shared) && !self.shared.stop.load(Ordering::Acquire) {
            thread::sleep(PAUSE);
            let now = self.shared.taken.load(Ordering::Relaxed);
            if now != taken {
                (taken, since) = (now, Instant::now());
            } else if since.elapsed() >= STUCK {
                return;
            }
        }
    }
}
