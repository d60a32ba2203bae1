//! Streams between a file descriptor here and mydyno, each with a window, so that a slow reader
//! holds up only its own stream and neither side ever has to stop listening.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::event::PollFlags;
use rustix::io::Errno;

use crate::frames::{Kind, Malformed, Outgoing, PIECE};

/// Bytes of a stream that may be under way in one direction. Both sides start with it.
pub const WINDOW: usize = 256 << 10;

pub struct Stream {
    file: OwnedFd,
    is_socket: bool,
    source: Option<Source>,
    sink: Option<Sink>,
}

/// What is read here and sent.
struct Source {
    credit: usize,
}

/// What is received and written here.
#[derive(Default)]
struct Sink {
    pending: VecDeque<u8>,
    used: usize,
    ended: bool,
}

impl Stream {
    pub fn reading(file: OwnedFd) -> Self {
        Self { file, is_socket: false, source: Some(Source { credit: WINDOW }), sink: None }
    }

    pub fn writing(file: OwnedFd) -> Self {
        Self { file, is_socket: false, source: None, sink: Some(Sink::default()) }
    }

    pub fn both_ways(socket: OwnedFd) -> Self {
        Self {
            file: socket,
            is_socket: true,
            source: Some(Source { credit: WINDOW }),
            sink: Some(Sink::default()),
        }
    }

    pub fn file(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    pub fn is_over(&self) -> bool {
        self.source.is_none() && self.sink.is_none()
    }

    /// What to wait for; empty when there is nothing to do whatever happens to the file.
    pub fn wanted(&self, may_send: bool) -> PollFlags {
        let mut flags = PollFlags::empty();
        if may_send && self.source.as_ref().is_some_and(|source| source.credit > 0) {
            flags |= PollFlags::IN;
        }
        if self.sink.as_ref().is_some_and(|sink| !sink.pending.is_empty()) {
            flags |= PollFlags::OUT;
        }
        flags
    }

    /// Moves what can be moved without waiting.
    pub fn move_bytes(&mut self, number: u32, ready: PollFlags, out: &mut Outgoing) {
        let broken = PollFlags::HUP | PollFlags::ERR;
        if ready.intersects(PollFlags::OUT | broken) {
            self.write_pending(number, out);
        }
        if ready.intersects(PollFlags::IN | broken) {
            self.read_some(number, out);
        }
    }

    fn read_some(&mut self, number: u32, out: &mut Outgoing) {
        let Some(source) = self.source.as_mut().filter(|source| source.credit > 0) else { return };
        let mut buffer = [0; PIECE];
        let room = source.credit.min(PIECE);
        match rustix::io::read(&self.file, &mut buffer[..room]) {
            Err(Errno::AGAIN | Errno::INTR) => {}
            Ok(0) | Err(_) => {
                self.source = None;
                out.push(Kind::End, number, &[]);
            }
            Ok(count) => {
                source.credit -= count;
                out.push(Kind::Data, number, &buffer[..count]);
            }
        }
    }

    fn write_pending(&mut self, number: u32, out: &mut Outgoing) {
        let Some(sink) = self.sink.as_mut() else { return };
        while !sink.pending.is_empty() {
            match rustix::io::write(&self.file, sink.pending.as_slices().0) {
                Ok(count) => {
                    sink.pending.drain(..count);
                    sink.used += count;
                }
                Err(Errno::AGAIN | Errno::INTR) => break,
                Err(_) => {
                    self.sink = None;
                    out.push(Kind::Discard, number, &[]);
                    return;
                }
            }
        }
        if sink.used >= WINDOW / 2 {
            out.push(Kind::Credit, number, &(sink.used as u32).to_le_bytes());
            sink.used = 0;
        }
        if sink.ended && sink.pending.is_empty() {
            self.close_sink();
        }
    }

    fn close_sink(&mut self) {
        self.sink = None;
        if self.is_socket {
            // The other end may have gone already; then there is no reader.
            let _ = rustix::net::shutdown(&self.file, rustix::net::Shutdown::Write);
        }
    }

    /// Data has come for this stream.
    pub fn receive(
        &mut self,
        number: u32,
        bytes: &[u8],
        out: &mut Outgoing,
    ) -> Result<(), Malformed> {
        let Some(sink) = self.sink.as_mut() else { return Ok(()) };
        if sink.ended || sink.pending.len() + sink.used + bytes.len() > WINDOW {
            return Err(Malformed(format!("stream {number} got more than it takes")));
        }
        sink.pending.extend(bytes);
        self.write_pending(number, out);
        Ok(())
    }

    /// Nothing more comes for this stream.
    pub fn end(&mut self, number: u32, out: &mut Outgoing) {
        if let Some(sink) = self.sink.as_mut() {
            sink.ended = true;
            self.write_pending(number, out);
        }
    }

    /// The other side takes `count` bytes more.
    pub fn grant(&mut self, number: u32, count: usize) -> Result<(), Malformed> {
        let Some(source) = self.source.as_mut() else { return Ok(()) };
        source.credit += count;
        if source.credit > WINDOW {
            return Err(Malformed(format!("stream {number} was granted more than its window")));
        }
        Ok(())
    }

    /// The other side takes nothing more: the writer here gets a broken pipe.
    pub fn discard(&mut self) {
        self.source = None;
    }
}

/// Makes reads and writes of this file return instead of wait.
pub fn never_wait(file: impl AsFd) -> io::Result<()> {
    let flags = rustix::fs::fcntl_getfl(&file)?;
    Ok(rustix::fs::fcntl_setfl(&file, flags | rustix::fs::OFlags::NONBLOCK)?)
}
