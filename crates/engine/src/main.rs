//! `mydyno-engine`: reads a job, drives the load, writes messages; or reads slow logs and digests them.

use std::io::{IsTerminal, Read};
use std::process::ExitCode;

use clap::Parser;
use mydyno_engine::clock::Clock;
use mydyno_engine::digest;
use mydyno_engine::failure::{Fatal, FatalCode};
use mydyno_engine::fingerprints;
use mydyno_engine::job::Job;
use mydyno_engine::report::Reporter;
use mydyno_engine::report::messages::Message;
use mydyno_engine::run::run;

/// The engine of mydyno: drives a MySQL or MariaDB server and measures it, and digests slow logs.
#[derive(Parser)]
#[command(name = "mydyno-engine", version, after_help = EXAMPLE)]
enum Command {
    /// Read one JSON job from standard input, carry it out, write JSON lines to standard output.
    #[command(after_help = EXAMPLE)]
    Load,
    /// Read statements, one JSON string a line, and write their fingerprints, one JSON object a line.
    Fingerprint,
    /// Read slow logs, write what ran, grouped by fingerprint, to standard output as JSON lines.
    #[command(after_help = "The format of filters and messages: docs/reference/digest-format.md.")]
    Digest(digest::Options),
}

const EXAMPLE: &str = r#"Example: 8 connections read single rows for 5 seconds, after a warm-up of 1 second.

  mydyno-engine load <<'JOB'
  {"protocol": 3,
   "target": {"socket": "/run/mysqld/mysqld.sock", "user": "root", "password": "...", "database": "mydyno"},
   "workload": {"program": {"name": "one-page", "transactions": [{"name": "read", "steps": [
     {"send": {"name": "read", "sql": ["SELECT n FROM hits WHERE page = ", {"value": ["uniform", 1, 1000]}]}}]}]}},
   "phases": [{"connections": 8, "work": {"kind": "timed", "warmup_s": 1, "measure_s": 5}}]}
  JOB

The password travels in the job only. Every message is one line: {"type": ..., "t_ns": ..., ...}.
Results are in the lines of type phase_end. SIGINT stops the load and still writes them.
Exit status: 0 when the last line is of type done (its exit says ok, interrupted or aborted), 2 when the
job is wrong, 3 when the run could not be carried out.
The format of jobs and messages: docs/reference/engine-protocol.md."#;

fn main() -> ExitCode {
    let command = Command::parse();
    let clock = Clock::start();
    let reporter = Reporter::to_stdout(clock);
    let outcome = match command {
        Command::Load => read_job().and_then(|job| run(&job, clock, &reporter)).map(drop),
        Command::Fingerprint => {
            fingerprints::run(std::io::stdin().lock(), std::io::stdout().lock())
        }
        Command::Digest(options) => digest::run(options),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(Fatal { code, message, hint }) => {
            reporter.send(&Message::Fatal { code, message, hint });
            ExitCode::from(code.exit_status())
        }
    }
}

fn read_job() -> Result<Job, Fatal> {
    if std::io::stdin().is_terminal() {
        eprintln!(
            "mydyno-engine reads a job (JSON) from standard input; see --help for an example"
        );
    }
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).map_err(|error| {
        Fatal::new(FatalCode::BadJob, format!("cannot read the job from standard input: {error}"))
    })?;
    Job::parse(&text)
}
