//! The lines that the engine writes; `docs/reference/engine-protocol.md` explains every field.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::failure::FatalCode;
use crate::histogram::LatencySummary;
use crate::load::recorder::Classes;
use crate::os::usage::CpuSeconds;
use crate::replay::tally::Summary;

#[derive(Clone, Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Message {
    Hello(Hello),
    /// Nothing else was to be said for some seconds.
    Alive,
    Progress {
        stage: String,
        done: u64,
        of: u64,
        /// What is counted.
        unit: &'static str,
    },
    Prepared {
        tables: Vec<TableRows>,
        /// Rows that were loaded; those of tables that were there are not in it.
        loaded: u64,
        statements: u64,
    },
    /// `label` is the test program's name for sql-bench, else null.
    PhaseStart {
        server: usize,
        phase: usize,
        connections: u32,
        label: Option<&'static str>,
    },
    Connected {
        server: usize,
        phase: usize,
        reached: u32,
        failed: u32,
        errors: BTreeMap<u16, u64>,
    },
    Measuring {
        server: usize,
        phase: usize,
    },
    Interval(Interval),
    Slice(Box<Slice>),
    Sample(Sample),
    Operation(Operation),
    /// What a replay came to, before the end of its phase.
    Replay(Box<Summary>),
    PhaseEnd(Box<PhaseEnd>),
    Check {
        server: usize,
        name: String,
        holds: bool,
        detail: Option<String>,
    },
    Done {
        exit: Exit,
        client_cpu: CpuSeconds,
        peak_rss_bytes: Option<u64>,
    },
    Fatal {
        code: FatalCode,
        message: String,
        hint: Option<String>,
    },
}

#[derive(Clone, Debug, Serialize)]
pub struct Hello {
    pub server: usize,
    pub protocol: u32,
    pub engine_version: &'static str,
    pub seed: u64,
    pub started_unix_ns: u64,
    pub reactors: usize,
    pub pinned: bool,
    pub cpus: Vec<usize>,
    pub server_version: String,
    /// The process that listens on the unix socket; null over TCP.
    pub server_pid: Option<u32>,
}

#[derive(Clone, Debug, Serialize)]
pub struct TableRows {
    pub name: String,
    pub rows: u64,
}

#[derive(Clone, Debug, Serialize)]
pub struct Interval {
    pub phase: usize,
    pub from_ns: u64,
    pub to_ns: u64,
    pub warmup: bool,
    pub queries: u64,
    pub transactions: u64,
    pub errors: u64,
    /// Lost connections that were opened again.
    pub reconnects: u64,
    pub connections: u32,
    /// The queries by what they do; null for sql-bench.
    pub queries_by_class: Option<Classes>,
    pub p50_ns: Option<u64>,
    pub p95_ns: Option<u64>,
    pub p99_ns: Option<u64>,
    pub max_ns: Option<u64>,
    /// Of the events, where the other latencies are of statements.
    pub transaction_p95_ns: Option<u64>,
    /// The same at the job's `percentile`; null without one.
    pub transaction_percentile_ns: Option<u64>,
    /// As in a latency summary; null without statements.
    pub histogram: Option<String>,
}

/// One slice of the load of one server.
#[derive(Clone, Debug, Serialize)]
pub struct Slice {
    pub server: usize,
    pub phase: usize,
    pub round: usize,
    /// Place in the order of the round.
    pub position: usize,
    /// The server of the slice before; null for the first slice of the phase.
    pub after: Option<usize>,
    pub warmup: bool,
    pub from_ns: u64,
    pub to_ns: u64,
    /// When the last event of the slice had ended.
    pub drained_ns: u64,
    pub queries: u64,
    pub transactions: u64,
    pub errors: u64,
    pub connections: u32,
    /// Queries that ended in each tenth of the slice.
    pub parts: [u64; 10],
    pub p50_ns: Option<u64>,
    pub p95_ns: Option<u64>,
    pub p99_ns: Option<u64>,
    pub max_ns: Option<u64>,
    pub histogram: Option<String>,
    /// What the process of each server has used from the start of the slice to its drained end; null for
    /// one that cannot be read.
    pub usage: Vec<Option<SliceUsage>>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SliceUsage {
    pub cpu_user_s: f64,
    pub cpu_system_s: f64,
    pub read_bytes: Option<u64>,
    pub write_bytes: Option<u64>,
}

#[derive(Clone, Debug, Serialize)]
pub struct Sample {
    pub server_number: usize,
    /// `SHOW GLOBAL STATUS`; null once the server can no longer be asked.
    pub status: Option<BTreeMap<String, String>>,
    pub server: Option<ProcessSample>,
    pub client: ProcessSample,
    pub host: HostSample,
}

/// What a process has used since it started, ended threads included.
#[derive(Clone, Debug, Serialize)]
pub struct ProcessSample {
    pub cpu_user_s: f64,
    pub cpu_system_s: f64,
    pub rss_bytes: u64,
    pub threads: u64,
    pub voluntary_switches: Option<u64>,
    pub involuntary_switches: Option<u64>,
    pub read_bytes: Option<u64>,
    pub write_bytes: Option<u64>,
}

#[derive(Clone, Debug, Serialize)]
pub struct HostSample {
    pub cpu: HostCpu,
    pub context_switches: u64,
    pub disks: BTreeMap<String, DiskSample>,
}

/// Seconds summed over all CPUs since the machine started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct HostCpu {
    pub user: f64,
    pub nice: f64,
    pub system: f64,
    pub idle: f64,
    pub iowait: f64,
    pub irq: f64,
    pub softirq: f64,
    pub steal: f64,
}

