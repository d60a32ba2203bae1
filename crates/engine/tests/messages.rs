//! The message fixtures: one example of every message, byte for byte as the engine writes it.
//! The Python side reads the same files, and the examples of the documentation are these files.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use mydyno_engine::failure::{Fatal, FatalCode};
use mydyno_engine::histogram::{Latencies, LatencySummary};
use mydyno_engine::load::recorder::Classes;
use mydyno_engine::os::usage::CpuSeconds;
use mydyno_engine::replay::choice::Reason;
use mydyno_engine::replay::tally::{OfFingerprint, Summary};
use mydyno_engine::report::line;
use mydyno_engine::report::messages::*;
use serde_json::Value;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn latencies(values: &[u64]) -> LatencySummary {
    let mut latencies = Latencies::default();
    values.iter().for_each(|&value| latencies.record(value));
    latencies.summary()
}

fn counted(values: &[u64]) -> CountedLatency {
    CountedLatency { count: values.len() as u64, latency: latencies(values) }
}

fn cpu(user_s: f64, system_s: f64) -> CpuSeconds {
    CpuSeconds { user_s, system_s }
}

fn process(cpu_user_s: f64, switches: Option<u64>) -> ProcessSample {
    ProcessSample {
        cpu_s: cpu_user_s + 1.5,
        cpu_user_s,
        cpu_system_s: 1.5,
        rss_bytes: 134_217_728,
        threads: 18,
        voluntary_switches: switches,
        involuntary_switches: switches.map(|count| count / 10),
        instructions: None,
        cache_misses: None,
        read_bytes: Some(4096),
        write_bytes: None,
    }
}

fn sample(answering: bool) -> Sample {
    let status = [("Threads_created", "31"), ("Max_used_connections", "31")];
    let status = status.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let disk =
        DiskSample { reads: 10, read_bytes: 40_960, writes: 20, write_bytes: 81_920, busy_s: 0.25 };
    Sample {
        server_number: 0,
        status: answering.then(|| status.into()),
        server: answering.then(|| process(12.25, None)),
        client: process(0.75, Some(5000)),
        host: HostSample {
            cpu: HostCpu {
                user: 100.5,
                nice: 0.0,
                system: 50.25,
                idle: 1000.0,
                iowait: 2.0,
                irq: 0.0,
                softirq: 1.0,
                steal: 0.5,
            },
            context_switches: 123_456,
            disks: [("vda".to_owned(), disk)].into(),
        },
    }
}

fn interval(queries: u64) -> Interval {
    let some = |value| (queries > 0).then_some(value);
    Interval {
        phase: 0,
        from_ns: 1_500_000_000,
        to_ns: 2_500_000_000,
        warmup: queries == 0,
        queries,
        transactions: queries / 2,
        errors: 0,
        reconnects: 0,
        connections: 10,
        queries_by_class: Some(Classes { read: queries / 2, write: queries / 2, other: 0 }),
        p50_ns: some(180_000),
        p95_ns: some(420_000),
        p99_ns: some(900_000),
        max_ns: some(4_100_000),
        transaction_p95_ns: some(840_000),
        transaction_percentile_ns: some(990_000),
        histogram: (queries > 0).then(|| latencies(&[180_000, 420_000, 900_000]).histogram),
    }
}

fn slice() -> Slice {
    let used = |cpu_user_s: f64| SliceUsage {
        cpu_s: cpu_user_s + 0.25,
        cpu_user_s,
        cpu_system_s: 0.25,
        read_bytes: Some(4096),
        write_bytes: None,
    };
    Slice {
        server: 1,
        phase: 0,
        round: 3,
        position: 0,
        after: Some(2),
        warmup: false,
        from_ns: 1_500_000_000,
        to_ns: 2_000_000_000,
        drained_ns: 2_000_180_000,
        drained_queries: 4,
        queries: 612,
        transactions: 61,
        errors: 0,
        connections: 16,
        parts: [55, 61, 62, 62, 62, 62, 62, 62, 62, 62],
        p50_ns: Some(180_000),
        p95_ns: Some(420_000),
        p99_ns: Some(900_000),
        max_ns: Some(4_100_000),
        histogram: Some(latencies(&[180_000, 420_000, 900_000]).histogram),
        usage: vec![Some(used(0.0)), Some(used(0.75)), None],
    }
}

