//! The guest as a whole: its loopback network and its end.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use rustix::net::{AddressFamily, SocketType};
use rustix::system::RebootCommand;

/// What `ip link set lo up` does (netdevice(7)).
#[allow(unsafe_code)]
pub fn bring_loopback_up() -> io::Result<()> {
    let socket: OwnedFd = rustix::net::socket(AddressFamily::INET, SocketType::DGRAM, None)?;
    // SAFETY: an ifreq of zeros is valid; its name ends with a zero; both calls read and fill
    // exactly this structure.
    unsafe {
        let mut request: libc::ifreq = std::mem::zeroed();
        for (target, &byte) in request.ifr_name.iter_mut().zip(b"lo") {
            *target = byte as libc::c_char;
        }
        if libc::ioctl(socket.as_raw_fd(), libc::SIOCGIFFLAGS, &mut request) != 0 {
            return Err(io::Error::last_os_error());
        }
        request.ifr_ifru.ifru_flags |= libc::IFF_UP as libc::c_short;
        if libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS, &request) != 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

/// Gives the reason when the machine is still there.
pub fn power_off() -> io::Error {
    match rustix::system::reboot(RebootCommand::PowerOff) {
        Ok(()) => io::Error::other("it goes on"),
        Err(error) => error.into(),
    }
}
