//! The job: one JSON object on standard input that says what to drive, how, and for how long.
//!
//! These types are the format; `docs/reference/engine-protocol.md` explains every key with its unit.

mod part;
pub mod program;
pub mod replay;
mod secret;
mod sql_bench;
mod validate;

pub use validate::MOST_REACTORS;

use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;

use crate::failure::{Fatal, FatalCode};
use crate::protocol::server_key::ServerKey;

pub use part::Part;
pub use replay::ReplayJob;
pub use secret::Secret;
pub use sql_bench::{AlterAlgorithm, SqlBenchJob, SqlBenchProgram};

/// Version of the job and message format that this engine speaks.
pub const PROTOCOL: u32 = 3;

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Job {
    pub protocol: u32,
    /// These four describe the server of a job that has one; `parse` moves them to `servers`.
    target: Option<Target>,
    workload: Option<WorkloadJob>,
    phases: Option<Vec<Phase>>,
    sampling: Option<Sampling>,
    /// Never empty once the job is read; more than one are driven in slices.
    #[serde(default)]
    pub servers: Vec<ServerJob>,
    #[serde(default)]
    pub slices: Option<Slices>,
    #[serde(default = "default_seed")]
    pub seed: u64,
    #[serde(default)]
    pub prepare: Prepare,
    /// Drop or replace a table even if mydyno did not make it.
    #[serde(default)]
    pub drop_existing: bool,
    /// A statement that has no answer after this long is given up with its connection.
    #[serde(default = "default_answer_within_s")]
    pub answer_within_s: f64,
    #[serde(default = "default_interval_s")]
    pub interval_s: f64,
    /// What the intervals say of their events besides the 95th percentile, in percent.
    #[serde(default)]
    pub percentile: Option<f64>,
    #[serde(default)]
    pub reactors: Option<usize>,
    #[serde(default)]
    pub pin: Option<bool>,
    #[serde(default = "yes")]
    pub die_with_parent: bool,
    /// Of the load that the job describes this engine carries out a part, others the rest.
    #[serde(default)]
    pub part: Part,
    /// Each phase waits for its start (`mydyno-engine run --starts`).
    #[serde(skip)]
    pub starts: bool,
}

/// One server and its load.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServerJob {
    pub target: Target,
    pub workload: WorkloadJob,
    pub phases: Vec<Phase>,
    #[serde(default)]
    pub sampling: Option<Sampling>,
}

/// How several servers are driven in turn.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Slices {
    pub slice_s: f64,
    /// Slices are lengthened up to this where statements are slow.
    pub longest_s: f64,
    /// The servers in the order of each round; begins again when it is used up.
    pub order: Vec<Vec<usize>>,
}

/// Where the server is: a unix socket, or a host and a port (3306 unless said).
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Target {
    #[serde(default)]
    pub socket: Option<PathBuf>,
    #[serde(default)]
    pub host: Option<String>,
    #[serde(default)]
    pub port: Option<u16>,
    pub user: String,
    #[serde(default)]
    pub password: Secret,
    /// The server's RSA key in PEM: over TCP nothing else encrypts a password.
    #[serde(default)]
    pub server_public_key: Option<ServerKey>,
    /// How connections are encrypted; none: they are not.
    #[serde(default)]
    pub tls: Option<TlsJob>,
    /// How connections are compressed; none: they are not.
    #[serde(default)]
    pub compression: Option<CompressionJob>,
    pub database: String,
}

/// TLS, and what is checked; the files are PEM.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TlsJob {
    pub mode: TlsMode,
    /// Certificates of authorities; those of the system unless said.
    #[serde(default)]
    pub ca: Option<PathBuf>,
    /// The client's own certificate, and its key (in the same file unless said).
    #[serde(default)]
    pub cert: Option<PathBuf>,
    #[serde(default)]
    pub key: Option<PathBuf>,
}

/// As the modes of the MySQL clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TlsMode {
    /// Where the server offers TLS; nothing is checked.
    Preferred,
    /// Always; nothing is checked.
    Required,
    /// The certificate must be signed by an authority.
    VerifyCa,
    /// The same, and it must be that of the host.
    VerifyIdentity,
}

/// Compression of the protocol, by any of these algorithms that the server offers.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CompressionJob {
    pub algorithms: Vec<CompressionAlgorithm>,
    #[serde(default = "default_zstd_level")]
    pub zstd_level: u8,
}

/// As of the MySQL clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CompressionAlgorithm {
    Zlib,
    Zstd,
    /// The connection may do without.
    Uncompressed,
}

impl CompressionAlgorithm {
    pub fn name(self) -> &'static str {
        match self {
            Self::Zlib => "zlib",
            Self::Zstd => "zstd",
            Self::Uncompressed => "uncompressed",
        }
    }
}

/// What the connections do.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "WorkloadKeys")]
pub enum WorkloadJob {
    Program(Box<program::ProgramJob>),
    SqlBench(SqlBenchJob),
    /// The statements of a trace.
    Replay(ReplayJob),
    /// No load: sample until stopped.
    Watch(WatchJob),
}

