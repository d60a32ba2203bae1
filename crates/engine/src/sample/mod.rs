//! Samples of the server's status and of /proc on the engine's clock, from a thread and a
//! connection of their own.

mod proc;

pub use proc::{machine_cpu, process};

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, ScopedJoinHandle};
use std::time::Duration;

use crate::admin::{Admin, connect_failure};
use crate::clock::{Clock, nanoseconds};
use crate::failure::{Fatal, FatalCode};
use crate::job::Sampling;
use crate::os::address::Address;
use crate::os::counters::Counters;
use crate::protocol::handshake::Login;
use crate::report::Reporter;
use crate::report::messages::{Message, ProcessSample, Sample};

/// A server that does not answer a status query for this long is taken as gone.
const ANSWER_LIMIT: Duration = Duration::from_secs(30);

/// A server that is sampled.
pub struct Sampled<'a> {
    pub number: usize,
    pub sampling: &'a Sampling,
    pub address: &'a Address,
    pub login: &'a Login,
}

/// Samples until it is dropped or stopped.
pub struct Sampler<'scope> {
    stop: Sender<()>,
    /// A status query that is under way must not hold up the end of the run.
    stopping: Arc<AtomicBool>,
    thread: ScopedJoinHandle<'scope, ()>,
}

impl<'scope> Sampler<'scope> {
    /// Connects, takes a first sample and begins: what is done after this call is counted.
    pub fn start<'env>(
        scope: &'scope thread::Scope<'scope, 'env>,
        server: &Sampled<'_>,
        clock: Clock,
        patience: Duration,
        reporter: &'env Reporter,
    ) -> Result<Self, Fatal> {
        if proc::this_process().is_none() {
            return Err(Fatal::new(FatalCode::Internal, "cannot sample: /proc is not readable"));
        }
        let Sampled { number, sampling, address, login } = server;
        let login = Login { database: None, ..(*login).clone() };
        let limit = patience.min(ANSWER_LIMIT);
        let mut admin = Admin::connect(address, &login, limit)
            .map_err(|error| connect_failure(&error, address))?;
        let stopping = Arc::new(AtomicBool::new(false));
        admin.hurry_once(stopping.clone());
        let (stop, stopped) = channel();
        let mut worker = Worker {
            server: *number,
            clock,
            admin: Some(admin),
            server_pid: sampling.server_pid,
            counters: sampling.server_pid.and_then(Counters::of),
            interval_ns: nanoseconds(sampling.interval_s),
            reporter,
        };
        let began_ns = clock.now_ns();
        worker.sample();
        let thread = thread::Builder::new()
            .name("sampler".into())
            .spawn_scoped(scope, move || worker.run(began_ns, &stopped))
            .map_err(|error| {
                Fatal::new(FatalCode::Internal, format!("cannot start a thread: {error}"))
            })?;
        Ok(Self { stop, stopping, thread })
    }

    /// Takes a last sample and ends.
    pub fn stop(self) {
        self.stopping.store(true, Ordering::Relaxed);
        drop(self.stop);
        // A panic would have ended the process.
        let _ = self.thread.join();
    }
}

struct Worker<'a> {
    server: usize,
    clock: Clock,
    admin: Option<Admin>,
    server_pid: Option<u32>,
    counters: Option<Counters>,
    interval_ns: u64,
    reporter: &'a Reporter,
}

impl Worker<'_> {
    /// Samples on the grid of `began_ns`; a reading that came late does not shift the later ones.
    fn run(&mut self, began_ns: u64, stopped: &Receiver<()>) {
        let mut next_ns = began_ns;
        loop {
            let now = self.clock.now_ns();
            next_ns += self.interval_ns;
            next_ns += now.saturating_sub(next_ns).div_ceil(self.interval_ns) * self.interval_ns;
            let waited = stopped.recv_timeout(self.clock.until(next_ns));
            self.sample();
            if waited != Err(RecvTimeoutError::Timeout) {
                return;
            }
        }
    }

    fn sample(&mut self) {
        let status = self.status();
        // It was readable at the start.
        let Some(client) = proc::this_process() else { return };
        self.reporter.send(&Message::Sample(Sample {
            server_number: self.server,
            status,
            server: self.process(),
            client,
            host: proc::host(),
        }));
    }

    fn process(&self) -> Option<ProcessSample> {
        let sample = proc::process_with_switches(self.server_pid?)?;
        let counted = self.counters.as_ref().and_then(Counters::read);
        Some(ProcessSample {
            instructions: counted.map(|counted| counted.instructions),
            cache_misses: counted.map(|counted| counted.cache_misses),
            ..sample
        })
    }

    /// Every global status variable; `None` once the server does not answer any more.
    fn status(&mut self) -> Option<BTreeMap<String, String>> {
        let admin = self.admin.as_mut()?;
        let Ok(rows) = admin.query("SHOW GLOBAL STATUS") else {
            self.admin = None;
            return None;
        };
        Some(
            rows.into_iter()
                .filter_map(|row| {
                    let mut columns = row.into_iter().flatten();
                    Some((columns.next()?, columns.next()?))
                })
                .collect(),
        )
    }
}
