//! When phases start, where several engines share a load: read from standard input, an instant a line.
//!
//! A phase opens its connections, says `connected`, and waits for a line with the instant at which its load
//! starts, in nanoseconds of the engine's clock. The end of the input says that no phase follows.

use std::io::BufRead;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::{io, thread};

use crate::load::{Event, ServerEvent};

static OVER: AtomicBool = AtomicBool::new(false);

/// No start follows any more.
pub fn are_over() -> bool {
    OVER.load(Ordering::SeqCst)
}

/// Reads the instants in a thread of its own, which ends with the input. What is no instant ends it, too.
pub fn listen(input: impl BufRead + Send + 'static, events: Sender<ServerEvent>) -> io::Result<()> {
    thread::Builder::new().name("starts".into()).spawn(move || {
        // Without a conductor the events have no reader.
        for at_ns in input.lines().map_while(|line| line.ok()?.trim().parse().ok()) {
            let _ = events.send((0, Event::Start { at_ns }));
        }
        OVER.store(true, Ordering::SeqCst);
        let _ = events.send((0, Event::NoMoreStarts));
    })?;
    Ok(())
}
