//! Reading and writing: one read and one write for each readiness.

use rustix::io::Errno;

use super::Reactor;
use crate::load::connection::Stage;
use crate::os::poll::{EventFlags, Ready, WAKE};
use crate::protocol::tls::Session;
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
            Ok(count) if self.connections[index].tls.is_none() => {
                self.on_bytes(index, &inbox[..count]);
            }
            Ok(count) => self.on_sealed(index, &inbox[..count]),
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
        let bytes = sealed(&mut connection.tls, &self.outbox, &mut self.sealed);
        let sent = match connection.unsent.is_empty() {
            true => rustix::io::write(socket, bytes),
            false => Err(Errno::AGAIN),
        };
        let sent = match sent {
            Ok(count) if count == bytes.len() => return,
            Ok(count) => count,
            Err(Errno::AGAIN) => 0,
            Err(error) => return self.lost(index, code::SERVER_GONE, &error.to_string()),
        };
        connection.unsent.extend_from_slice(&bytes[sent..]);
        self.watch(index, EventFlags::IN | EventFlags::OUT);
    }

    /// Takes leave of the server over a connection that is open.
    pub(super) fn take_leave(&mut self, index: usize) {
        let connection = &mut self.connections[index];
        if let Some(socket) = &connection.socket {
            self.outbox.clear();
            connection.leave(&mut self.outbox);
            let bytes = sealed(&mut connection.tls, &self.outbox, &mut self.sealed);
            // A socket that takes nothing is closed all the same.
            let _ = rustix::io::write(socket, bytes);
        }
    }

    /// Takes bytes of an encrypted connection.
    fn on_sealed(&mut self, index: usize, bytes: &[u8]) {
        let mut plain = std::mem::take(&mut self.opened_bytes);
        plain.clear();
        self.outbox.clear();
        let session = self.connections[index].tls.as_mut().expect("the connection is encrypted");
        let opened = session.open(bytes, &mut plain, &mut self.outbox);
        if !self.outbox.is_empty() {
            // These bytes are TLS's own.
            let session = self.connections[index].tls.take();
            self.transmit(index);
            let connection = &mut self.connections[index];
            connection.tls = session.filter(|_| connection.socket.is_some());
        }
        if !plain.is_empty() {
            self.on_bytes(index, &plain);
        }
        if let Err(error) = opened
            && self.connections[index].socket.is_some()
        {
            self.lost(index, error.code, &error.message);
        }
        self.opened_bytes = plain;
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

/// The bytes that go over a connection: encrypted, once TLS has begun.
#[inline]
fn sealed<'a>(session: &mut Option<Session>, plain: &'a [u8], space: &'a mut Vec<u8>) -> &'a [u8] {
    let Some(session) = session else { return plain };
    space.clear();
    session.seal(plain, space);
    space
}
