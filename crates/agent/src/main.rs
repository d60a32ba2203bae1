//! `mydyno-agent`: runs commands for a mydyno at the other end of a byte stream.

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use mydyno_agent::frames::Malformed;
use mydyno_agent::guest;
use mydyno_agent::loops;
use mydyno_agent::server::{Ending, Limits, serve};
use mydyno_agent::session::{self, Session};
use mydyno_agent::storage;
use mydyno_agent::within;

/// sysexits(3): try again later.
const BUSY: u8 = 75;

const USAGE: &str = "\
Usage: mydyno-agent serve          speak the protocol on standard input and output
       mydyno-agent serve --session FOLDER --silence SECONDS
                                  the same, with a private folder that goes when it ends, and an end
                                  when nothing comes for so long
       mydyno-agent sweep FOLDER  end what killed sessions have left in FOLDER, and print their folders
       mydyno-agent init CONFIG    be the first process of a guest, as the JSON file CONFIG says
       mydyno-agent loops FILE... attach loop devices, print them, and keep them until its input ends
       mydyno-agent exclusive DEVICE
                                  open a block device exclusively, for reading, and close it again
       mydyno-agent within ROOT [--user UID:GID] -- PROGRAM ARGS
                                  become PROGRAM, with the /usr and /etc of ROOT
       mydyno-agent --version
mydyno starts it; the protocol and the configuration: docs/reference/agent-protocol.md.";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["serve"] => {
            serve_standard_streams(Limits::default()).unwrap_or_else(|error| failed(&error))
        }
        ["serve", "--session", folder, "--silence", seconds] => match seconds.parse() {
            Ok(seconds) => serve_session(Path::new(folder), Duration::from_secs(seconds))
                .unwrap_or_else(|error| failed(&format!("{folder}: {error}"))),
            Err(_) => usage(),
        },
        ["sweep", parent] => match session::sweep(Path::new(parent)) {
            Ok(Some(left)) => {
                left.iter().for_each(|folder| println!("{}", folder.display()));
                ExitCode::SUCCESS
            }
            Ok(None) => busy(),
            Err(error) => failed(&format!("{parent}: {error}")),
        },
        // User-Mode Linux adds a separate word to the end of its command line.
        ["init", config, ..] => guest::run(Path::new(config)),
        ["loops", ref files @ ..] if !files.is_empty() => match loops::hold(files) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("mydyno-agent: {error}");
                ExitCode::FAILURE
            }
        },
        ["exclusive", device] => match storage::open_exclusively(Path::new(device)) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => failed(&format!("{device}: {error}")),
        },
        ["within", ref words @ ..] => match within::parse(words) {
            Some(within) => {
                let Err(problem) = within.become_program();
                failed(&problem)
            }
            None => usage(),
        },
        ["--version"] => {
            println!("mydyno-agent {}", env!("CARGO_PKG_VERSION"));
            ExitCode::SUCCESS
        }
        _ => usage(),
    }
}

fn usage() -> ExitCode {
    eprintln!("{USAGE}");
    ExitCode::from(2)
}

fn serve_session(folder: &Path, silence: Duration) -> io::Result<ExitCode> {
    let Some(session) = Session::begin(folder)? else { return Ok(busy()) };
    let limits = Limits { silence: Some(silence), mark: Some(session.mark()), ..Limits::default() };
    let served = serve_standard_streams(limits);
    session.end()?;
    served
}

fn busy() -> ExitCode {
    eprintln!("mydyno-agent: another run of mydyno uses this host");
    ExitCode::from(BUSY)
}

/// The channel is moved away from the standard streams, so that nothing else is ever written to it.
fn serve_standard_streams(limits: Limits) -> io::Result<ExitCode> {
    let input: OwnedFd = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3)?;
    let output: OwnedFd = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdout(), 3)?;
    let nothing = std::fs::OpenOptions::new().read(true).write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdin(&nothing)?;
    rustix::stdio::dup2_stdout(&nothing)?;
    // The reason is said while the channel is still open: its end is when the other side looks.
    Ok(match serve(&input, &output, limits)? {
        Ending::Closed | Ending::PowerOff => ExitCode::SUCCESS,
        Ending::Malformed(what) => failed(&Malformed(what)),
        Ending::Silent => failed(&"nothing was heard of mydyno for too long"),
    })
}

fn failed(problem: &dyn std::fmt::Display) -> ExitCode {
    eprintln!("mydyno-agent: {problem}");
    ExitCode::FAILURE
}
