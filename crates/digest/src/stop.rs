//! An end that was requested from outside, which also wakes a read that waits for a pipe.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};

#[derive(Debug)]
pub struct Stop {
    asked: AtomicBool,
    /// Readable for ever once the end was requested.
    wake: OwnedFd,
}

impl Stop {
    pub fn new() -> io::Result<Self> {
        Ok(Self { asked: AtomicBool::new(false), wake: eventfd(0, EventfdFlags::CLOEXEC)? })
    }

    pub fn ask(&self) {
        self.asked.store(true, Ordering::Release);
        // A counter that is full is readable as well.
        let _ = rustix::io::write(&self.wake, &1u64.to_ne_bytes());
    }

    pub fn is_asked(&self) -> bool {
        self.asked.load(Ordering::Acquire)
    }

    /// Waits until `readable` has something to read, or an end; false when the end was requested.
    pub fn wait_for(&self, readable: BorrowedFd<'_>) -> io::Result<bool> {
        loop {
            let mut both = [
                PollFd::from_borrowed_fd(readable, PollFlags::IN),
                PollFd::new(&self.wake, PollFlags::IN),
            ];
            match poll(&mut both, None) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            if self.is_asked() {
                return Ok(false);
            }
            if !both[0].revents().is_empty() {
                return Ok(true);
            }
        }
    }
}
