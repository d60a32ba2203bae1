//! The bytes as they lie there: a file, a pipe, standard input.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{FileType, Mode, OFlags};

use crate::stop::Stop;

/// What ends a source before its end.
#[derive(Debug)]
pub enum Trouble {
    /// In words, after the source's name.
    Unreadable(String),
    Broken(String),
    Interrupted,
}

pub struct Raw<'a> {
    input: Input,
    /// A pipe lets its reader wait, which an end that is asked for must cut short.
    can_wait: bool,
    pub read_bytes: u64,
    /// Those of all sources together.
    all_read_bytes: &'a AtomicU64,
}

enum Input {
    File(File),
    Standard,
}

impl<'a> Raw<'a> {
    /// `-` is standard input.
    pub fn open(name: &str, all_read_bytes: &'a AtomicU64) -> Result<Self, Trouble> {
        let input = if name == "-" {
            Input::Standard
        } else {
            // Opening a FIFO would wait for its writer, deaf to any signal.
            let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
            let opened = rustix::fs::open(name, flags, Mode::empty());
            Input::File(File::from(opened.map_err(|error| unreadable(&error.into()))?))
        };
        let status = rustix::fs::fstat(input.as_fd()).map_err(|error| unreadable(&error.into()))?;
        let kind = FileType::from_raw_mode(status.st_mode);
        if kind == FileType::Directory {
            return Err(unreadable(&rustix::io::Errno::ISDIR.into()));
        }
        let is_regular = kind == FileType::RegularFile;
        if is_regular {
            // Advice that a file system may not know.
            let _ = rustix::fs::fadvise(input.as_fd(), 0, None, rustix::fs::Advice::Sequential);
        }
        Ok(Self { input, can_wait: !is_regular, read_bytes: 0, all_read_bytes })
    }

    pub fn status(&self) -> io::Result<rustix::fs::Stat> {
        Ok(rustix::fs::fstat(self.input.as_fd())?)
    }

    /// The next bytes, as many as there are; 0 at the end.
    pub fn read(&mut self, buffer: &mut [u8], stop: &Stop) -> Result<usize, Trouble> {
        loop {
            if stop.is_asked() {
                return Err(Trouble::Interrupted);
            }
            if self.can_wait {
                match stop.wait_for(self.input.as_fd()) {
                    Ok(true) => {}
                    Ok(false) => return Err(Trouble::Interrupted),
                    Err(error) => return Err(unreadable(&error)),
                }
            }
            match rustix::io::read(self.input.as_fd(), &mut *buffer) {
                Ok(count) => {
                    self.read_bytes += count as u64;
                    self.all_read_bytes.fetch_add(count as u64, Ordering::Relaxed);
                    return Ok(count);
                }
                Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => {}
                Err(error) => return Err(unreadable(&error.into())),
            }
        }
    }
}

/// What the sources come to in bytes as they lie there; None when one is a pipe. Those that are not there
/// are nothing. Asks without opening, which a FIFO's writer would notice.
pub fn total_bytes(names: &[String]) -> Option<u64> {
    let size = |name: &String| {
        let status = if name == "-" {
            rustix::fs::fstat(rustix::stdio::stdin())
        } else {
            rustix::fs::stat(name.as_str())
        };
        status.map_or(Some(0), |status| {
            let kind = FileType::from_raw_mode(status.st_mode);
            (kind == FileType::RegularFile).then_some(status.st_size as u64)
        })
    };
    names.iter().map(size).sum()
}

impl AsFd for Input {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::File(file) => file.as_fd(),
            Self::Standard => rustix::stdio::stdin(),
        }
    }
}

fn unreadable(error: &io::Error) -> Trouble {
    Trouble::Unreadable(match error.kind() {
        io::ErrorKind::NotFound => "there is no such file".to_owned(),
        io::ErrorKind::PermissionDenied => {
            "permission denied: slow logs belong to the server's user, \
                                            try as that user or as root"
                .to_owned()
        }
        io::ErrorKind::IsADirectory => "this is a directory: give the files in it".to_owned(),
        _ => format!("cannot be read: {error}"),
    })
}
