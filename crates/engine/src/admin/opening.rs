//! Sockets for blocking connections, opened within a time.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::thread;
use std::time::{Duration, Instant};

use rustix::net::sockopt;

use crate::os::address::{Address, Dial};
use crate::os::signals;
use crate::protocol::ServerError;

/// How often a waiting read looks up: for the time, and for an interruption.
const LOOK_UP: Duration = Duration::from_millis(200);
/// Time after which a full queue of a listening socket is tried again.
const REDIAL: Duration = Duration::from_millis(5);

pub(super) trait Stream: Read + Write + Send {}
impl<T: Read + Write + Send> Stream for T {}

/// The stream, and the process at its other end where that is known.
pub(super) type Opened = (Box<dyn Stream>, Option<u32>);

pub(super) fn open(address: &Address, limit: Duration) -> Result<Opened, ServerError> {
    let refused = |error| address.refused(error);
    match address {
        Address::Unix(_) => {
            let stream = UnixStream::from(dial(address, limit)?);
            stream.set_nonblocking(false).map_err(refused)?;
            stream.set_read_timeout(Some(LOOK_UP)).map_err(refused)?;
            stream.set_write_timeout(Some(LOOK_UP)).map_err(refused)?;
            let peer = sockopt::socket_peercred(&stream).ok();
            let pid = peer.map(|peer| peer.pid.as_raw_nonzero().get() as u32);
            Ok((Box::new(stream), pid))
        }
        Address::Tcp(to) => {
            let stream = TcpStream::connect_timeout(to, limit).map_err(refused)?;
            stream.set_nodelay(true).map_err(refused)?;
            stream.set_read_timeout(Some(LOOK_UP)).map_err(refused)?;
            stream.set_write_timeout(Some(LOOK_UP)).map_err(refused)?;
            Ok((Box::new(stream), None))
        }
    }
}

/// Connects to a unix socket. A blocking connect would wait for ever while the queue of a server
/// that hangs is full.
fn dial(address: &Address, limit: Duration) -> Result<OwnedFd, ServerError> {
    let deadline = Instant::now() + limit;
    loop {
        match address.dial() {
            Dial::Connected(socket) | Dial::UnderWay(socket) => return Ok(socket),
            Dial::Failed(error) => return Err(error),
            Dial::QueueFull if Instant::now() < deadline && !signals::interrupted() => {
                thread::sleep(REDIAL);
            }
            Dial::QueueFull => {
                let full = io::Error::new(io::ErrorKind::TimedOut, "its queue is full");
                return Err(address.refused(full));
            }
        }
    }
}
