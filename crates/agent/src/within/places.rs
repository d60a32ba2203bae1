//! The folders of a machine that a private root replaces.

use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, StatVfsMountFlags};
use rustix::mount::{MountFlags, MoveMountFlags, OpenTreeFlags};

use super::namespace::forbidden;

/// Covered always.
const WHOLE: [&str; 2] = ["usr", "etc"];

/// Links into usr since the merge of /usr, folders before it. A program names its loader by one of them.
const MERGED: [&str; 4] = ["bin", "sbin", "lib", "lib64"];

/// Says what is wrong with a root before anything is changed.
pub fn check(root: &Path) -> Result<(), String> {
    for name in WHOLE {
        if !root.join(name).is_dir() {
            return Err(format!(
                "{} is not a private root: it has no folder {name}",
                root.display()
            ));
        }
    }
    for name in MERGED {
        let there = root.join(name);
        if there.is_dir() && !there.is_symlink() {
            return Err(format!(
                "{} is not a private root: {name} is a separate folder there, and not a link to usr/{name}",
                root.display()
            ));
        }
    }
    Ok(())
}

/// Puts the folders of `root`, read-only, in place of the machine's. All are taken up before the first is
/// put down, since `root` itself may lie below one that is covered.
pub fn cover(root: &Path) -> Result<(), String> {
    let mut taken = Vec::new();
    for name in WHOLE.iter().chain(&MERGED) {
        let source = root.join(name);
        if source.is_dir()
            && let Some(target) = to_cover(name)?
        {
            taken.push((take_up(&source).map_err(|error| named(&source, &error))?, target));
        }
    }
    taken.iter().try_for_each(|(folder, target)| {
        put_down(folder, target).map_err(|error| named(target, &error))
    })
}

/// The machine's folder of this name; none when it is a link into /usr, which is covered as a whole.
fn to_cover(name: &str) -> Result<Option<PathBuf>, String> {
    let path = Path::new("/").join(name);
    let real = fs::canonicalize(&path).map_err(|error| {
        format!(
            "this machine has no {}, where programs of a private root look for files: {error}",
            path.display()
        )
    })?;
    Ok((WHOLE.contains(&name) || !real.starts_with("/usr")).then_some(real))
}

fn take_up(source: &Path) -> io::Result<OwnedFd> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
    Ok(rustix::mount::open_tree(CWD, source, flags)?)
}

fn put_down(folder: &OwnedFd, target: &Path) -> io::Result<()> {
    rustix::mount::move_mount(folder, "", CWD, target, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)?;
    let mut flags = MountFlags::BIND | MountFlags::RDONLY | MountFlags::NOSUID | MountFlags::NODEV;
    // In a user namespace this flag of the mount outside cannot be taken off.
    if rustix::fs::statvfs(target)?.f_flag.contains(StatVfsMountFlags::NOEXEC) {
        flags |= MountFlags::NOEXEC;
    }
    Ok(rustix::mount::mount_remount(target, flags, "")?)
}

/// An ordinary user who may make namespaces and yet not mount in them is held back by the machine's rules.
fn named(place: &Path, error: &io::Error) -> String {
    let refused = matches!(error.raw_os_error(), Some(libc::EPERM | libc::EACCES));
    let why = if refused { forbidden(error) } else { error.to_string() };
    format!("{}: {why}", place.display())
}
