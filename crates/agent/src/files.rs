//! Files and folders, sockets that are dialled: work that may block and is done next to the server.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, fchown, lchown};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use crate::request::{Place, User};

/// More than any log or setting that mydyno reads, less than what a small guest has.
const LONGEST_READ: u64 = 64 << 20;

pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    fs::File::open(path)?.take(LONGEST_READ + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LONGEST_READ {
        return Err(io::Error::from_raw_os_error(libc::EFBIG));
    }
    Ok(bytes)
}

/// Writes through no symbolic link.
pub fn write(path: &Path, mode: u32, owner: Option<User>, bytes: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(mode)
        .custom_flags(libc::O_NOFOLLOW)
        .open(path)?;
    if let Some(User { uid, gid }) = owner {
        fchown(&file, Some(uid), Some(gid))?;
    }
    file.write_all(bytes)
}

pub fn make_folder(path: &Path, mode: u32, owner: Option<User>) -> io::Result<()> {
    DirBuilder::new().mode(mode).create(path)?;
    if let Some(User { uid, gid }) = owner {
        lchown(path, Some(uid), Some(gid))?;
    }
    Ok(())
}

/// Removes a file or folder and all in it, following no link; one that is missing is removed already.
pub fn remove_tree(path: &Path) -> io::Result<()> {
    let removed = match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) => Err(error),
    };
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

pub fn place(path: &Path) -> io::Result<Place> {
    let mut nearest = PathBuf::from(path);
    while !nearest.exists() && nearest.pop() {}
    let nearest = nearest.canonicalize()?;
    let space = rustix::fs::statvfs(&nearest)?;
    let device = rustix::fs::stat(&nearest)?.st_dev;
    Ok(Place {
        path: nearest.to_string_lossy().into_owned(),
        free_bytes: space.f_bavail * space.f_frsize,
        major: rustix::fs::major(device),
        minor: rustix::fs::minor(device),
    })
}

pub fn dial(path: &Path) -> io::Result<OwnedFd> {
    let stream = UnixStream::connect(path)?;
    stream.set_nonblocking(true)?;
    Ok(stream.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("agent-files-{}-{name}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        path
    }

    #[test]
    fn a_file_is_never_written_through_a_link() {
        let folder = folder("link");
        std::os::unix::fs::symlink(folder.join("target"), folder.join("link")).unwrap();
        let error = write(&folder.join("link"), 0o600, None, b"text").unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::ELOOP));
        assert!(!folder.join("target").exists());
        remove_tree(&folder).unwrap();
    }

    #[test]
    fn removing_follows_no_link_and_what_is_missing_is_removed_already() {
        let folder = folder("remove");
        write(&folder.join("kept"), 0o600, None, b"text").unwrap();
        make_folder(&folder.join("gone"), 0o700, None).unwrap();
        std::os::unix::fs::symlink(&folder, folder.join("gone/link")).unwrap();
        remove_tree(&folder.join("gone")).unwrap();
        remove_tree(&folder.join("gone")).unwrap();
        assert_eq!(read(&folder.join("kept")).unwrap(), b"text");
        remove_tree(&folder).unwrap();
    }

    #[test]
    fn a_path_that_is_not_there_yet_is_where_its_parent_is() {
        let folder = folder("place");
        let there = place(&folder).unwrap();
        assert_eq!(place(&folder.join("not/yet")).unwrap().path, there.path);
        remove_tree(&folder).unwrap();
    }
}
