//! What the types of a job cannot say: limits, and keys that depend on each other.

use super::{
    Arrival, Job, PROTOCOL, Part, Phase, Prepare, ReplayJob, ServerJob, Slices, SqlBenchJob,
    Target, Work, WorkloadJob,
};
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
/// A reactor is a thread. Engines that share a load have seeds this far from each other.
pub const MOST_REACTORS: usize = 1024;
/// Engines that can share a load.
const MOST_PARTS: u32 = 64;
/// Servers that one job can have; each has its own threads.
const MOST_SERVERS: usize = 64;
/// In shorter slices much of the time would go to the switch from server to server.
const LEAST_SLICE_S: f64 = 0.05;
const MOST_SLICE_S: f64 = 60.0;
/// Of zstd; the MySQL clients take no others.
const MOST_ZSTD_LEVEL: u8 = 22;
/// Beyond these a replay is a standstill, or as fast as possible.
const LEAST_SPEED: f64 = 0.001;
const MOST_SPEED: f64 = 1000.0;
/// A month.
const MOST_TRACE_S: f64 = 31.0 * 86_400.0;
/// MySQL's limit for the name of a database.
const LONGEST_NAME: usize = 64;

pub(super) fn check(job: &Job) -> Result<(), Fatal> {
    if job.protocol != PROTOCOL {
        return bad(
            "protocol",
            format!("this engine speaks protocol {PROTOCOL}, the job asks for {}", job.protocol),
        );
    }
    match &job.slices {
        None if job.servers.len() > 1 => return bad("slices", "is needed with servers"),
        None => check_server("", job, &job.servers[0])?,
        Some(slices) => check_slices(job, slices)?,
    }
    between("answer_within_s", job.answer_within_s, LEAST_PATIENCE_S, MOST_SECONDS)?;
    between("interval_s", job.interval_s, LEAST_INTERVAL_S, MOST_SECONDS)?;
    if let Some(percentile) = job.percentile.filter(|percent| !(0.0..=100.0).contains(percent)) {
        return bad("percentile", format!("must be from 0 to 100, is {percentile}"));
    }
    match job.reactors {
        Some(reactors) if !(1..=MOST_REACTORS).contains(&reactors) => {
            bad("reactors", format!("must be from 1 to {MOST_REACTORS}, is {reactors}"))
        }
        _ => check_part(job),
    }
}

/// Checks that the load can be divided as asked: each engine has a connection that carries events.
fn check_part(job: &Job) -> Result<(), Fatal> {
    let Part { number, of } = job.part;
    between_whole("part.of", of, 1, MOST_PARTS)?;
    between_whole("part.number", number, 0, of - 1)?;
    if of == 1 {
        return Ok(());
    }
    if job.slices.is_some() {
        return bad("part", "cannot be combined with slices");
    }
    if job.prepare != Prepare::None {
        return bad("prepare", "must be none for a part of a load");
    }
    if !matches!(job.servers[0].workload, WorkloadJob::Program(_)) {
        return bad("part", "needs a program");
    }
    for (index, phase) in job.servers[0].phases.iter().enumerate() {
        if phase.carriers() < of {
            let carriers = phase.carriers();
            let reason = format!("{carriers} of them carry events, and {of} engines share them");
            return bad(&format!("phases[{index}].connections"), reason);
        }
        if matches!(phase.work, Work::Events { events } if events < u64::from(of)) {
            let reason = format!("must be at least 1 for each of {of} engines");
            return bad(&format!("phases[{index}].work.events"), reason);
        }
    }
    Ok(())
}

/// Checks one server and its load; `path` comes before its keys.
fn check_server(path: &str, job: &Job, server: &ServerJob) -> Result<(), Fatal> {
    check_target(path, &server.target)?;
    match &server.workload {
        WorkloadJob::Program(_) => {}
        WorkloadJob::SqlBench(sql_bench) => check_sql_bench(server, sql_bench)?,
        WorkloadJob::Replay(replay) => check_replay(job, server, replay)?,
        WorkloadJob::Watch(_) => check_watch(job, server)?,
    }
    for (index, phase) in server.phases.iter().enumerate() {
        check_phase(&format!("{path}phases[{index}]"), phase)?;
    }
    if let Some(sampling) = &server.sampling {
        let key = format!("{path}sampling.interval_s");
        between(&key, sampling.interval_s, LEAST_INTERVAL_S, MOST_SECONDS)?;
    }
    Ok(())
}