/// Has no keys.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WatchJob {}

/// What to do with the workload's tables before the first phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Prepare {
    /// Nothing: they are there.
    #[default]
    None,
    /// Drop, make and load them.
    Create,
    /// The same, but leave alone a table that already has the asked number of rows.
    IfMissing,
}

/// One stretch of load at one number of connections.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Phase {
    pub connections: u32,
    /// How many of them carry events, the others being idle; all of them unless said.
    #[serde(default)]
    pub active: Option<u32>,
    #[serde(default)]
    pub arrival: Arrival,
    pub work: Work,
    #[serde(default)]
    pub think: Option<Think>,
    /// The connections open and start evenly over this time.
    #[serde(default)]
    pub ramp_s: f64,
    #[serde(default)]
    pub pause_s: f64,
    /// Where this phase is a part of one that several engines carry out; `parse` sets these three.
    #[serde(skip)]
    pub part: Part,
    /// Connections of the whole phase; none: this is all of it.
    #[serde(skip)]
    pub in_all: Option<u32>,
    /// When the first of the arrivals at even steps is due, after the start.
    #[serde(skip)]
    pub first_s: f64,
}

/// When the next event starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(try_from = "ArrivalJob")]
pub enum Arrival {
    /// As soon as the connection's last one has ended.
    #[default]
    Closed,
    /// At even steps, this many events a second over all connections.
    Fixed { rate: f64 },
    /// At random instants (a Poisson process), this many a second on average.
    Poisson { rate: f64 },
}

impl Phase {
    /// How many connections carry events.
    pub fn carriers(&self) -> u32 {
        self.active.unwrap_or(self.connections)
    }

    /// Connections of all engines together.
    pub fn connections_in_all(&self) -> u32 {
        self.in_all.unwrap_or(self.connections)
    }
}

/// How long a connection rests between its events.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Think {
    pub kind: ThinkKind,
    pub mean_s: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ThinkKind {
    Constant,
    Exponential,
    /// From nothing to twice the mean.
    Uniform,
}

/// How long a phase lasts.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(try_from = "WorkJob")]
pub enum Work {
    /// Each connection runs this many events.
    Rounds { rounds: u64 },
    /// All connections together run this many events, each taking the next one when it is free.
    Events { events: u64 },
    /// Each connection runs an equal share of this many events, rounded down.
    Split { events: u64 },
    /// The clock decides: first a warm-up that is not counted, then the measured part.
    Timed { warmup_s: f64, measure_s: f64 },
    /// The statements of the trace, once.
    Trace,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sampling {
    #[serde(default = "default_interval_s")]
    pub interval_s: f64,
    #[serde(default)]
    pub server_pid: Option<u32>,
}

impl Job {
    /// Reads and checks a job. The error names the key that is wrong and never quotes the password.
    pub fn parse(text: &str) -> Result<Self, Fatal> {
        let input = &mut serde_json::Deserializer::from_str(text);
        let job: Job = serde_path_to_error::deserialize(&mut *input).map_err(|error| {
            let path = error.path().to_string();
            let reason = error.into_inner().to_string();
            Fatal::new(FatalCode::BadJob, name_the_key(&path, &reason))
        })?;
        input.end().map_err(|error| {
            Fatal::new(FatalCode::BadJob, format!("the job is followed by more text: {error}"))
        })?;
        let mut job = job.with_servers()?;
        validate::check(&job)?;
        if job.part.of > 1 {
            for phase in job.servers.iter_mut().flat_map(|server| &mut server.phases) {
                *phase = job.part.of_phase(phase);
            }
        }
        Ok(job)
    }

    /// Moves the keys of a job with one server to `servers`.
    fn with_servers(mut self) -> Result<Self, Fatal> {
        let missing = |key| Fatal::new(FatalCode::BadJob, format!("missing key `{key}`"));
        let doubled = [
            ("target", self.target.is_some()),
            ("workload", self.workload.is_some()),
            ("phases", self.phases.is_some()),
            ("sampling", self.sampling.is_some()),
        ];
        match (self.slices.is_some() || !self.servers.is_empty(), doubled.iter().find(|key| key.1))
        {
            (true, Some((key, _))) => {
                let message = format!("{key}: belongs in each of servers when there are slices");
                return Err(Fatal::new(FatalCode::BadJob, message));
            }
            (true, None) => {}
            (false, _) => self.servers.push(ServerJob {
                target: self.target.take().ok_or_else(|| missing("target"))?,
                workload: self.workload.take().ok_or_else(|| missing("workload"))?,
                phases: self.phases.take().ok_or_else(|| missing("phases"))?,
                sampling: self.sampling.take(),
            }),
        }
        Ok(self)
    }

    /// How long an answer may take.
    pub fn answer_within(&self) -> Duration {
        Duration::from_secs_f64(self.answer_within_s)
    }

