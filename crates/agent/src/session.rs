//! A private folder on a host that mydyno reaches from elsewhere: one run at a time, and nothing left.
//!
//! The parent folder holds a lock and a folder for the session that has it. Whoever gets the lock knows
//! that every other folder there was left by an agent that was killed.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::FlockOperation;
use rustix::io::Errno;
use rustix::process::{Pid, Signal};

use crate::{files, storage};

/// What every process of a session has in its environment.
pub const MARK: &str = "MYDYNO_SESSION";

const LOCK: &str = "lock";

#[derive(Debug)]
pub struct Session {
    folder: PathBuf,
    _lock: Lock,
}

/// Held until it is dropped. Closing the file would not do: a process that was forked a moment ago has
/// it too, until it executes its program.
#[derive(Debug)]
struct Lock(File);

impl Drop for Lock {
    fn drop(&mut self) {
        rustix::fs::flock(&self.0, FlockOperation::Unlock).ok();
    }
}

impl Session {
    /// Takes the lock of the parent folder, removes what is left there, and makes the folder.
    ///
    /// None when another session has the lock. The folder may be passed through by other users, since
    /// a server that root starts is another user's; what is made in it is private.
    pub fn begin(folder: &Path) -> io::Result<Option<Self>> {
        let parent = folder.parent().filter(|_| is_private(folder)).ok_or(Errno::INVAL)?;
        let Some(lock) = lock(parent)? else { return Ok(None) };
        sweep_all(parent)?;
        DirBuilder::new().mode(0o711).create(folder)?;
        Ok(Some(Self { folder: folder.into(), _lock: lock }))
    }

    /// The environment variable that its processes are known by.
    pub fn mark(&self) -> (OsString, OsString) {
        (MARK.into(), self.folder.as_os_str().into())
    }

    /// To be called when no process of it is left.
    pub fn end(self) -> io::Result<()> {
        remove(&self.folder)
    }
}

/// Ends what killed sessions have left in `parent`, and gives their folders. None: a session runs.
pub fn sweep(parent: &Path) -> io::Result<Option<Vec<PathBuf>>> {
    if !parent.exists() {
        return Ok(Some(Vec::new()));
    }
    let Some(_lock) = lock(parent)? else { return Ok(None) };
    sweep_all(parent).map(Some)
}

fn lock(parent: &Path) -> io::Result<Option<Lock>> {
    let file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .custom_flags(libc::O_NOFOLLOW)
        .open(parent.join(LOCK))?;
    match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Some(Lock(file))),
        Err(Errno::WOULDBLOCK) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn sweep_all(parent: &Path) -> io::Result<Vec<PathBuf>> {
    let mut left = Vec::new();
    for entry in fs::read_dir(parent)? {
        let entry = entry?;
        if is_private(&entry.path()) && entry.file_type()?.is_dir() {
            end_processes(&entry.path());
            remove(&entry.path())?;
            left.push(entry.path());
        }
    }
    Ok(left)
}

fn remove(folder: &Path) -> io::Result<()> {
    storage::remove(folder)?;
    files::remove_tree(folder)
}

/// Kills those that have the session's mark, until there is none: one may have started another meanwhile.
fn end_processes(folder: &Path) {
    let mark = [MARK.as_bytes(), b"=", folder.as_os_str().as_bytes()].concat();
    loop {
        let marked = marked_processes(&mark);
        if marked.is_empty() {
            return;
        }
        for pid in marked {
            rustix::process::kill_process(pid, Signal::KILL).ok();
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}

/// A process that has ended has no environment any more; that of another user cannot be read.
fn marked_processes(mark: &[u8]) -> Vec<Pid> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    entries
        .flatten()
        .filter_map(|entry| {
            let pid = Pid::from_raw(entry.file_name().to_str()?.parse().ok()?)?;
            let environment = fs::read(entry.path().join("environ")).ok()?;
            environment.split(|&byte| byte == 0).any(|each| each == mark).then_some(pid)
        })
        .collect()
}

/// `mydyno-` and 12 hexadecimal digits: no other program's folder is named like that.
fn is_private(folder: &Path) -> bool {
    let digits = folder.file_name().and_then(|name| name.to_str()?.strip_prefix("mydyno-"));
    digits.is_some_and(|digits| {
        digits.len() == 12 && digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parent(name: &str) -> PathBuf {
        let path =
            std::env::temp_dir().join(format!("agent-session-{}-{name}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        path
    }

    #[test]
    fn a_second_session_is_refused_while_the_first_runs() {
        let parent = parent("two");
        let first = Session::begin(&parent.join("mydyno-000000000001")).unwrap().unwrap();
        assert!(Session::begin(&parent.join("mydyno-000000000002")).unwrap().is_none());
        assert!(sweep(&parent).unwrap().is_none());
        first.end().unwrap();
        let second = Session::begin(&parent.join("mydyno-000000000002")).unwrap().unwrap();
        second.end().unwrap();
        assert_eq!(fs::read_dir(&parent).unwrap().count(), 1);
        files::remove_tree(&parent).unwrap();
    }

    #[test]
    fn a_session_that_has_ended_is_over_for_whoever_has_its_lock_file_too() {
        let parent = parent("forked");
        let first = Session::begin(&parent.join("mydyno-000000000001")).unwrap().unwrap();
        let of_a_forked_process = first._lock.0.try_clone().unwrap();
        first.end().unwrap();
        let second = Session::begin(&parent.join("mydyno-000000000002")).unwrap().unwrap();
        second.end().unwrap();
        drop(of_a_forked_process);
        files::remove_tree(&parent).unwrap();
    }

    #[test]
    fn what_a_killed_session_has_left_is_removed_and_other_folders_stay() {
        let parent = parent("left");
        let folder = parent.join("mydyno-00000000000f");
        // Without an end, as after SIGKILL.
        drop(Session::begin(&folder).unwrap().unwrap());
        fs::write(folder.join("file"), "text").unwrap();
        for other in ["programs", "mydyno-0000", "mydyno-00000000000G"] {
            fs::create_dir(parent.join(other)).unwrap();
        }
        assert_eq!(sweep(&parent).unwrap().unwrap(), std::slice::from_ref(&folder));
        assert!(!folder.exists());
        assert!(parent.join("mydyno-0000").exists());
        assert_eq!(sweep(&parent).unwrap().unwrap(), [] as [PathBuf; 0]);
        files::remove_tree(&parent).unwrap();
    }

    #[test]
    fn a_process_of_a_killed_session_is_ended() {
        let parent = parent("process");
        let folder = parent.join("mydyno-0000000000aa");
        fs::create_dir(&folder).unwrap();
        let mut child =
            std::process::Command::new("sleep").arg("60").env(MARK, &folder).spawn().unwrap();
        // A process that has just been started has no environment yet.
        while fs::read(format!("/proc/{}/environ", child.id())).unwrap().is_empty() {
            std::thread::yield_now();
        }
        sweep(&parent).unwrap().unwrap();
        assert!(!child.wait().unwrap().success());
        files::remove_tree(&parent).unwrap();
    }

    #[test]
    fn a_folder_of_another_name_is_no_session() {
        assert!(Session::begin(&parent("name").join("data")).is_err());
        files::remove_tree(&parent("name")).unwrap();
    }
}