impl HostCpu {
    /// Time in which nothing ran.
    pub fn unused_s(&self) -> f64 {
        self.idle + self.iowait
    }

    pub fn all_s(&self) -> f64 {
        let used = self.user + self.nice + self.system + self.irq + self.softirq + self.steal;
        used + self.unused_s()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct DiskSample {
    pub reads: u64,
    pub read_bytes: u64,
    pub writes: u64,
    pub write_bytes: u64,
    pub busy_s: f64,
}

/// One timed operation of sql-bench.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Operation {
    pub phase: usize,
    pub program: &'static str,
    pub name: String,
    /// As the original reports them.
    pub tests: u64,
    /// Really sent.
    pub statements: u64,
    pub rows: u64,
    /// Statements that were refused or gave other rows than they must.
    pub failed: u64,
    /// Extrapolated, as the CPU times, when `estimated`.
    pub elapsed_ns: u64,
    /// Where the original's timer includes earlier work: what it would have shown.
    pub original_elapsed_ns: Option<u64>,
    pub client_cpu: CpuSeconds,
    /// Null when the server does not run on this machine.
    pub server_cpu: Option<CpuSeconds>,
    pub estimated: bool,
    pub warning: Option<String>,
    /// Whether the original's totals include it.
    pub in_totals: bool,
}

#[derive(Clone, Debug, Serialize)]
pub struct PhaseEnd {
    pub server: usize,
    pub phase: usize,
    pub connections_asked: u32,
    pub connections_reached: u32,
    pub started_ns: u64,
    /// Null when the phase ended before anything was measured.
    pub measured_from_ns: Option<u64>,
    pub measured_to_ns: Option<u64>,
    /// Time that was measured: all of it, or the sum of the slices.
    pub measured_s: Option<f64>,
    pub ended_ns: u64,
    pub interrupted: bool,
    pub aborted: Option<String>,
    pub latency_kind: LatencyKind,
    /// All kinds of statement together.
    pub queries: CountedLatency,
    /// The same by what they do; null for sql-bench.
    pub queries_by_class: Option<Classes>,
    pub statements: BTreeMap<String, StatementResult>,
    pub transactions: CountedLatency,
    pub transactions_by_name: BTreeMap<String, CountedLatency>,
    /// Null where no connection carried events.
    pub fairness: Option<Fairness>,
    pub connects: CountedLatency,
    pub errors: BTreeMap<u16, u64>,
    pub error_examples: BTreeMap<u16, String>,
    /// Statements without an answer when the phase was closed.
    pub unanswered: u64,
    /// Lost connections that were opened again.
    pub reconnects: u64,
    /// Errors after which an event started again.
    pub retries: u64,
    pub client_cpu: CpuSeconds,
    /// Share of the machine's CPU time, 0 to 1, that was neither idle nor waiting for I/O in the measured
    /// part; null where /proc/stat cannot be read, and with slices.
    pub machine_busy: Option<f64>,
    /// Null in a closed loop, which has no backlog.
    pub backlog_max: Option<u64>,
    /// How far the wall clock was set during the phase, forward or (negative) back.
    pub wall_clock_step_ns: i64,
}

#[derive(Clone, Debug, Serialize)]
pub struct StatementResult {
    pub count: u64,
    pub errors: u64,
    pub rows: u64,
    pub latency: LatencySummary,
}

#[derive(Clone, Debug, Serialize)]
pub struct CountedLatency {
    pub count: u64,
    pub latency: LatencySummary,
}

/// How evenly the connections shared the events; deviations are those of a population.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Fairness {
    pub connections: u64,
    pub events_mean: f64,
    pub events_stddev: f64,
    /// Of the sum of a connection's event latencies.
    pub busy_mean_s: f64,
    pub busy_stddev_s: f64,
}

/// Whether latencies start when a statement was sent, or when it should have been.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LatencyKind {
    Service,
    Response,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Exit {
    Ok,
    Interrupted,
    Aborted,
}
