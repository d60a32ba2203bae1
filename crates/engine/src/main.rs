//! `mydyno-engine`: reads a job, drives the load, writes messages; or reads slow logs and digests them.

use std::fs::File;
use std::io::{IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use mydyno_engine::clock::Clock;
use mydyno_engine::digest;
use mydyno_engine::failure::{Fatal, FatalCode};
use mydyno_engine::fingerprints;
use mydyno_engine::job::Job;
use mydyno_engine::report::Reporter;
use mydyno_engine::report::messages::Message;
use mydyno_engine::report::table::Table;
use mydyno_engine::report::visible;
use mydyno_engine::run::run;
use mydyno_engine::trace;

/// The engine of mydyno: drives a MySQL or MariaDB server and measures it, and digests slow logs.
#[derive(Parser)]
#[command(name = "mydyno-engine", version, after_help = EXAMPLE)]
enum Command {
    /// Carry out a job: make tables, drive connections phase by phase, report what was measured.
    #[command(alias = "load", after_help = EXAMPLE)]
    Run {
        /// A file with the job, one JSON object; `-` is standard input.
        #[arg(value_name = "JOB", default_value = "-")]
        job: PathBuf,
        /// Print a table of the results instead of JSON lines.
        #[arg(long)]
        table: bool,
        /// The job is the first line of the input; then each phase waits for a line with the instant of
        /// its start, in nanoseconds since the engine's own. For engines that share a load.
        #[arg(long, conflicts_with = "table")]
        starts: bool,
    },
    /// Read a trace, and write what a replay of it would do as one JSON object. The input is the part
    /// `workload.replay` of a job.
    Survey,
    /// Read statements, one JSON string a line, and write their fingerprints, one JSON object a line.
    Fingerprint,
    /// Read slow logs, write what ran, grouped by fingerprint, to standard output as JSON lines.
    #[command(after_help = "The format of filters and messages: docs/reference/digest-format.md.")]
    Digest(digest::Options),
    /// Write, show and edit traces; answers are JSON lines.
    #[command(subcommand, after_help = "The format of traces: docs/reference/trace-format.md.")]
    Trace(trace::Command),
}

const EXAMPLE: &str = r#"Example: 8 connections read single rows of a table that the job makes, for 5
seconds after a warm-up of 1 second. The file job.json:

  {"protocol": 3,
   "target": {"socket": "/run/mysqld/mysqld.sock", "user": "root",
              "password": "...", "database": "bench"},
   "workload": {"program": {"name": "one-page",
     "tables": [{"name": "hits", "rows": 1000,
       "create": "CREATE TABLE hits (page INT PRIMARY KEY, n INT)",
       "columns": ["page", "n"], "row": [["row"], 0]}],
     "transactions": [{"name": "read", "steps": [{"send": {"name": "read",
       "sql": ["SELECT n FROM hits WHERE page = ",
               {"value": ["uniform", 1, 1000]}]}}]}]}},
   "prepare": "if-missing",
   "phases": [{"connections": 8,
     "work": {"kind": "timed", "warmup_s": 1, "measure_s": 5}}]}

  $ mydyno-engine run job.json --table
  server 11.8.3-MariaDB
  prepared 1 table with 1000 rows
  latencies of transactions: service time, from sending (closed loop)
  phase connections transactions/s   queries/s     p50     p95     p99   errors
      1           8        41317.2     41317.2   178us   307us   489us        0

  $ mydyno-engine run < job.json
  {"type":"hello","server":0,"protocol":3,"engine_version":"0.1.0", ...}
  {"type":"interval","phase":0, ... "queries":41317, ... "p95_ns":307199, ...}
  {"type":"phase_end","server":0,"phase":0, ... "transactions":{ ... }, ...}
  {"type":"done","exit":"ok", ...}

Over TCP: "host" and "port" instead of "socket"; "tls": {"mode": "required"}.
An open loop: "arrival": {"kind": "poisson", "rate": 500} in a phase. The
database must exist. The password travels in the job only. SIGINT stops the load
and still writes its results.

Exit status: 0 when the run came to its end (the last line, of type done, says
ok, interrupted or aborted), 2 when the job is wrong, 3 when the run could not
be carried out.

Every key and message: docs/reference/engine-protocol.md."#;

fn main() -> ExitCode {
    let command = Command::parse();
    let clock = Clock::start();
    let as_table = matches!(command, Command::Run { table: true, .. });
    let outcome = match command {
        Command::Run { job, starts: true, .. } => read_job_line(&job)
            .and_then(|job| run(&job, clock, &Reporter::to_stdout(clock)).map(drop)),
        Command::Run { job, table, starts: false } => read_job(&job).and_then(|job| {
            let reporter = Reporter::to_stdout(clock);
            let reporter = if table { reporter.with_table(Table::new(&job)) } else { reporter };
            run(&job, clock, &reporter).map(drop)
        }),
        Command::Fingerprint => {
            fingerprints::run(std::io::stdin().lock(), std::io::stdout().lock())
        }
        Command::Survey => survey(),
        Command::Digest(options) => digest::run(options),
        Command::Trace(command) => trace::run(command),
    };
    let Err(fatal) = outcome else { return ExitCode::SUCCESS };
    let status = ExitCode::from(fatal.code.exit_status());
    if as_table {
        eprintln!("mydyno-engine: {}", visible::lines(&fatal.to_string()));
    } else {
        let Fatal { code, message, hint } = fatal;
        Reporter::to_stdout(clock).send(&Message::Fatal { code, message, hint });
    }
    status
}

/// Writes what a replay would do.
fn survey() -> Result<(), Fatal> {
    let job = serde_json::from_reader(std::io::stdin().lock())
        .map_err(|error| Fatal::new(FatalCode::BadJob, format!("the replay: {error}")))?;
    let survey = mydyno_engine::replay::survey::survey(&job)?;
    let text = serde_json::to_string(&survey).expect("a survey is plain data");
    writeln!(std::io::stdout(), "{}", visible::json(text))
        .map_err(|error| Fatal::new(FatalCode::Internal, format!("cannot write: {error}")))
}

/// Reads a job out of a file, or out of standard input.
fn read_job(path: &Path) -> Result<Job, Fatal> {
    let mut text = String::new();
    let (place, read) = if path == Path::new("-") {
        if std::io::stdin().is_terminal() {
            eprintln!(
                "mydyno-engine reads a job (JSON) from standard input; see --help for an example"
            );
        }
        ("standard input".to_owned(), std::io::stdin().read_to_string(&mut text))
    } else {
        let read = File::open(path).and_then(|mut file| file.read_to_string(&mut text));
        (path.display().to_string(), read)
    };
    read.map_err(|error| {
        Fatal::new(FatalCode::BadJob, format!("cannot read the job from {place}: {error}"))
    })?;
    Job::parse(&text)
}

/// Reads a job whose phases wait for their starts: one line of standard input, or a file.
fn read_job_line(path: &Path) -> Result<Job, Fatal> {
    let mut job = if path == Path::new("-") {
        let mut line = String::new();
        std::io::stdin().read_line(&mut line).map_err(|error| {
            Fatal::new(
                FatalCode::BadJob,
                format!("cannot read the job from standard input: {error}"),
            )
        })?;
        Job::parse(&line)?
    } else {
        read_job(path)?
    };
    if job.slices.is_some() {
        return Err(Fatal::new(FatalCode::BadJob, "slices: cannot be combined with --starts"));
    }
    job.starts = true;
    Ok(job)
}
