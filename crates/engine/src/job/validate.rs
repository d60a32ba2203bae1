//! What the types of a job cannot say: limits, and keys that depend on each other.

use super::{Arrival, Job, PROTOCOL, Phase, Prepare, SqlBenchJob, Target, Work, WorkloadJob};
use crate::failure::{Fatal, FatalCode};

/// More connections than a server can be asked for (`max_connections` ends at 100,000).
const MOST_CONNECTIONS: u32 = 100_000;
/// A day; longer intervals and phases are slips of the pen.
const MOST_SECONDS: f64 = 86_400.0;
/// Shorter intervals would flood the reader of the messages.
const LEAST_INTERVAL_S: f64 = 0.01;
/// A shorter patience would give up on statements that only waited for a CPU.
const LEAST_PATIENCE_S: f64 = 0.1;
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
    match &job.workload {
        WorkloadJob::Program(_) => {}
        WorkloadJob::SqlBench(sql_bench) => check_sql_bench(job, sql_bench)?,
        WorkloadJob::Watch(_) => check_watch(job)?,
    }
    for (index, phase) in job.phases.iter().enumerate() {
        check_phase(&format!("phases[{index}]"), phase)?;
    }
    between("answer_within_s", job.answer_within_s, LEAST_PATIENCE_S, MOST_SECONDS)?;
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

fn check_watch(job: &Job) -> Result<(), Fatal> {
    if !job.phases.is_empty() {
        return bad("phases", "must be empty when the workload is watch");
    }
    if job.prepare != Prepare::None {
        return bad("prepare", "must be none when the workload is watch");
    }
    if job.sampling.is_none() {
        return bad("sampling", "is needed when the workload is watch");
    }
    Ok(())
}

fn check_sql_bench(job: &Job, sql_bench: &SqlBenchJob) -> Result<(), Fatal> {
    let key = |name: &str| format!("workload.sql_bench.{name}");
    if !job.phases.is_empty() {
        return bad("phases", "must be empty: sql_bench makes one phase for each test program");
    }
    if sql_bench.groups.is_empty() {
        return bad(&key("groups"), "needs at least one test program");
    }
    between(&key("time_limit_s"), sql_bench.time_limit_s, 0.001, MOST_SECONDS)?;
    for (name, value, most) in [
        ("loop_count", sql_bench.loop_count, 100_000_000),
        ("row_count", sql_bench.row_count, 1_000_000),
        ("field_count", sql_bench.field_count, 2000),
        ("regions", sql_bench.regions, 26),
        ("region_groups", sql_bench.region_groups, 1_000_000),
    ] {
        if value.is_some_and(|value| value == 0 || value > most) {
            return bad(&key(name), format!("must be from 1 to {most}"));
        }
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
    if let Some(active) = phase.active {
        between_whole(&format!("{path}.active"), active, 1, phase.connections)?;
    }
    if let Some(think) = phase.think {
        if phase.arrival != Arrival::Closed {
            return bad(&format!("{path}.think"), "goes with a closed loop only");
        }
        between(&format!("{path}.think.mean_s"), think.mean_s, 0.0, MOST_SECONDS)?;
    }
    between(&format!("{path}.ramp_s"), phase.ramp_s, 0.0, MOST_SECONDS)?;
    match phase.work {
        Work::Rounds { rounds: 0 } => bad(&format!("{path}.work.rounds"), "must be at least 1")?,
        Work::Events { events: 0 } => bad(&format!("{path}.work.events"), "must be at least 1")?,
        Work::Split { events } if events < u64::from(phase.carriers()) => bad(
            &format!("{path}.work.events"),
            format!("must be at least 1 for each of {} connections", phase.carriers()),
        )?,
        Work::Rounds { .. } | Work::Events { .. } | Work::Split { .. } => {}
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