fn replay() -> Summary {
    Summary {
        server: 0,
        trace: "/srv/shop.trace".to_owned(),
        source: mydyno_trace::Source::SlowLog,
        speed: Some(1.0),
        reads_only: true,
        statements: 5,
        replayed: 3,
        skipped: [(Reason::Write, 1)].into(),
        lost: 1,
        late: Some(1),
        failed_newly: 1,
        failed_again: 0,
        failed_unknown: 0,
        failed_no_more: 0,
        rows_compared: 2,
        rows_differ: 1,
        warnings: 0,
        lateness: Some(latencies(&[1000, 2000, 6_000_000])),
        latency: latencies(&[50_000, 60_000, 7_000_000]),
        service: latencies(&[49_000, 58_000, 1_000_000]),
        trace_service: latencies(&[50_000, 50_000, 900_000]),
        elapsed_us: 2_000_000,
        trace_elapsed_us: 2_000_100,
        fingerprint_count: 1,
        fingerprints: vec![OfFingerprint {
            id: "0f1e2d3c4b5a6978".to_owned(),
            text: "select ?".to_owned(),
            replayed: 3,
            errors: 1,
            service_us: 1107,
            compared: 3,
            compared_service_us: 1107,
            trace_service_us: 1000,
        }],
        problem: None,
    }
}

fn phase_end() -> PhaseEnd {
    let selects = [150_000, 180_000, 210_000];
    let updates = [420_000];
    let result = |values: &[u64], errors| StatementResult {
        count: values.len() as u64,
        errors,
        rows: values.len() as u64,
        latency: latencies(values),
    };
    PhaseEnd {
        server: 0,
        phase: 0,
        connections_asked: 2,
        connections_reached: 2,
        started_ns: 400_000_000,
        measured_from_ns: Some(500_000_000),
        measured_to_ns: Some(700_000_000),
        measured_s: Some(0.2),
        ended_ns: 701_000_000,
        interrupted: false,
        aborted: None,
        latency_kind: LatencyKind::Service,
        queries: counted(&[&selects[..], &updates].concat()),
        queries_by_class: Some(Classes { read: 3, write: 1, other: 0 }),
        statements: [("select_index", result(&selects, 0)), ("update_index", result(&updates, 1))]
            .map(|(kind, result)| (kind.to_owned(), result))
            .into(),
        transactions: counted(&[330_000]),
        transactions_by_name: [("round".to_owned(), counted(&[330_000]))].into(),
        fairness: Some(Fairness {
            connections: 2,
            events_mean: 0.5,
            events_stddev: 0.5,
            busy_mean_s: 0.000_165,
            busy_stddev_s: 0.000_165,
        }),
        connects: counted(&[250_000, 270_000]),
        errors: [(1213, 1)].into(),
        error_examples: [(1213, "Deadlock found when trying to get lock".to_owned())].into(),
        unanswered: 0,
        reconnects: 0,
        retries: 1,
        client_cpu: cpu(0.004, 0.012),
        machine_busy: Some(0.25),
        backlog_max: None,
        wall_clock_step_ns: 1_200,
    }
}

fn operation() -> Operation {
    Operation {
        phase: 6,
        program: "insert",
        name: "order_by_big_key".to_owned(),
        tests: 10,
        statements: 10,
        rows: 30_000,
        failed: 0,
        elapsed_ns: 123_456_789,
        original_elapsed_ns: None,
        client_cpu: cpu(0.02, 0.01),
        server_cpu: Some(cpu(0.09, 0.0)),
        estimated: false,
        warning: None,
        in_totals: true,
    }
}

/// A loop that was cut short, on a server of another machine.
fn estimated_operation() -> Operation {
    Operation {
        name: "select_many_fields".to_owned(),
        server_cpu: None,
        estimated: true,
        warning: Some("stopped after 600 s: 500 of 2000 done".to_owned()),
        ..operation()
    }
}

