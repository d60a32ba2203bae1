//! Reading and writing: one read and one write for each readiness.

use rustix::io::Errno;

use super::Reactor;
use crate::load::connection::{Connection, Stage, Wrapping};
use crate::os::poll::{EventFlags, Ready, WAKE};
use crate::protocol::compression::Packer;
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
            Ok(count) if self.connections[index].wrapping.is_none() => {
                self.on_bytes(index, &inbox[..count]);
            }
            Ok(count) => self.on_wrapped(index, &inbox[..count]),
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
        let bytes = wrapped(&mut connection.wrapping, &self.outbox, &mut self.wrapper);
        let sent = put(connection, bytes);
        self.after(index, sent);
    }

    #[inline]
    fn after(&mut self, index: usize, sent: Sent) {
        match sent {
            Sent::All => {}
            Sent::Part => self.watch(index, EventFlags::IN | EventFlags::OUT),
            Sent::Failed(error) => self.lost(index, code::SERVER_GONE, &error.to_string()),
        }
    }

    /// Takes leave of the server over a connection that is open.
    pub(super) fn take_leave(&mut self, index: usize) {
        let connection = &mut self.connections[index];
        if let Some(socket) = &connection.socket {
            self.outbox.clear();
            connection.leave(&mut self.outbox);
            let bytes = wrapped(&mut connection.wrapping, &self.outbox, &mut self.wrapper);
            // A socket that takes nothing is closed all the same.
            let _ = rustix::io::write(socket, bytes);
        }
    }

    /// Takes bytes of a connection that is compressed or encrypted.
    fn on_wrapped(&mut self, index: usize, bytes: &[u8]) {
        let wrapping = self.connections[index].wrapping.as_mut().expect("it was just seen");
        let Some(session) = &mut wrapping.tls else { return self.on_unsealed(index, bytes) };
        let mut plain = std::mem::take(&mut self.unsealed);
        plain.clear();
        self.wrapper.sealed.clear();
        let opened = session.open(bytes, &mut plain, &mut self.wrapper.sealed);
        if !self.wrapper.sealed.is_empty() {
            let sent = put(&mut self.connections[index], &self.wrapper.sealed);
            self.after(index, sent);
        }
        self.on_unsealed(index, &plain);
        if let Err(error) = opened
            && self.connections[index].socket.is_some()
        {
            self.lost(index, error.code, &error.message);
        }
        self.unsealed = plain;
    }

    /// Takes bytes after encryption was taken off.
    fn on_unsealed(&mut self, index: usize, mut bytes: &[u8]) {
        let Some(wrapping) = &mut self.connections[index].wrapping else { return };
        let Some(algorithm) = wrapping.compression else { return self.on_bytes(index, bytes) };
        let mut incoming = std::mem::take(&mut wrapping.incoming);
        let mut unpacker = std::mem::take(&mut self.unpacker);
        while let Some(content) = unpacker.next(algorithm, &mut incoming, &mut bytes) {
            match content {
                Ok(content) => {
                    self.connections[index].frames.is_unnumbered = true;
                    self.on_bytes(index, content);
                }
                Err(error) => self.lost(index, error.code, &error.message),
            }
            if self.connections[index].socket.is_none() {
                break;
            }
        }
        self.unpacker = unpacker;
        if let Some(wrapping) = &mut self.connections[index].wrapping {
            wrapping.incoming = incoming;
        }
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

/// What became of bytes for a socket.
enum Sent {
    All,
    /// The rest waits for its turn.
    Part,
    Failed(Errno),
}

#[inline]
fn put(connection: &mut Connection, bytes: &[u8]) -> Sent {
    let Some(socket) = &connection.socket else { return Sent::All };
    let sent = match connection.unsent.is_empty() {
        true => rustix::io::write(socket, bytes),
        false => Err(Errno::AGAIN),
    };
    let sent = match sent {
        Ok(count) if count == bytes.len() => return Sent::All,
        Ok(count) => count,
        Err(Errno::AGAIN) => 0,
        Err(error) => return Sent::Failed(error),
    };
    connection.unsent.extend_from_slice(&bytes[sent..]);
    Sent::Part
}

/// What compression and encryption work with; one for all connections of a reactor.
#[derive(Default)]
pub(super) struct Wrapper {
    packer: Packer,
    packed: Vec<u8>,
    sealed: Vec<u8>,
}

/// The bytes that go over a connection: compressed and encrypted, once that has begun.
#[inline]
fn wrapped<'a>(
    wrapping: &mut Option<Box<Wrapping>>,
    plain: &'a [u8],
    wrapper: &'a mut Wrapper,
) -> &'a [u8] {
    match wrapping {
        None => plain,
        Some(wrapping) => wrap(wrapping, plain, wrapper),
    }
}

fn wrap<'a>(wrapping: &mut Wrapping, plain: &'a [u8], wrapper: &'a mut Wrapper) -> &'a [u8] {
    let Wrapper { packer, packed, sealed } = wrapper;
    let bytes = match wrapping.compression {
        None => plain,
        Some(algorithm) => {
            packed.clear();
            // It begins with a command, and nothing goes on with that.
            packer.pack(algorithm, plain, &mut 0, packed);
            packed
        }
    };
    let Some(session) = &mut wrapping.tls else { return bytes };
    sealed.clear();
    session.seal(bytes, sealed);
    sealed
}
