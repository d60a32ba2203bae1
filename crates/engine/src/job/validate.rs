//! What the types of a job cannot say: limits, and keys that depend on each other.

use super::{Arrival, Job, PROTOCOL, Phase, Target, Work};
use crate::failure::{Fatal, FatalCode};

/// More connections than a server can be asked for (`max_connections` ends at 100,000).
const MOST_CONNECTIONS: u32 = 100_000;
/// A day; longer intervals and phases are slips of the pen.
const MOST_SECONDS: f64 = 86_400.0;
/// Shorter intervals would flood the reader of the messages.
const LEAST_INTERVAL_S: f64 = 0.01;
/// Beyond what any server answers; keeps the arithmetic of arrivals in range.
const MOST_RATE: f64 = 100_000_000.0;
/// MySQL's limit for the name of a database.
const LONGEST_NAME: usize = 64;

pub(super) fn check(job: &Job) -> Result<(), Fatal> {
    if job.protocol != PROTOCOL {
        return bad(
            "protocol",
            format!("this engine speaks protocol {PROTOCOL}, the job asks for {}", job.protocol),
        );
    }
    check_target(&job.target)?;
    for (index, phase) in job.phases.iter().enumerate() {
        check_phase(&format!("phases[{index}]"), phase)?;
    }
    between("interval_s", job.interval_s, LEAST_INTERVAL_S, MOST_SECONDS)?;
    if let Some(sampling) = &job.sampling {
        between("sampling.interval_s", sampling.interval_s, LEAST_INTERVAL_S, MOST_SECONDS)?;
    }
    match job.reactors {
        Some(reactors) if !(1..=1024).contains(&reactors) => {
            bad("reactors", format!("must be from 1 to 1024, is {reactors}"))
        }
        _ => Ok(()),
    }
}

fn check_target(target: &Target) -> Result<(), Fatal> {
    match (&target.socket, &target.host) {
        (None, None) => return bad("target", "needs socket, or host and port"),
        (Some(_), Some(_)) => return bad("target", "has both socket and host: choose one"),
        (Some(_), None) if target.port.is_some() => {
            return bad("target.port", "goes with host, not with socket");
        }
        _ => {}
    }
    let name = &target.database;
    if name.is_empty() || name.len() > LONGEST_NAME {
        return bad("target.database", format!("must have 1 to {LONGEST_NAME} characters"));
    }
    if name.contains(['`', '\0', '/', '\\']) {
        return bad("target.database", "must not contain a back-quote, a slash or a zero byte");
    }
    Ok(())
}

fn check_phase(path: &str, phase: &Phase) -> Result<(), Fatal> {
    between_whole(&format!("{path}.connections"), phase.connections, 1, MOST_CONNECTIONS)?;
    match phase.arrival {
        Arrival::Closed => {}
        Arrival::Fixed { rate } | Arrival::Poisson { rate } => {
            if !(rate > 0.0 && rate <= MOST_RATE) {
                return bad(
                    &format!("{path}.arrival.rate"),
                    format!("must be above 0 and at most {MOST_RATE} events a second, is {rate}"),
                );
            }
        }
    }
    match phase.work {
        Work::Rounds { rounds: 0 } => bad(&format!("{path}.work.rounds"), "must be at least 1")?,
        Work::Rounds { .. } => {}
        Work::Timed { warmup_s, measure_s } => {
            between(&format!("{path}.work.warmup_s"), warmup_s, 0.0, MOST_SECONDS)?;
            between(&format!("{path}.work.measure_s"), measure_s, 0.001, MOST_SECONDS)?;
        }
    }
    between(&format!("{path}.pause_s"), phase.pause_s, 0.0, MOST_SECONDS)
}

fn between(key: &str, value: f64, least: f64, most: f64) -> Result<(), Fatal> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    bad(key, format!("must be from {least} to {most} seconds, is {value}"))
}

fn between_whole(key: &str, value: u32, least: u32, most: u32) -> Result<(), Fatal> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    bad(key, format!("must be from {least} to {most}, is {value}"))
}

fn bad<T>(key: &str, reason: impl AsRef<str>) -> Result<T, Fatal> {
    Err(Fatal::new(FatalCode::BadJob, format!("{key}: {}", reason.as_ref())))
}
