//! `mydyno-agent loops FILE...`: loop devices over files, attached while this process lives.
//!
//! Each is marked to detach itself at its last closing (autoclear) in the very call that attaches it,
//! and this process keeps it open: whatever ends it and the mounts on it, nothing stays attached.

use std::fs::{File, FileType, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use serde::Serialize;

const CONTROL: &str = "/dev/loop-control";

// linux/loop.h
const LOOP_GET_STATUS64: u64 = 0x4C05;
const LOOP_CONFIGURE: u64 = 0x4C0A;
const LOOP_CTL_GET_FREE: u64 = 0x4C82;
const LO_FLAGS_AUTOCLEAR: u32 = 4;
const LO_FLAGS_DIRECT_IO: u32 = 16;

/// struct loop_info64.
#[repr(C)]
#[derive(Clone, Copy)]
struct Info {
    device: u64,
    inode: u64,
    rdevice: u64,
    offset: u64,
    size_limit: u64,
    number: u32,
    encrypt_type: u32,
    encrypt_key_size: u32,
    flags: u32,
    file_name: [u8; 64],
    crypt_name: [u8; 64],
    encrypt_key: [u8; 32],
    init: [u64; 2],
}

/// struct loop_config.
#[repr(C)]
struct Config {
    fd: u32,
    block_size: u32,
    info: Info,
    reserved: [u64; 8],
}

const NOTHING: Info = Info {
    device: 0,
    inode: 0,
    rdevice: 0,
    offset: 0,
    size_limit: 0,
    number: 0,
    encrypt_type: 0,
    encrypt_key_size: 0,
    flags: 0,
    file_name: [0; 64],
    crypt_name: [0; 64],
    encrypt_key: [0; 32],
    init: [0; 2],
};

/// One attached device, as it is printed on standard output: a line of JSON.
#[derive(Debug, Serialize)]
struct Attached<'a> {
    file: &'a str,
    device: PathBuf,
    /// MAJOR:MINOR.
    number: String,
    /// Whether reads and writes pass the page cache by. The kernel decides, from the file system.
    direct: bool,
}

/// Attaches a device for each file, prints them, and keeps them until standard input ends.
///
/// When one cannot be attached, none stays attached.
pub fn hold(files: &[&str]) -> io::Result<()> {
    let mut held = Vec::new();
    let mut out = io::stdout().lock();
    for file in files {
        let (device, attached) = attach(file)?;
        held.push(device);
        serde_json::to_writer(&mut out, &attached)?;
        out.write_all(b"\n")?;
    }
    out.flush()?;
    io::stdin().lock().read_to_end(&mut Vec::new())?;
    Ok(())
}

fn attach(name: &str) -> io::Result<(File, Attached<'_>)> {
    let control = open(Path::new(CONTROL), "character device", FileType::is_char_device)?;
    let backing = open(Path::new(name), "file", FileType::is_file)?;
    loop {
        let free = ioctl(control.as_raw_fd(), LOOP_CTL_GET_FREE, std::ptr::null_mut())
            .map_err(|error| named(CONTROL, &error))?;
        let path = PathBuf::from(format!("/dev/loop{free}"));
        let device = open(&path, "block device", FileType::is_block_device)?;
        match configure(&device, &backing) {
            Ok(()) => {
                let attached =
                    describe(name, path, &device).map_err(|error| named(name, &error))?;
                return Ok((device, attached));
            }
            // Another program was faster: the next free one.
            Err(error) if error.raw_os_error() == Some(libc::EBUSY) => {}
            Err(error) => return Err(named(name, &error)),
        }
    }
}

/// Opens what is of a kind; an error names the path.
fn open(path: &Path, kind: &str, is_of_kind: fn(&FileType) -> bool) -> io::Result<File> {
    let opened =
        OpenOptions::new().read(true).write(true).custom_flags(libc::O_NOFOLLOW).open(path);
    opened
        .and_then(|file| {
            if is_of_kind(&file.metadata()?.file_type()) {
                return Ok(file);
            }
            Err(io::Error::new(io::ErrorKind::InvalidInput, format!("it is not a {kind}")))
        })
        .map_err(|error| named(&path.to_string_lossy(), &error))
}

fn configure(device: &File, backing: &File) -> io::Result<()> {
    let mut config = Config {
        fd: backing.as_raw_fd().cast_unsigned(),
        // 512 bytes, as most disks have.
        block_size: 0,
        info: Info { flags: LO_FLAGS_AUTOCLEAR | LO_FLAGS_DIRECT_IO, ..NOTHING },
        reserved: [0; 8],
    };
    ioctl(device.as_raw_fd(), LOOP_CONFIGURE, (&raw mut config).cast())?;
    Ok(())
}

fn describe<'a>(file: &'a str, path: PathBuf, device: &File) -> io::Result<Attached<'a>> {
    let mut info = NOTHING;
    ioctl(device.as_raw_fd(), LOOP_GET_STATUS64, (&raw mut info).cast())?;
    let number = device.metadata()?.rdev();
    Ok(Attached {
        file,
        device: path,
        number: format!("{}:{}", libc::major(number), libc::minor(number)),
        direct: info.flags & LO_FLAGS_DIRECT_IO != 0,
    })
}

fn named(what: &str, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{what}: {error}"))
}

#[allow(unsafe_code)]
fn ioctl(file: RawFd, request: u64, argument: *mut libc::c_void) -> io::Result<i32> {
    // SAFETY: each of the four requests above reads and fills no more than the structure that its
    // caller passes, which lives until the call returns.
    let result = unsafe { libc::ioctl(file, request as _, argument) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}