/// A phase in which no connection could be opened.
fn aborted_phase_end() -> PhaseEnd {
    let reason = "no connection could be opened: Too many connections";
    PhaseEnd {
        connections_reached: 0,
        measured_from_ns: None,
        measured_to_ns: None,
        measured_s: None,
        aborted: Some(reason.to_owned()),
        latency_kind: LatencyKind::Response,
        queries: counted(&[]),
        queries_by_class: Some(Classes::default()),
        statements: BTreeMap::new(),
        transactions: counted(&[]),
        transactions_by_name: [("round".to_owned(), counted(&[]))].into(),
        fairness: None,
        connects: counted(&[]),
        errors: BTreeMap::new(),
        error_examples: BTreeMap::new(),
        unanswered: 0,
        reconnects: 0,
        retries: 0,
        client_cpu: cpu(0.0, 0.0),
        machine_busy: None,
        backlog_max: Some(0),
        ..phase_end()
    }
}

/// Every fixture by name, with what the engine writes for it.
fn examples() -> Vec<(&'static str, Message)> {
    let refused =
        Fatal::new(FatalCode::Auth, "Access denied for user 'root'@'localhost' (error 1045)")
            .hint("check target.user and target.password of the job");
    vec![
        (
            "hello",
            Message::Hello(Hello {
                server: 0,
                protocol: 3,
                engine_version: "0.1.0",
                seed: 1,
                started_unix_ns: 1_763_664_000_000_000_000,
                reactors: 2,
                pinned: true,
                cpus: vec![0, 1],
                server_version: "10.11.6-MariaDB-0+deb12u1".to_owned(),
                server_pid: Some(4321),
            }),
        ),
        ("alive", Message::Alive),
        (
            "progress",
            Message::Progress {
                stage: "load http_auth".to_owned(),
                done: 8164,
                of: 90_000,
                unit: "rows",
            },
        ),
        (
            "prepared",
            Message::Prepared {
                tables: vec![TableRows { name: "http_auth".to_owned(), rows: 90_000 }],
                loaded: 90_000,
                statements: 18,
            },
        ),
        ("phase_start", Message::PhaseStart { server: 0, phase: 0, connections: 10, label: None }),
        (
            "phase_start-labelled",
            Message::PhaseStart { server: 0, phase: 6, connections: 1, label: Some("insert") },
        ),
        (
            "connected",
            Message::Connected {
                server: 0,
                phase: 0,
                reached: 8,
                failed: 2,
                errors: [(1040, 2)].into(),
            },
        ),
        ("measuring", Message::Measuring { server: 0, phase: 0 }),
        ("interval", Message::Interval(interval(50_000))),
        ("interval-empty", Message::Interval(interval(0))),
        ("slice", Message::Slice(Box::new(slice()))),
        ("sample", Message::Sample(sample(true))),
        ("sample-server-gone", Message::Sample(sample(false))),
        ("operation", Message::Operation(operation())),
        ("operation-estimated", Message::Operation(estimated_operation())),
        ("replay", Message::Replay(Box::new(replay()))),
        ("phase_end", Message::PhaseEnd(Box::new(phase_end()))),
        ("phase_end-aborted", Message::PhaseEnd(Box::new(aborted_phase_end()))),
        (
            "check",
            Message::Check { server: 0, name: "w_ytd".to_owned(), holds: true, detail: None },
        ),
        (
            "check-broken",
            Message::Check {
                server: 0,
                name: "w_ytd".to_owned(),
                holds: false,
                detail: Some("1 row, the first is (1, 300000.00, 299990.00)".to_owned()),
            },
        ),
        (
            "done",
            Message::Done {
                exit: Exit::Ok,
                client_cpu: cpu(0.221, 0.731),
                peak_rss_bytes: Some(10_186_752),
            },
        ),
        (
            "fatal",
            Message::Fatal { code: refused.code, message: refused.message, hint: refused.hint },
        ),
    ]
}

