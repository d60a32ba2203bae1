//! The agent at work: one thread that waits for the channel, the streams and the ends of children.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use rustix::event::{EventfdFlags, PollFd, PollFlags};
use rustix::io::Errno;

use crate::children::{self, Children};
use crate::files;
use crate::frames::{Decoder, Frame, Kind, Malformed, Outgoing};
use crate::request::{Answer, Hello, Refusal, Reply, Request, Start};
use crate::streams::{Stream, never_wait};

/// Streams rest while so many bytes wait to be sent, so that answers do not queue behind them.
const ENOUGH_TO_SEND: usize = 64 << 10;

/// What a terminal takes without asking its driver to pause (4096 - 128 bytes; n_tty's thresholds). The
/// driver of User-Mode Linux never goes on after a pause.
pub const TTY_WINDOW: usize = 3584;

/// The number of the channel itself in frames of credit.
const CHANNEL: u32 = 0;

/// Why serving ended.
#[derive(Debug, PartialEq, Eq)]
pub enum Ending {
    /// The other side has gone.
    Closed,
    /// It asked for it.
    PowerOff,
    /// It does not speak the protocol.
    Malformed(String),
}

/// Serves one channel until it ends; then no process that was started is left.
///
/// Blocks SIGCHLD in this thread, which must be the only one, and takes in orphans.
///
/// `window` is what the channel can hold when it must not be filled: see [`TTY_WINDOW`].
pub fn serve(input: &OwnedFd, output: &OwnedFd, window: Option<usize>) -> io::Result<Ending> {
    never_wait(input)?;
    never_wait(output)?;
    rustix::process::set_child_subreaper(rustix::process::Pid::from_raw(1))?;
    let mut server = Server::new(window)?;
    let ending = server.run(input.as_fd(), output.as_fd());
    children::end_all();
    ending
}

/// What a thread beside the server has finished.
struct Finished {
    number: u32,
    reply: Reply,
    content: Vec<u8>,
    stream: Option<(u32, OwnedFd)>,
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
}

impl Server {
    fn new(window: Option<usize>) -> io::Result<Self> {
        let (finish, finished) = channel();
        let mut out = Outgoing::default();
        out.greet();
        out.push(Kind::Hello, 0, &json(&Hello::of_this_machine(window)));
        Ok(Self {
            decoder: Decoder::default(),
            out,
            streams: BTreeMap::new(),
            children: Children::default(),
            held: HashMap::new(),
            incomplete: None,
            finish,
            finished,
            wake: Arc::new(rustix::event::eventfd(
                0,
                EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK,
            )?),
            child_ended: child_signals()?,
            power_off: false,
            window,
            read: 0,
        })
    }