/// Checks the servers of a job with slices, and what slices cannot be combined with.
fn check_slices(job: &Job, slices: &Slices) -> Result<(), Fatal> {
    let servers = job.servers.len();
    if !(1..=MOST_SERVERS).contains(&servers) {
        let reason = format!("must be from 1 to {MOST_SERVERS} with slices, are {servers}");
        return bad("servers", reason);
    }
    if job.prepare != Prepare::None {
        return bad("prepare", "must be none with slices");
    }
    if slices.slice_s < LEAST_SLICE_S {
        let reason = format!("must be at least {LEAST_SLICE_S} seconds, is {}", slices.slice_s);
        return bad("slices.slice_s", reason + ": shorter slices are mostly switching");
    }
    between("slices.slice_s", slices.slice_s, LEAST_SLICE_S, MOST_SLICE_S)?;
    between("slices.longest_s", slices.longest_s, slices.slice_s, MOST_SLICE_S)?;
    if slices.order.is_empty() {
        return bad("slices.order", "needs at least one round");
    }
    for (round, order) in slices.order.iter().enumerate() {
        let mut sorted = order.clone();
        sorted.sort_unstable();
        if !sorted.into_iter().eq(0..servers) {
            let reason = format!("must have each server from 0 to {} once", servers - 1);
            return bad(&format!("slices.order[{round}]"), reason);
        }
    }
    let phases = job.servers[0].phases.len();
    for (number, server) in job.servers.iter().enumerate() {
        let path = format!("servers[{number}].");
        check_server(&path, job, server)?;
        if !matches!(server.workload, WorkloadJob::Program(_)) {
            return bad(&format!("{path}workload"), "slices need a program");
        }
        if server.phases.is_empty() {
            return bad(&format!("{path}phases"), "slices need at least one phase");
        }
        if server.phases.len() != phases {
            let reason = format!("must be as many as those of servers[0]: {phases}");
            return bad(&format!("{path}phases"), reason);
        }
        for (index, phase) in server.phases.iter().enumerate() {
            let key = |name: &str| format!("{path}phases[{index}].{name}");
            if !matches!(phase.work, Work::Timed { .. }) {
                return bad(&key("work"), "slices need timed work");
            }
            if phase.arrival != Arrival::Closed {
                return bad(&key("arrival"), "slices need a closed loop");
            }
            if phase.ramp_s > 0.0 {
                return bad(&key("ramp_s"), "must be 0 with slices");
            }
        }
    }
    Ok(())
}

fn check_target(path: &str, target: &Target) -> Result<(), Fatal> {
    let key = |name: &str| format!("{path}target{name}");
    match (&target.socket, &target.host) {
        (None, None) => return bad(&key(""), "needs socket, or host and port"),
        (Some(_), Some(_)) => return bad(&key(""), "has both socket and host: choose one"),
        (Some(_), None) if target.port.is_some() => {
            return bad(&key(".port"), "goes with host, not with socket");
        }
        _ => {}
    }
    let name = &target.database;
    if name.is_empty() || name.len() > LONGEST_NAME {
        return bad(&key(".database"), format!("must have 1 to {LONGEST_NAME} characters"));
    }
    if name.contains(['`', '\0', '/', '\\']) {
        return bad(&key(".database"), "must not contain a back-quote, a slash or a zero byte");
    }
    match &target.compression {
        Some(compression) if compression.algorithms.is_empty() => {
            bad(&key(".compression.algorithms"), "needs zlib, zstd or uncompressed")
        }
        Some(compression) if !(1..=MOST_ZSTD_LEVEL).contains(&compression.zstd_level) => {
            let level = compression.zstd_level;
            let message = format!("must be from 1 to {MOST_ZSTD_LEVEL}, is {level}");
            bad(&key(".compression.zstd_level"), message)
        }
        _ => Ok(()),
    }
}

fn check_watch(job: &Job, server: &ServerJob) -> Result<(), Fatal> {
    if !server.phases.is_empty() {
        return bad("phases", "must be empty when the workload is watch");
    }
    if job.prepare != Prepare::None {
        return bad("prepare", "must be none when the workload is watch");
    }
    if server.sampling.is_none() {
        return bad("sampling", "is needed when the workload is watch");
    }
    Ok(())
}

fn check_replay(job: &Job, server: &ServerJob, replay: &ReplayJob) -> Result<(), Fatal> {
    let key = |name: &str| format!("workload.replay.{name}");
    if server.phases.len() != 1 || server.phases[0].work != Work::Trace {
        return bad("phases", "must be one, with work of kind trace, when the workload is replay");
    }
    let phase = &server.phases[0];
    if phase.arrival != Arrival::Closed
        || phase.think.is_some()
        || phase.active.is_some()
        || phase.ramp_s > 0.0
    {
        return bad("phases[0]", "arrival, think, active and ramp_s do not go with a trace");
    }
    if job.prepare != Prepare::None {
        return bad("prepare", "must be none when the workload is replay");
    }
    if let Some(speed) = replay.speed
        && !(LEAST_SPEED..=MOST_SPEED).contains(&speed)
    {
        let reason = format!("must be from {LEAST_SPEED} to {MOST_SPEED}, is {speed}");
        return bad(&key("speed"), reason);
    }
    between(&key("from_s"), replay.from_s, 0.0, MOST_TRACE_S)?;
    between(&key("for_s"), replay.for_s.unwrap_or(1.0), 0.001, MOST_TRACE_S)
}

fn check_sql_bench(server: &ServerJob, sql_bench: &SqlBenchJob) -> Result<(), Fatal> {
    let key = |name: &str| format!("workload.sql_bench.{name}");
    if !server.phases.is_empty() {
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
        Work::Rounds { .. } | Work::Events { .. } | Work::Split { .. } | Work::Trace => {}
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
