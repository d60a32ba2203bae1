//! An epoll set and a way to wake the thread that waits on it.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use rustix::event::{EventfdFlags, Timespec, epoll, eventfd};
use rustix::io::Errno;

pub use epoll::EventFlags;

/// Token of the waker; sockets have lower ones.
pub const WAKE: u64 = u64::MAX;

pub struct Poll {
    set: OwnedFd,
}

/// What is ready.
#[derive(Clone, Copy, Debug)]
pub struct Ready {
    pub token: u64,
    pub flags: EventFlags,
}

impl Poll {
    pub fn new() -> io::Result<Self> {
        Ok(Self { set: epoll::create(epoll::CreateFlags::CLOEXEC)? })
    }

    pub fn add(&self, source: impl AsFd, token: u64, flags: EventFlags) -> io::Result<()> {
        Ok(epoll::add(&self.set, source, epoll::EventData::new_u64(token), flags)?)
    }

    pub fn modify(&self, source: impl AsFd, token: u64, flags: EventFlags) -> io::Result<()> {
        Ok(epoll::modify(&self.set, source, epoll::EventData::new_u64(token), flags)?)
    }

    pub fn waker(&self) -> io::Result<Waker> {
        let event = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        self.add(&event, WAKE, EventFlags::IN)?;
        Ok(Waker(Arc::new(event)))
    }

    /// Waits until something is ready or the time is over, and fills `events`.
    pub fn wait(
        &self,
        events: &mut Vec<epoll::Event>,
        timeout: Option<Duration>,
    ) -> io::Result<()> {
        events.clear();
        let limit = timeout.map(timespec);
        let space = rustix::buffer::spare_capacity(events);
        match epoll::wait(&self.set, space, limit.as_ref()) {
            // Linux before 5.11 counts in milliseconds only.
            Err(Errno::NOSYS) => {
                let whole = timeout.map(|time| timespec(round_up_to_milliseconds(time)));
                let space = rustix::buffer::spare_capacity(events);
                epoll::wait(&self.set, space, whole.as_ref())?;
            }
            Err(Errno::INTR) => {}
            other => {
                other?;
            }
        }
        Ok(())
    }
}

/// Reads one event out of the buffer that [`Poll::wait`] filled.
pub fn ready(event: &epoll::Event) -> Ready {
    Ready { token: event.data.u64(), flags: event.flags }
}

/// A buffer for `capacity` events.
pub fn events(capacity: usize) -> Vec<epoll::Event> {
    Vec::with_capacity(capacity)
}

/// Wakes the thread that waits on a [`Poll`]; may be used from any thread.
#[derive(Clone)]
pub struct Waker(Arc<OwnedFd>);

impl Waker {
    pub fn wake(&self) {
        // The counter can only be full when a wake-up is already due.
        let _ = rustix::io::write(&*self.0, &1u64.to_ne_bytes());
    }

    /// Takes the wake-ups that have come.
    pub fn clear(&self) {
        let mut count = [0u8; 8];
        let _ = rustix::io::read(&*self.0, &mut count);
    }
}

fn timespec(time: Duration) -> Timespec {
    Timespec { tv_sec: time.as_secs() as i64, tv_nsec: i64::from(time.subsec_nanos()) }
}

fn round_up_to_milliseconds(time: Duration) -> Duration {
    Duration::from_millis(time.as_nanos().div_ceil(1_000_000) as u64)
}
