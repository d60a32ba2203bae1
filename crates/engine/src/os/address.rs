//! Where the server listens, and sockets that connect to it without blocking.

use std::fmt;
use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::os::fd::OwnedFd;
use std::path::PathBuf;

use rustix::io::Errno;
use rustix::net::{
    self, AddressFamily, SocketAddrUnix, SocketFlags, SocketType, socket_with, sockopt,
};

use crate::failure::{Fatal, FatalCode};
use crate::job::Target;
use crate::protocol::{ServerError, code};

const DEFAULT_PORT: u16 = 3306;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    Unix(PathBuf),
    Tcp(SocketAddr),
}

/// How a non-blocking connect began.
pub enum Dial {
    Connected(OwnedFd),
    /// Wait until the socket can be written, then ask it for its error.
    UnderWay(OwnedFd),
    /// The listening unix socket's queue is full; only trying again helps.
    QueueFull,
    Failed(ServerError),
}

impl Address {
    /// Looks the host name up, once for the whole run.
    pub fn resolve(target: &Target) -> Result<Self, Fatal> {
        if let Some(path) = &target.socket {
            return Ok(Address::Unix(path.clone()));
        }
        let host = target.host.as_deref().unwrap_or("localhost");
        let port = target.port.unwrap_or(DEFAULT_PORT);
        let failed = |reason: String| {
            Fatal::new(FatalCode::Connect, format!("cannot look up the host {host}: {reason}"))
        };
        let mut found =
            (host, port).to_socket_addrs().map_err(|error| failed(error.to_string()))?;
        found.next().map(Address::Tcp).ok_or_else(|| failed("no address".to_owned()))
    }

    /// Whether this is a unix socket, over which a password may travel in clear.
    pub fn is_local(&self) -> bool {
        matches!(self, Address::Unix(_))
    }

    /// Begins to connect.
    pub fn dial(&self) -> Dial {
        match self.try_dial() {
            Ok(dial) => dial,
            Err(error) => Dial::Failed(self.refused(error.into())),
        }
    }

    /// The error of a connection that could not be made, with the client's usual code: another one
    /// where this machine is to blame, which says nothing of the server.
    pub fn refused(&self, error: io::Error) -> ServerError {
        let errno = Errno::from_io_error(&error);
        let code = match self {
            Address::Unix(_) if errno.is_some_and(is_local) => code::SOCKET_CREATE,
            Address::Unix(_) => code::SOCKET_CONNECT,
            Address::Tcp(_) if errno.is_some_and(is_local) => code::TCP_CREATE,
            Address::Tcp(_) => code::HOST_CONNECT,
        };
        let reason = match errno {
            Some(Errno::ADDRNOTAVAIL) => {
                "this machine has no free local port or address for it (EADDRNOTAVAIL)".to_owned()
            }
            _ => error.to_string(),
        };
        ServerError::new(code, format!("cannot connect to {self}: {reason}"))
    }

    fn try_dial(&self) -> Result<Dial, Errno> {
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        let (socket, connected) = match self {
            Address::Unix(path) => {
                let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
                let connected = net::connect(&socket, &SocketAddrUnix::new(path)?);
                (socket, connected)
            }
            Address::Tcp(address) => {
                let family = match address {
                    SocketAddr::V4(_) => AddressFamily::INET,
                    SocketAddr::V6(_) => AddressFamily::INET6,
                };
                let socket = socket_with(family, SocketType::STREAM, flags, None)?;
                sockopt::set_tcp_nodelay(&socket, true)?;
                let connected = net::connect(&socket, address);
                (socket, connected)
            }
        };
        match connected {
            Ok(()) => Ok(Dial::Connected(socket)),
            Err(Errno::INPROGRESS) => Ok(Dial::UnderWay(socket)),
            Err(Errno::AGAIN) => Ok(Dial::QueueFull),
            Err(error) => Err(error),
        }
    }
}

/// Whether an error of connecting is this machine's lack of ports, files or memory.
fn is_local(errno: Errno) -> bool {
    use Errno as E;
    [E::ADDRNOTAVAIL, E::MFILE, E::NFILE, E::NOBUFS, E::NOMEM].contains(&errno)
}

impl fmt::Display for Address {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Unix(path) => write!(out, "{}", path.display()),
            Address::Tcp(address) => write!(out, "{address}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(errno: Errno) -> ServerError {
        Address::Tcp(([127, 0, 0, 1], 3306).into()).refused(errno.into())
    }

    #[test]
    fn a_machine_without_a_free_port_is_no_server_that_refuses() {
        let error = refused(Errno::ADDRNOTAVAIL);
        assert_eq!(error.code, code::TCP_CREATE);
        assert!(error.message.contains("no free local port"), "{error}");
        for errno in [Errno::MFILE, Errno::NFILE, Errno::NOBUFS, Errno::NOMEM] {
            assert!(code::is_local(refused(errno).code), "{errno}");
        }
        assert_eq!(refused(Errno::CONNREFUSED).code, code::HOST_CONNECT);
        let socket = Address::Unix("/run/mysqld.sock".into());
        assert_eq!(socket.refused(Errno::MFILE.into()).code, code::SOCKET_CREATE);
        assert_eq!(socket.refused(Errno::NOENT.into()).code, code::SOCKET_CONNECT);
    }
}