    fn run(&mut self, input: BorrowedFd<'_>, output: BorrowedFd<'_>) -> io::Result<Ending> {
        loop {
            if self.power_off && self.out.is_empty() {
                return Ok(Ending::PowerOff);
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
            // A file that is not asked about would still report its hang-up, again and again.
            if !wanted.is_empty() {
                files.push(PollFd::from_borrowed_fd(stream.file(), wanted));
                numbers.push(number);
            }
        }
        rustix::io::retry_on_intr(|| rustix::event::poll(&mut files, None))?;
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

    fn begin(&mut self, number: u32, request: Request, content: Vec<u8>) {
        let done = |result: io::Result<()>| result.map(|()| Answer::Done {}).map_err(Refusal::from);
        match request {
            Request::Start(start) => {
                let started = self.start(number, &start, &content);
                self.reply(number, started);
            }
            Request::Signal { process, signal } => {
                let sent = self.children.signal(process, signal);
                self.reply(number, done(sent));
            }
            Request::Hold { .. } => {
                let held = self.hold(number, &content);
                self.reply(number, held.map_err(Refusal::from));
            }
            Request::Wipe { held } => {
                let wiped = self.held.remove(&held).map_or(Ok(()), |file| {
                    rustix::fs::ftruncate(&file, 0).map_err(io::Error::from)
                });
                self.reply(number, done(wiped));
            }
            Request::PowerOff {} => {
                self.power_off = true;
                self.reply(number, Ok(Answer::Done {}));
            }
            Request::Dial { path, stream } => self.beside(number, move |finished| {
                finished.stream = Some((stream, files::dial(&path)?));
                Ok(Answer::Done {})
            }),
            Request::Read { path } => self.beside(number, move |finished| {
                finished.content = files::read(&path)?;
                Ok(Answer::Bytes { bytes: finished.content.len() })
            }),
            Request::Write { path, mode, owner, .. } => self.beside(number, move |_| {
                files::write(&path, mode, owner, &content).map(|()| Answer::Done {})
            }),
            Request::MakeFolder { path, mode, owner } => self.beside(number, move |_| {
                files::make_folder(&path, mode, owner).map(|()| Answer::Done {})
            }),
            Request::RemoveTree { path } => {
                self.beside(number, move |_| files::remove_tree(&path).map(|()| Answer::Done {}))
            }
            Request::Exists { path } => {
                self.beside(number, move |_| Ok(Answer::Exists { exists: path.exists() }));
            }
            Request::Place { path } => {
                self.beside(number, move |_| files::place(&path).map(Answer::Place));
            }
        }
    }

    /// Does what may take long in a thread of its own; the server hears of its end.
    fn beside(
        &mut self,
        number: u32,
        work: impl FnOnce(&mut Finished) -> io::Result<Answer> + Send + 'static,
    ) {
        let (finish, wake) = (self.finish.clone(), Arc::clone(&self.wake));
        let job = move || {
            let reply = Reply::Ok(Answer::Done {});
            let mut finished = Finished { number, reply, content: Vec::new(), stream: None };
            finished.reply = match work(&mut finished) {
                Ok(answer) => Reply::Ok(answer),
                Err(error) => Reply::Error(error.into()),
            };
            // When the server has gone, nobody waits for this either.
            if finish.send(finished).is_ok() {
                let _ = rustix::io::write(&*wake, &1u64.to_ne_bytes());
            }
        };
        if let Err(error) = thread::Builder::new().spawn(job) {
            self.reply(number, Err(error.into()));
        }
    }

    fn take_finished(&mut self) {
        let _ = rustix::io::read(&*self.wake, &mut [0; 8]);
        while let Ok(Finished { number, reply, content, stream }) = self.finished.try_recv() {
            if let Some((stream_number, socket)) = stream {
                self.streams.insert(stream_number, Stream::both_ways(socket));
            }
            self.out.push_content(number, &content);
            self.out.push(Kind::Reply, number, &json(&reply));
        }
    }

    fn start(&mut self, number: u32, start: &Start, content: &[u8]) -> Result<Answer, Refusal> {
        let mut held = Vec::new();
        for each in &start.held {
            let file = self.held.get(each).ok_or(io::Error::from_raw_os_error(libc::EBADF))?;
            held.push(file.as_fd());
        }
        let (pid, pipes) = self.children.start(number, start, content, &held)?;
        if let (Some(stream), Some(pipe)) = (start.stdin, pipes.stdin) {
            self.streams.insert(stream, Stream::writing(pipe));
        }
        if let (Some(stream), Some(pipe)) = (start.stdout, pipes.stdout) {
            self.streams.insert(stream, Stream::reading(pipe));
        }
        if let (Some(stream), Some(pipe)) = (start.stderr, pipes.stderr) {
            self.streams.insert(stream, Stream::reading(pipe));
        }
        Ok(Answer::Started { pid })
    }

    fn hold(&mut self, number: u32, content: &[u8]) -> io::Result<Answer> {
        let file = children::hold(content)?;
        let path = format!("/proc/self/fd/{}", file.as_raw_fd());
        self.held.insert(number, file);
        Ok(Answer::Held { path })
    }

    fn tell_ended(&mut self) {
        let mut signals = [0; 512];
        while rustix::io::read(&self.child_ended, &mut signals).is_ok_and(|count| count > 0) {}
        for (number, code) in self.children.reap() {
            self.out.push(Kind::Exit, number, &json(&serde_json::json!({ "code": code })));
        }
    }

    fn reply(&mut self, number: u32, result: Result<Answer, Refusal>) {
        let reply = result.map_or_else(Reply::Error, Reply::Ok);
        self.out.push(Kind::Reply, number, &json(&reply));
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
    let bytes = payload.try_into().map_err(|_| Malformed("credit that is no number".into()))?;
    Ok(u32::from_le_bytes(bytes) as usize)
}

fn json(value: &impl serde::Serialize) -> Vec<u8> {
    serde_json::to_vec(value).expect("what the agent says consists of numbers and texts")
}

/// A file that can be read when a child has ended.
#[allow(unsafe_code)]
fn child_signals() -> io::Result<OwnedFd> {
    use std::os::fd::FromRawFd;
    let mut set = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: sigemptyset initialises the set, the calls only read or fill it; a descriptor that
    // signalfd gives is nobody else's.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        libc::sigaddset(set.as_mut_ptr(), libc::SIGCHLD);
        libc::pthread_sigmask(libc::SIG_BLOCK, set.as_ptr(), std::ptr::null_mut());
        let file = libc::signalfd(-1, set.as_ptr(), libc::SFD_CLOEXEC | libc::SFD_NONBLOCK);
        if file < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(OwnedFd::from_raw_fd(file))
    }
}
