//! `mydyno-engine digest`: slow logs to a digest. docs/digest-format.md is the contract.

use std::io::{self, Write};
use std::sync::Arc;

use mydyno_digest::chunk::Sizes;
use mydyno_digest::filter::Filters;
use mydyno_digest::groups::EXAMPLE_BYTES;
use mydyno_digest::message::Message;
use mydyno_digest::pipeline::{Job, digest};
use mydyno_digest::stop::Stop;

use crate::failure::{Fatal, FatalCode};
use crate::os::signals;

#[derive(clap::Args)]
pub struct Options {
    /// Slow logs, plain or packed by gzip or zstd; `-` is standard input.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<String>,
    /// Entries from this time on, in microseconds since 1970 UTC.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    since_us: Option<i64>,
    /// Entries before this time.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    until_us: Option<i64>,
    /// Entries for which NAME OP VALUE holds, as query_time>2s; of several, all must hold.
    #[arg(long = "filter", value_name = "EXPR")]
    filters: Vec<String>,
    /// Tell so many groups and sum up the others.
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// Show so many bytes of a group's example.
    #[arg(long, value_name = "N", default_value_t = EXAMPLE_BYTES)]
    example_bytes: usize,
    /// Threads to work on; as many as there are CPUs when not given.
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Tell several times a second how far reading has come.
    #[arg(long)]
    progress: bool,
}

/// Reads the files and writes messages to standard output. A signal ends the reading, and what was read
/// until then is digested; a second one ends the process.
pub fn run(options: Options) -> Result<(), Fatal> {
    let held_back = signals::hold_back();
    signals::die_with_parent()?;
    let filters = Filters::new(options.since_us, options.until_us, &options.filters)
        .map_err(|bad| Fatal::new(FatalCode::BadJob, bad.message).hint(bad.hint))?;
    let job = Job {
        sources: options.files,
        filters,
        limit: options.limit,
        example_bytes: options.example_bytes,
        threads: options.threads,
        sizes: Sizes::default(),
    };
    let stop = Arc::new(Stop::new().map_err(internal)?);
    let asked = Arc::clone(&stop);
    signals::watch(held_back, move || asked.ask()).map_err(internal)?;
    let digest = digest(&job, &stop, |progress| {
        if options.progress {
            say(&Message::Progress(progress));
        }
    });
    say(&Message::Digest(Box::new(digest)));
    Ok(())
}

/// Ends the process when the other side has closed the pipe.
fn say(message: &Message) {
    let mut line = serde_json::to_vec(message).expect("every message is plain data");
    line.push(b'\n');
    let mut out = io::stdout().lock();
    if out.write_all(&line).and_then(|()| out.flush()).is_err() {
        std::process::exit(crate::report::UNREAD_STATUS);
    }
}

fn internal(error: io::Error) -> Fatal {
    Fatal::new(FatalCode::Internal, format!("cannot wait for signals: {error}"))
}