    /// The largest number of connections that are open at a time; 0 without phases.
    pub fn most_connections(&self) -> u32 {
        let most = |server: &ServerJob| server.phases.iter().map(|phase| phase.connections).max();
        self.servers.iter().filter_map(most).fold(0, u32::saturating_add)
    }
}

/// Puts the key before serde's reason, which is brought into the words of the documentation.
fn name_the_key(path: &str, reason: &str) -> String {
    const WORDS: [(&str, &str); 8] = [
        ("unknown field", "unknown key"),
        ("missing field", "missing key"),
        ("unknown variant", "unknown value"),
        ("expected u16", "expected a whole number from 0 to 65535"),
        ("expected u32", "expected a whole number from 0 to 4294967295"),
        ("expected u64", "expected a whole number from 0"),
        ("expected usize", "expected a whole number from 0"),
        ("expected f64", "expected a number"),
    ];
    let reason =
        WORDS.iter().fold(reason.to_owned(), |text, (serde, ours)| text.replace(serde, ours));
    match path {
        "." | "?" => reason,
        _ => format!("{path}: {reason}"),
    }
}

/// The shapes below are read flat and then checked by hand: serde's own tagged enums would
/// accept stray keys in some variants and lose the name of the key that is wrong.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WorkloadKeys {
    program: Option<program::ProgramJob>,
    sql_bench: Option<SqlBenchJob>,
    replay: Option<ReplayJob>,
    watch: Option<WatchJob>,
}

impl TryFrom<WorkloadKeys> for WorkloadJob {
    type Error = &'static str;

    fn try_from(keys: WorkloadKeys) -> Result<Self, Self::Error> {
        match (keys.program, keys.sql_bench, keys.replay, keys.watch) {
            (Some(program), None, None, None) => Ok(WorkloadJob::Program(Box::new(program))),
            (None, Some(sql_bench), None, None) => Ok(WorkloadJob::SqlBench(sql_bench)),
            (None, None, Some(replay), None) => Ok(WorkloadJob::Replay(replay)),
            (None, None, None, Some(watch)) => Ok(WorkloadJob::Watch(watch)),
            _ => Err("needs exactly one of program, sql_bench, replay and watch"),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ArrivalJob {
    kind: ArrivalKind,
    rate: Option<f64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum ArrivalKind {
    Closed,
    Fixed,
    Poisson,
}

impl TryFrom<ArrivalJob> for Arrival {
    type Error = &'static str;

    fn try_from(job: ArrivalJob) -> Result<Self, Self::Error> {
        match (job.kind, job.rate) {
            (ArrivalKind::Closed, None) => Ok(Arrival::Closed),
            (ArrivalKind::Closed, Some(_)) => Err("rate goes with kind fixed or poisson"),
            (ArrivalKind::Fixed, Some(rate)) => Ok(Arrival::Fixed { rate }),
            (ArrivalKind::Poisson, Some(rate)) => Ok(Arrival::Poisson { rate }),
            (_, None) => Err("needs rate (events per second over all connections)"),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WorkJob {
    kind: WorkKind,
    rounds: Option<u64>,
    events: Option<u64>,
    warmup_s: Option<f64>,
    measure_s: Option<f64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum WorkKind {
    Rounds,
    Events,
    Split,
    Timed,
    Trace,
}

impl TryFrom<WorkJob> for Work {
    type Error = &'static str;

    fn try_from(job: WorkJob) -> Result<Self, Self::Error> {
        let timed = job.warmup_s.is_some() || job.measure_s.is_some();
        match job.kind {
            WorkKind::Timed => {}
            _ if timed => return Err("warmup_s and measure_s go with kind timed"),
            WorkKind::Rounds => {}
            WorkKind::Events | WorkKind::Split if job.rounds.is_none() => {}
            WorkKind::Events | WorkKind::Split => return Err("rounds goes with kind rounds"),
            WorkKind::Trace if job.rounds.is_some() || job.events.is_some() => {
                return Err("kind trace has no number of its own");
            }
            WorkKind::Trace => {}
        }
        match job.kind {
            WorkKind::Trace => Ok(Work::Trace),
            WorkKind::Rounds | WorkKind::Timed if job.events.is_some() => {
                Err("events goes with kind events or split")
            }
            WorkKind::Rounds => Ok(Work::Rounds { rounds: job.rounds.ok_or("needs rounds")? }),
            WorkKind::Events => Ok(Work::Events { events: job.events.ok_or("needs events")? }),
            WorkKind::Split => Ok(Work::Split { events: job.events.ok_or("needs events")? }),
            WorkKind::Timed if job.rounds.is_some() => Err("rounds goes with kind rounds"),
            WorkKind::Timed => Ok(Work::Timed {
                warmup_s: job.warmup_s.unwrap_or(0.0),
                measure_s: job.measure_s.ok_or("needs measure_s (seconds)")?,
            }),
        }
    }
}

fn default_seed() -> u64 {
    1
}
fn default_answer_within_s() -> f64 {
    60.0
}
fn default_zstd_level() -> u8 {
    3
}
fn default_interval_s() -> f64 {
    1.0
}
fn yes() -> bool {
    true
}
