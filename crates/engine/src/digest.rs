//! `mydyno-engine digest`: slow logs to a digest. docs/reference/digest-format.md is the contract.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::sync::Arc;

use mydyno_digest::chunk::Sizes;
use mydyno_digest::filter::Filters;
use mydyno_digest::fingerprint::TableNames;
use mydyno_digest::groups::{EXAMPLE_BYTES, GroupBy, Grouping};
use mydyno_digest::message::Message;
use mydyno_digest::out_log::OutLog;
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
    /// What statements are grouped by: fingerprint, user, host, database, table or tag.KEY.
    #[arg(long, value_name = "BY", default_value = "fingerprint")]
    group_by: String,
    /// Take tables whose names differ in a number or a hash only for one: orders_2024_01, t_0a3f.
    #[arg(long)]
    merge_tables: bool,
    /// Also write the entries that the filters let through to this open file, as a slow log.
    #[arg(long, value_name = "FD")]
    out_log_fd: Option<u32>,
    /// Show N groups; sum up the others.
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// Show N bytes of a group's example.
    #[arg(long, value_name = "N", default_value_t = EXAMPLE_BYTES)]
    example_bytes: usize,
    /// Threads to work on; as many as there are CPUs when not given.
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Report progress several times a second.
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
    let by = GroupBy::named(&options.group_by).ok_or_else(|| {
        Fatal::new(
            FatalCode::BadJob,
            format!("entries cannot be grouped by `{}`", options.group_by),
        )
        .hint("fingerprint, user, host, database, table, tag.KEY")
    })?;
    let names = if options.merge_tables { TableNames::Merged } else { TableNames::Kept };
    let out_log = options.out_log_fd.map(out_log).transpose()?;
    let job = Job {
        sources: options.files,
        filters,
        grouping: Grouping { by, names },
        out_log: out_log.clone(),
        limit: options.limit,
        example_bytes: options.example_bytes,
        threads: options.threads,
        sizes: Sizes::default(),
    };
    let stop = Arc::new(Stop::new().map_err(internal)?);
    let asked = Arc::clone(&stop);
    signals::watch(held_back, move || asked.ask()).map_err(internal)?;
    let mut out = BufWriter::with_capacity(BUFFER_BYTES, io::stdout().lock());
    let (digest, groups) = digest(&job, &stop, |progress| {
        if options.progress {
            say(&mut out, &Message::Progress(progress));
        }
    });
    if let Some(out_log) = out_log {
        out_log.finish().map_err(|error| {
            Fatal::new(FatalCode::Internal, format!("cannot write the entries as a log: {error}"))
        })?;
    }
    say(&mut out, &Message::Digest(Box::new(digest)));
    for group in groups {
        write(&mut out, &Message::Group(Box::new(group)));
    }
    flush(&mut out);
    Ok(())
}

const BUFFER_BYTES: usize = 64 << 10;

/// A file that whoever started this process has opened for it.
fn out_log(fd: u32) -> Result<Arc<OutLog>, Fatal> {
    let path = format!("/proc/self/fd/{fd}");
    let file = File::options().append(true).open(&path).map_err(|error| {
        Fatal::new(FatalCode::BadJob, format!("--out-log-fd {fd} cannot be written to: {error}"))
    })?;
    Ok(Arc::new(OutLog::new(BufWriter::with_capacity(BUFFER_BYTES, file))))
}

/// At once, for somebody who waits for it.
fn say(out: &mut impl Write, message: &Message) {
    write(out, message);
    flush(out);
}

fn write(out: &mut impl Write, message: &Message) {
    let written = serde_json::to_writer(&mut *out, message).map_err(io::Error::from);
    if written.and_then(|()| out.write_all(b"\n")).is_err() {
        end_unread();
    }
}

fn flush(out: &mut impl Write) {
    if out.flush().is_err() {
        end_unread();
    }
}

/// The other side has closed the pipe.
fn end_unread() -> ! {
    std::process::exit(crate::report::UNREAD_STATUS)
}

fn internal(error: io::Error) -> Fatal {
    Fatal::new(FatalCode::Internal, format!("cannot wait for signals: {error}"))
}
