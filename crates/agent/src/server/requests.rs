//! What the server does for each request.

use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::Arc;
use std::thread;
use std::time::{SystemTime, UNIX_EPOCH};

use super::{Server, json};
use crate::children;
use crate::files;
use crate::frames::Kind;
use crate::request::{Answer, Refusal, Reply, Request, Start};
use crate::streams::Stream;

/// What a thread next to the server has finished.
pub(super) struct Finished {
    number: u32,
    reply: Reply,
    content: Vec<u8>,
    stream: Option<(u32, OwnedFd)>,
}

impl Server {
    pub(super) fn begin(&mut self, number: u32, request: Request, content: Vec<u8>) {
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
            // Right here, so that as little as possible is added to the way.
            Request::Clock {} => self.reply(number, Ok(Answer::Clock { nanoseconds: now() })),
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

    /// Does what may take long in a separate thread; the server is notified of its end.
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
            // When the server has gone, no thread waits for this either.
            if finish.send(finished).is_ok() {
                let _ = rustix::io::write(&*wake, &1u64.to_ne_bytes());
            }
        };
        if let Err(error) = thread::Builder::new().spawn(job) {
            self.reply(number, Err(error.into()));
        }
    }

    pub(super) fn take_finished(&mut self) {
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

    fn reply(&mut self, number: u32, result: Result<Answer, Refusal>) {
        let reply = result.map_or_else(Reply::Error, Reply::Ok);
        self.out.push(Kind::Reply, number, &json(&reply));
    }
}

/// Since 1970.
fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}
