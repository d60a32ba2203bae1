//! The agent at work: one thread that waits for the channel, the streams and the ends of children.

use std::collections::{BTreeMap, HashMap};
mod requests;

use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec};
use rustix::io::Errno;

use crate::children::{self, Children};
use crate::frames::{Decoder, Frame, Kind, Malformed, Outgoing};
use crate::request::{Hello, Request};
use crate::streams::{Stream, never_wait};
use requests::Finished;

/// Streams rest while so many bytes wait to be sent, so that answers do not queue behind them.
const ENOUGH_TO_SEND: usize = 64 << 10;

/// What a terminal takes without asking its driver to pause (4096 - 128 bytes; n_tty's thresholds). The
/// driver of User-Mode Linux never goes on after a pause.
pub const TTY_WINDOW: usize = 3584;

/// The number of the channel itself in frames of credit.
const CHANNEL: u32 = 0;

/// A virtio serial port under QEMU's TCG was seen to hold a request that was not reported, until the
/// next one came (a few of some 30 guests, shortly after boot). Asking again finds it.
const LOOK_AGAIN: Timespec = Timespec { tv_sec: 0, tv_nsec: 200_000_000 };

/// Why serving ended.
#[derive(Debug, PartialEq, Eq)]
pub enum Ending {
    /// The other side has gone.
    Closed,
    /// The client requested it.
    PowerOff,
    /// It does not speak the protocol.
    Malformed(String),
    /// Nothing has come for the time that `Limits::silence` gives.
    Silent,
}

/// What differs between channels and hosts.
#[derive(Default)]
pub struct Limits {
    /// What the channel can hold when it must not be filled: see [`TTY_WINDOW`].
    pub window: Option<usize>,
    /// How long the other side may be silent: a network that was cut does not end a channel.
    pub silence: Option<Duration>,
    /// A variable that every started process has in its environment.
    pub mark: Option<(OsString, OsString)>,
}

/// Serves one channel until it ends; then no process that was started is left.
///
/// Blocks SIGCHLD in this thread, which must be the only one, and takes in orphans.
pub fn serve(input: &OwnedFd, output: &OwnedFd, limits: Limits) -> io::Result<Ending> {
    never_wait(input)?;
    never_wait(output)?;
    rustix::process::set_child_subreaper(rustix::process::Pid::from_raw(1))?;
    let mut server = Server::new(limits)?;
    let ending = server.run(input.as_fd(), output.as_fd());
    children::end_all();
    ending
}

/// A request whose content is still coming.
struct Incomplete {
    number: u32,
    request: Request,
    content: Vec<u8>,
}

struct Server {
    decoder: Decoder,
    out: Outgoing,
    streams: BTreeMap<u32, Stream>,
    children: Children,
    held: HashMap<u32, OwnedFd>,
    incomplete: Option<Incomplete>,
    finish: Sender<Finished>,
    finished: Receiver<Finished>,
    wake: Arc<OwnedFd>,
    child_ended: OwnedFd,
    power_off: bool,
    window: Option<usize>,
    /// Bytes of the channel that have been read and not been credited.
    read: usize,
    silence: Option<Duration>,
    /// When something has come last.
    heard: Instant,
}

impl Server {
    fn new(Limits { window, silence, mark }: Limits) -> io::Result<Self> {
        let (finish, finished) = channel();
        let mut out = Outgoing::default();
        out.greet();
        out.push(Kind::Hello, 0, &json(&Hello::of_this_machine(window)));
        Ok(Self {
            decoder: Decoder::default(),
            out,
            streams: BTreeMap::new(),
            children: Children::marked(mark),
            held: HashMap::new(),
            incomplete: None,
            finish,
            finished,
            wake: Arc::new(rustix::event::eventfd(
                0,
                EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK,
            )?),
            child_ended: children::end_signals()?,
            power_off: false,
            window,
            read: 0,
            silence,
            heard: Instant::now(),
        })
    }

    fn run(&mut self, input: BorrowedFd<'_>, output: BorrowedFd<'_>) -> io::Result<Ending> {
        loop {
            if self.power_off && self.out.is_empty() {
                return Ok(Ending::PowerOff);
            }
            if self.silence.is_some_and(|longest| self.heard.elapsed() > longest) {
                return Ok(Ending::Silent);
            }
            let ready = self.wait(input, output)?;
            if !ready.output.is_empty() && self.send(output).is_err() {
                return Ok(Ending::Closed);
            }
            if ready.wake {
                self.take_finished();
            }
            if ready.child {
                self.tell_ended();
            }
            for (number, flags) in ready.streams {
                if let Some(stream) = self.streams.get_mut(&number) {
                    stream.move_bytes(number, flags, &mut self.out);
                    self.forget_if_over(number);
                }
            }
            if !ready.input.is_empty() {
                match self.receive(input) {
                    Ok(true) => {}
                    Ok(false) => return Ok(Ending::Closed),
                    Err(Malformed(what)) => return Ok(Ending::Malformed(what)),
                }
            }
        }
    }

