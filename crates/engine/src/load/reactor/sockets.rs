//! Reading and writing: one read and one write for each readiness.

use rustix::io::Errno;

use super::Reactor;
use crate::load::connection::Stage;
use crate::os::poll::{EventFlags, Ready, WAKE};
use crate::protocol::{code, commands};

impl Reactor<'_> {
    #[inline]
    pub(super) fn on_ready(&mut self, ready: Ready, inbox: &mut [u8]) {
        if ready.token == WAKE {
            self.waker.clear();
            return;
        }
        let index = ready.token as usize;
        if ready.flags.contains(EventFlags::OUT) {
            self.on_writable(index);
        }
        // The end of the stream is readable too, after what came before it.
        if ready.flags.intersects(EventFlags::IN | EventFlags::HUP | EventFlags::ERR) {
            self.read(index, inbox);
        }
    }

    #[inline]
    fn read(&mut self, index: usize, inbox: &mut [u8]) {
        let Some(socket) = &self.connections[index].socket else { return };
        match rustix::io::read(socket, &mut *inbox) {
            Ok(0) => self.lost(index, code::SERVER_LOST, "the server closed it"),
            Ok(count) => self.on_bytes(index, &inbox[..count]),
            Err(Errno::AGAIN | Errno::INTR) => {}
            Err(error) => self.lost(index, code::SERVER_LOST, &error.to_string()),
        }
    }

    /// Sends the command in the outbox over a connection.
    #[inline]
    pub(super) fn send(&mut self, index: usize) {
        self.connections[index].next_number = commands::answer_number(&self.outbox);
        self.transmit(index);
    }

    /// Sends the outbox over a connection; what the socket does not take waits for its turn.
    #[inline]
    pub(super) fn transmit(&mut self, index: usize) {
        let connection = &mut self.connections[index];
        let Some(socket) = &connection.socket else {
            return;
        };
        match rustix::io::write(socket, &self.outbox) {
            Ok(count) if count == self.outbox.len() => {}
            Ok(count) => self.send_later(index, count),
            Err(Errno::AGAIN) => self.send_later(index, 0),
            Err(error) => self.lost(index, code::SERVER_GONE, &error.to_string()),
        }
    }

    #[cold]
    fn send_later(&mut self, index: usize, sent: usize) {
        self.connections[index].unsent.extend_from_slice(&self.outbox[sent..]);
        self.watch(index, EventFlags::IN | EventFlags::OUT);
    }

    #[cold]
    fn on_writable(&mut self, index: usize) {
        if matches!(self.connections[index].stage, Stage::Dialing) {
            self.dialled(index);
        }
        let connection = &mut self.connections[index];
        let Some(socket) = &connection.socket else {
            return;
        };
        if !connection.unsent.is_empty() {
            match rustix::io::write(socket, &connection.unsent) {
                Ok(count) => drop(connection.unsent.drain(..count)),
                Err(Errno::AGAIN | Errno::INTR) => {}
                Err(error) => return self.lost(index, code::SERVER_GONE, &error.to_string()),
            }
        }
        if self.connections[index].unsent.is_empty() {
            self.watch(index, EventFlags::IN);
        }
    }

    fn watch(&mut self, index: usize, interest: EventFlags) {
        let Some(socket) = &self.connections[index].socket else {
            return;
        };
        if let Err(error) = self.poll.modify(socket, index as u64, interest) {
            self.lost(index, code::SERVER_GONE, &error.to_string());
        }
    }
}
