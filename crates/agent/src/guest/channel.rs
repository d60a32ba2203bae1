//! The guest's end of the channel.

use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fs::{Mode, OFlags};
use rustix::termios::{ControlModes, OptionalActions, QueueSelector};

use super::config::Channel;

const PORTS: &str = "/sys/class/virtio-ports";

/// A device appears a moment after its driver, and the other side connects when it likes.
const PATIENCE: Duration = Duration::from_secs(30);
const LOOK_AGAIN: Duration = Duration::from_millis(10);

pub fn open(channel: &Channel) -> Result<OwnedFd, String> {
    match channel {
        Channel::Tty(path) => {
            let named = |error: io::Error| format!("channel {}: {error}", path.display());
            let file = open_device(path).map_err(named)?;
            make_raw(&file).map_err(named)?;
            Ok(file)
        }
        Channel::VirtioPort(name) => {
            let path = wait_for(|| find_port(name))
                .ok_or_else(|| format!("no virtio serial port is named {name:?} in {PORTS}"))?;
            let named = |error: io::Error| format!("channel {}: {error}", path.display());
            let file = open_device(&path).map_err(named)?;
            // Until a program is at the other end, reading would look like its end.
            wait_for(|| is_connected(&file).then_some(()))
                .ok_or_else(|| format!("no program connects to the port {name:?}"))?;
            Ok(file)
        }
    }
}

fn open_device(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, Mode::empty())?)
}

/// Bytes pass as they are: no echo, no lines, no signals; what came before is dropped.
fn make_raw(tty: &OwnedFd) -> io::Result<()> {
    let mut modes = rustix::termios::tcgetattr(tty)?;
    modes.make_raw();
    modes.control_modes |= ControlModes::CLOCAL;
    rustix::termios::tcsetattr(tty, OptionalActions::Now, &modes)?;
    Ok(rustix::termios::tcflush(tty, QueueSelector::IFlush)?)
}

fn find_port(name: &str) -> Option<PathBuf> {
    let port = fs::read_dir(PORTS).ok()?.flatten().find(|port| {
        fs::read_to_string(port.path().join("name")).is_ok_and(|text| text.trim() == name)
    })?;
    let device = Path::new("/dev").join(port.file_name());
    device.exists().then_some(device)
}

fn is_connected(port: &OwnedFd) -> bool {
    let mut files = [PollFd::new(port, PollFlags::OUT)];
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    rustix::event::poll(&mut files, Some(&at_once)).is_ok()
        && !files[0].revents().contains(PollFlags::HUP)
}

fn wait_for<T>(look: impl Fn() -> Option<T>) -> Option<T> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look() {
            return Some(found);
        }
        if Instant::now() > deadline {
            return None;
        }
        sleep(LOOK_AGAIN);
    }
}