    fn wait(&self, input: BorrowedFd<'_>, output: BorrowedFd<'_>) -> io::Result<Ready> {
        let sending = if self.out.is_empty() { PollFlags::empty() } else { PollFlags::OUT };
        let may_send = self.out.len() < ENOUGH_TO_SEND;
        let mut files = vec![
            PollFd::from_borrowed_fd(input, PollFlags::IN),
            PollFd::from_borrowed_fd(output, sending),
            PollFd::new(&*self.wake, PollFlags::IN),
            PollFd::new(&self.child_ended, PollFlags::IN),
        ];
        let fixed = files.len();
        let mut numbers = Vec::new();
        for (&number, stream) in &self.streams {
            let wanted = stream.wanted(may_send);
            // A file that is not polled would still report its hang-up, again and again.
            if !wanted.is_empty() {
                files.push(PollFd::from_borrowed_fd(stream.file(), wanted));
                numbers.push(number);
            }
        }
        rustix::io::retry_on_intr(|| rustix::event::poll(&mut files, Some(&LOOK_AGAIN)))?;
        let flags: Vec<PollFlags> = files.iter().map(PollFd::revents).collect();
        Ok(Ready {
            input: flags[0],
            output: flags[1],
            wake: !flags[2].is_empty(),
            child: !flags[3].is_empty(),
            streams: numbers
                .into_iter()
                .zip(flags[fixed..].iter().copied())
                .filter(|(_, flags)| !flags.is_empty())
                .collect(),
        })
    }

    fn send(&mut self, output: BorrowedFd<'_>) -> Result<(), Errno> {
        while !self.out.is_empty() {
            match rustix::io::write(output, self.out.front()) {
                Ok(count) => self.out.written(count),
                Err(Errno::AGAIN | Errno::INTR) => break,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Takes what has come; false when nothing will come any more.
    fn receive(&mut self, input: BorrowedFd<'_>) -> Result<bool, Malformed> {
        let mut buffer = [0; 64 << 10];
        match rustix::io::read(input, &mut buffer) {
            Err(Errno::AGAIN | Errno::INTR) => return Ok(true),
            Ok(0) | Err(_) => return Ok(false),
            Ok(count) => {
                self.heard = Instant::now();
                self.decoder.feed(&buffer[..count]);
                self.credit_channel(count);
            }
        }
        while let Some(frame) = self.decoder.next_frame()? {
            self.take(frame)?;
        }
        Ok(true)
    }

    fn credit_channel(&mut self, count: usize) {
        self.read += count;
        if self.window.is_some_and(|window| self.read >= window / 4) {
            self.out.push(Kind::Credit, CHANNEL, &(self.read as u32).to_le_bytes());
            self.read = 0;
        }
    }

    fn take(&mut self, Frame { kind, number, payload }: Frame) -> Result<(), Malformed> {
        match kind {
            Kind::Request => return self.take_request(number, &payload),
            Kind::Content => return self.take_content(number, payload),
            Kind::Data | Kind::End | Kind::Credit | Kind::Discard => {}
            Kind::Hello | Kind::Reply | Kind::Exit => {
                return Err(Malformed(format!("a frame of kind {kind:?} is not for an agent")));
            }
        }
        // A stream that is over may still be spoken to by a side that has not heard of it.
        let Some(stream) = self.streams.get_mut(&number) else { return Ok(()) };
        match kind {
            Kind::Data => stream.receive(number, &payload, &mut self.out)?,
            Kind::End => stream.end(number, &mut self.out),
            Kind::Credit => stream.grant(number, credit(&payload)?)?,
            _ => stream.discard(),
        }
        self.forget_if_over(number);
        Ok(())
    }

    fn take_request(&mut self, number: u32, payload: &[u8]) -> Result<(), Malformed> {
        if self.incomplete.is_some() {
            return Err(Malformed("a request between another and its content".into()));
        }
        let request: Request = serde_json::from_slice(payload)
            .map_err(|error| Malformed(format!("a request that is none: {error}")))?;
        let waiting = Incomplete { number, request, content: Vec::new() };
        self.incomplete = Some(waiting);
        self.begin_when_complete()
    }

    fn take_content(&mut self, number: u32, payload: Vec<u8>) -> Result<(), Malformed> {
        match self.incomplete.as_mut().filter(|waiting| waiting.number == number) {
            Some(waiting) => waiting.content.extend(payload),
            None => return Err(Malformed(format!("content for no request ({number})"))),
        }
        self.begin_when_complete()
    }

    fn begin_when_complete(&mut self) -> Result<(), Malformed> {
        let Some(waiting) = self.incomplete.take() else { return Ok(()) };
        let (come, announced) = (waiting.content.len(), waiting.request.content());
        if come > announced {
            return Err(Malformed(format!("{come} bytes of content where {announced} were due")));
        }
        if come < announced {
            self.incomplete = Some(waiting);
        } else {
            self.begin(waiting.number, waiting.request, waiting.content);
        }
        Ok(())
    }

    fn tell_ended(&mut self) {
        let mut signals = [0; 512];
        while rustix::io::read(&self.child_ended, &mut signals).is_ok_and(|count| count > 0) {}
        for (number, code) in self.children.reap() {
            self.out.push(Kind::Exit, number, &json(&serde_json::json!({ "code": code })));
        }
    }

    fn forget_if_over(&mut self, number: u32) {
        if self.streams.get(&number).is_some_and(Stream::is_over) {
            self.streams.remove(&number);
        }
    }
}

struct Ready {
    input: PollFlags,
    output: PollFlags,
    wake: bool,
    child: bool,
    streams: Vec<(u32, PollFlags)>,
}

fn credit(payload: &[u8]) -> Result<usize, Malformed> {
    let bytes = payload.try_into().map_err(|_| Malformed("credit that is not a number".into()))?;
    Ok(u32::from_le_bytes(bytes) as usize)
}

fn json(value: &impl serde::Serialize) -> Vec<u8> {
    serde_json::to_vec(value).expect("what the agent says consists of numbers and texts")
}
