//! `mydyno-engine trace`: traces written, shown and edited. docs/reference/trace-format.md is the contract.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mydyno_digest::stop::Stop;
use mydyno_trace::capture::{Options, Progress, Refused, capture};
use mydyno_trace::merge::{Align, merge};
use mydyno_trace::select::{Selection, select};
use mydyno_trace::summary::{Summary, summary};
use mydyno_trace::{Error, Footer, Header, Trace};
use regex::bytes::Regex;
use serde::Serialize;

use crate::failure::{Fatal, FatalCode};
use crate::os::signals;

#[derive(clap::Subcommand)]
pub enum Command {
    /// Write a trace of slow logs and general logs.
    Capture {
        /// Plain or packed by gzip or zstd; `-` is standard input.
        #[arg(required = true, value_name = "FILE")]
        files: Vec<String>,
        #[arg(long, value_name = "TRACE")]
        out: PathBuf,
        /// Replace literals by others of the same kind and length.
        #[arg(long)]
        mask: bool,
        /// What standard input is called.
        #[arg(long, value_name = "NAME")]
        stdin_name: Option<String>,
        /// Write a trace without statements where there are none.
        #[arg(long)]
        may_be_empty: bool,
        /// Report how far reading has come.
        #[arg(long)]
        progress: bool,
    },
    /// Show what a trace holds.
    Show {
        trace: PathBuf,
        /// List so many fingerprints.
        #[arg(long, value_name = "N", default_value_t = 20)]
        limit: usize,
    },
    /// Write a part of a trace as a trace.
    Select(Select),
    /// Write several traces as one.
    Merge {
        #[arg(required = true, value_name = "TRACE")]
        traces: Vec<PathBuf>,
        #[arg(long, value_name = "TRACE")]
        out: PathBuf,
        /// Let all begin at the same instant instead of bringing them together by the wall clock.
        #[arg(long)]
        align_starts: bool,
    },
}

#[derive(clap::Args)]
pub struct Select {
    trace: PathBuf,
    #[arg(long, value_name = "TRACE")]
    out: PathBuf,
    #[arg(long = "schema", value_name = "NAME")]
    schemas: Vec<String>,
    #[arg(long = "user", value_name = "NAME")]
    users: Vec<String>,
    /// The server's number.
    #[arg(long = "connection", value_name = "N")]
    connections: Vec<u64>,
    /// As digests show it.
    #[arg(long = "fingerprint", value_name = "ID")]
    fingerprints: Vec<String>,
    /// A regular expression that the statement matches.
    #[arg(long, value_name = "REGEX")]
    matching: Option<String>,
    #[arg(long)]
    reads_only: bool,
    #[arg(long)]
    errors_only: bool,
    /// Microseconds since the trace's start.
    #[arg(long, value_name = "N", default_value_t = 0)]
    from_us: u64,
    #[arg(long, value_name = "N")]
    until_us: Option<u64>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
enum Message<'a> {
    Progress(Progress),
    Trace { header: &'a Header, footer: &'a Footer },
    Summary(Box<Summary<'a>>),
}

pub fn run(command: Command) -> Result<(), Fatal> {
    match command {
        Command::Capture { files, out, mask, stdin_name, may_be_empty, progress } => {
            let options = Options { mask, stdin_name, may_be_empty };
            capture_files(&files, &out, &options, progress)
        }
        Command::Show { trace, limit } => {
            let trace = Trace::open(trace).map_err(fatal)?;
            say(&Message::Summary(Box::new(summary(&trace, limit).map_err(fatal)?)));
            Ok(())
        }
        Command::Select(options) => {
            let trace = Trace::open(&options.trace).map_err(fatal)?;
            let out = options.out.clone();
            let selection = selection(options)?;
            select(&trace, &selection, &out).map_err(fatal)?;
            say_written(&out)
        }
        Command::Merge { traces, out, align_starts } => {
            let traces: Vec<Trace> =
                traces.iter().map(Trace::open).collect::<Result<_, _>>().map_err(fatal)?;
            let align = if align_starts { Align::Start } else { Align::Clock };
            merge(&traces, align, &out).map_err(fatal)?;
            say_written(&out)
        }
    }
}

/// A signal ends the reading, and what was read until then is written.
fn capture_files(
    files: &[String],
    out: &Path,
    options: &Options,
    progress: bool,
) -> Result<(), Fatal> {
    let held_back = signals::hold_back();
    signals::die_with_parent()?;
    let stop = Arc::new(Stop::new().map_err(internal)?);
    let asked = Arc::clone(&stop);
    signals::watch(held_back, move || asked.ask()).map_err(internal)?;
    let mut said = std::time::Instant::now();
    let outcome = capture(files, out, options, &stop, |come| {
        if progress && said.elapsed().as_millis() >= 200 {
            said = std::time::Instant::now();
            say(&Message::Progress(come));
        }
    });
    match outcome {
        Ok((header, footer)) => {
            say(&Message::Trace { header: &header, footer: &footer });
            Ok(())
        }
        Err(Refused::Failed(error)) => Err(fatal(error)),
        Err(Refused::Nothing(skipped)) => {
            let why: Vec<String> =
                skipped.iter().map(|one| format!("{}: {}", one.file, one.says)).collect();
            let why = why.join("; ");
            Err(Fatal::new(FatalCode::BadJob, format!("nothing could be captured: {why}")))
        }
    }
}

fn selection(options: Select) -> Result<Selection, Fatal> {
    let bad = |message: String, hint: &str| Fatal::new(FatalCode::BadJob, message).hint(hint);
    let fingerprint = |id: &String| {
        u64::from_str_radix(id, 16).map_err(|_| {
            bad(
                format!("`{id}` is no fingerprint"),
                "16 hexadecimal digits, as `mydyno trace show` prints",
            )
        })
    };
    let pattern = options.matching.as_deref().map(Regex::new).transpose();
    let bytes = |names: Vec<String>| names.into_iter().map(String::into_bytes).collect();
    Ok(Selection {
        schemas: bytes(options.schemas),
        users: bytes(options.users),
        connections: options.connections,
        fingerprints: options.fingerprints.iter().map(fingerprint).collect::<Result<_, _>>()?,
        pattern: pattern.map_err(|error| {
            bad(format!("--matching: {error}"), "(?i) at the front ignores case")
        })?,
        reads_only: options.reads_only,
        errors_only: options.errors_only,
        from_us: options.from_us,
        until_us: options.until_us,
    })
}

fn say_written(out: &Path) -> Result<(), Fatal> {
    let trace = Trace::open(out).map_err(fatal)?;
    say(&Message::Trace { header: trace.header(), footer: trace.footer() });
    Ok(())
}

fn say(message: &Message<'_>) {
    let mut line = serde_json::to_vec(message).expect("messages are plain data");
    line.push(b'\n');
    let mut out = io::stdout().lock();
    if out.write_all(&line).and_then(|()| out.flush()).is_err() {
        std::process::exit(crate::report::UNREAD_STATUS);
    }
}

fn fatal(error: Error) -> Fatal {
    let fatal = Fatal::new(FatalCode::BadJob, error.to_string());
    match error.hint() {
        Some(hint) => fatal.hint(hint),
        None => fatal,
    }
}

fn internal(error: io::Error) -> Fatal {
    Fatal::new(FatalCode::Internal, format!("cannot wait for signals: {error}"))
}