#[test]
fn the_engine_writes_every_message_as_its_fixture_shows() {
    let folder = repository().join("tests/fixtures/engine/messages");
    for (name, message) in examples() {
        let written = String::from_utf8(line(&message, 987_654_321)).unwrap();
        let path = folder.join(format!("{name}.json"));
        let expected = fs::read_to_string(&path).unwrap_or_default();
        assert_eq!(written, expected, "{}", path.display());
    }
    assert_eq!(fs::read_dir(&folder).unwrap().count(), examples().len(), "fixtures without a test");
}

#[test]
fn every_message_is_one_line_with_its_type_and_time() {
    for (name, message) in examples() {
        let text = line(&message, 5);
        assert_eq!(text.iter().filter(|&&byte| byte == b'\n').count(), 1);
        let value: Value = serde_json::from_slice(&text).unwrap();
        assert_eq!(value["t_ns"], 5);
        assert!(name.starts_with(value["type"].as_str().unwrap()), "{name}: {value}");
    }
}

#[test]
fn the_documentation_describes_every_message_and_shows_the_fixtures_as_examples() {
    let page = fs::read_to_string(repository().join("docs/reference/engine-protocol.md")).unwrap();
    for (_, message) in examples() {
        let value: Value = serde_json::from_slice(&line(&message, 0)).unwrap();
        let kind = value["type"].as_str().unwrap();
        assert!(page.contains(&format!("### `{kind}`")), "{kind} has no section");
        for key in value.as_object().unwrap().keys() {
            assert!(page.contains(&format!("`{key}`")), "{kind}.{key} is not described");
        }
    }
    let shown: Vec<(&str, &str)> = page
        .split("<!-- fixture: ")
        .skip(1)
        .map(|part| {
            let (name, rest) = part.split_once(" -->").unwrap();
            let example = rest.split("```json\n").nth(1).unwrap().split("```").next().unwrap();
            (name, example)
        })
        .collect();
    assert!(shown.len() > 10, "only {} examples", shown.len());
    for (name, example) in shown {
        let path = repository().join("tests/fixtures/engine").join(name);
        let fixture: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
        let mut example: Value =
            serde_json::from_str(example).unwrap_or_else(|e| panic!("{name}: {e}"));
        let mut fixture = fixture;
        shorten_histograms(&mut example);
        shorten_histograms(&mut fixture);
        assert_eq!(example, fixture, "{name} differs from the documentation");
    }
}

#[test]
fn the_documentation_describes_every_key_of_a_job() {
    let page = fs::read_to_string(repository().join("docs/reference/engine-protocol.md")).unwrap();
    let folder = repository().join("tests/fixtures/engine/jobs/good");
    for entry in fs::read_dir(folder).unwrap() {
        let job = fs::read_to_string(entry.unwrap().path()).unwrap();
        let mut keys = Vec::new();
        let mut job: Value = serde_json::from_str(&job).unwrap();
        // What is within a workload has pages of its own.
        let in_list = job.get("servers").and_then(Value::as_array).map_or(0, Vec::len);
        let paths = (0..in_list).map(|number| format!("/servers/{number}/workload"));
        for path in paths.chain(["/workload".to_owned()]) {
            for workload in
                job.pointer_mut(&path).and_then(Value::as_object_mut).into_iter().flatten()
            {
                *workload.1 = Value::Null;
            }
        }
        collect_keys(&job, &mut keys);
        for key in keys {
            assert!(page.contains(&format!("`{key}`")), "{key} is not described");
        }
    }
}

/// The page shows the beginning of each histogram's text only.
fn shorten_histograms(value: &mut Value) {
    match value {
        Value::Object(fields) => fields.iter_mut().for_each(|(key, value)| match value {
            Value::String(text) if key == "histogram" => {
                text.truncate(8);
            }
            other => shorten_histograms(other),
        }),
        Value::Array(items) => items.iter_mut().for_each(shorten_histograms),
        _ => {}
    }
}

fn collect_keys(value: &Value, keys: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                keys.push(key.clone());
                collect_keys(value, keys);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect_keys(item, keys)),
        _ => {}
    }
}
