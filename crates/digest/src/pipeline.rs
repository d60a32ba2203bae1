//! Sources to a digest, on as many threads as are wanted.
//!
//! The workers take turns at the reader: whoever holds it reads the next chunk into a buffer of its own and
//! gives the reader on, so that a chunk is read where it is parsed, while it is in that CPU's cache. What a
//! chunk takes from those before it (a time, a database, a line's number) goes from worker to worker through
//! a channel: each finds out what the next one needs before it parses. The digest is the same for any number
//! of threads and any size of buffers.

mod reader;
mod tally;
#[cfg(test)]
mod tests;
mod worker;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use crate::chunk::Sizes;
use crate::filter::Filters;
use crate::fingerprint::TableNames;
use crate::groups::{Finish, GroupMessages, Grouping, Groups, Place};
use crate::message::{self, Digest, FORMAT, Progress};
use crate::out_log::OutLog;
use crate::source::total_bytes;
use crate::stop::Stop;
use reader::Reader;
use tally::Tallies;

/// More threads than this find the reader busy.
const MOST_THREADS: usize = 16;

const PROGRESS_EVERY: Duration = Duration::from_millis(200);

/// What to digest, and how.
#[derive(Clone, Debug)]
pub struct Job {
    /// Paths; `-` is standard input.
    pub sources: Vec<String>,
    pub filters: Filters,
    pub grouping: Grouping,
    /// Where entries that the filters let through are written to.
    pub out_log: Option<Arc<OutLog>>,
    /// As many groups are listed and the others summed up; None lists all.
    pub limit: Option<usize>,
    /// As many bytes of an example are shown.
    pub example_bytes: usize,
    /// None is as many as the machine has CPUs for this process.
    pub threads: Option<usize>,
    pub sizes: Sizes,
}

/// How far the workers have come.
#[derive(Default)]
struct Counters {
    read_bytes: AtomicU64,
    entries: AtomicU64,
}

/// Reads all sources: the digest, and its groups. What cannot be read is among the digest's problems.
/// `progress` is called several times a second.
pub fn digest(
    job: &Job,
    stop: &Stop,
    mut progress: impl FnMut(Progress),
) -> (Digest, GroupMessages) {
    let counters = Counters::default();
    let reader = Mutex::new(Reader::new(job, stop, &counters));
    let of_bytes = total_bytes(&job.sources);
    let (done, is_done) = channel::<()>();
    let (groups, tallies) = thread::scope(|scope| {
        let workers: Vec<_> = (0..threads(job))
            .map(|_| {
                let done = done.clone();
                let (reader, counters) = (&reader, &counters);
                scope.spawn(move || {
                    // Dropped when this worker ends; the last one ends the waiting below.
                    let _done = done;
                    worker::work(job, reader, counters)
                })
            })
            .collect();
        drop(done);
        while is_done.recv_timeout(PROGRESS_EVERY) == Err(RecvTimeoutError::Timeout) {
            progress(Progress {
                read_bytes: counters.read_bytes.load(Ordering::Relaxed),
                of_bytes,
                entries: counters.entries.load(Ordering::Relaxed),
            });
        }
        let mut groups = Groups::new(job.example_bytes, job.grouping.clone());
        let mut tallies = Tallies::new(job.sources.len());
        for worker in workers {
            let (its_groups, its_tallies) = worker.join().expect("a worker does not panic");
            groups.merge(its_groups);
            tallies.merge(its_tallies);
        }
        (groups, tallies)
    });
    let reader = reader.into_inner().expect("a worker does not panic");
    let (sources, problems, filtered) = tallies.finish(&job.sources, reader.into_read());
    let place = |source: &message::Source| Place {
        name: source.name.clone(),
        has_lines: source.format == message::SLOW_LOG,
    };
    let places: Vec<Place> = sources.iter().map(place).collect();
    let finish = Finish { limit: job.limit, sources: &places };
    let found = groups.finish(&finish);
    let digest = Digest {
        format: FORMAT,
        sources,
        problems,
        filtered,
        total: found.total,
        timeline: found.timeline,
        group_by: job.grouping.by.to_string(),
        merge_tables: job.grouping.names == TableNames::Merged,
        groups: found.groups.len() as u64,
        rest: found.rest,
    };
    (digest, found.groups)
}

fn threads(job: &Job) -> usize {
    let available = || thread::available_parallelism().map_or(1, usize::from);
    job.threads.unwrap_or_else(available).clamp(1, MOST_THREADS)
}
