//! A mount namespace of this process's own; for an ordinary user inside a user namespace, which gives the
//! right to mount and nothing else.

use std::fs;
use std::io;

use rustix::mount::MountPropagationFlags;
use rustix::thread::UnshareFlags;

use crate::request::User;

/// Nothing that is mounted from now on is seen by others. `user`: who the program will run as, whom
/// only root may choose.
pub fn enter(user: Option<User>) -> Result<(), String> {
    let (uid, gid) = (rustix::process::geteuid(), rustix::process::getegid());
    if uid.is_root() {
        unshare(UnshareFlags::NEWNS).map_err(|error| {
            format!("no mount namespace: {error}; in a container it needs the right to mount (CAP_SYS_ADMIN)")
        })?;
    } else {
        if user.is_some() {
            return Err("only root may run a program as another user".to_owned());
        }
        unshare(UnshareFlags::NEWUSER | UnshareFlags::NEWNS).map_err(|error| forbidden(&error))?;
        map_user(uid.as_raw(), gid.as_raw())?;
    }
    rustix::mount::mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)
        .map_err(|error| format!("mounts cannot be made private: {error}"))
}

/// The same numbers inside as outside, and no others.
fn map_user(uid: u32, gid: u32) -> Result<(), String> {
    let files = [
        // Without it the kernel takes no group from an ordinary user (user_namespaces(7)).
        ("/proc/self/setgroups", "deny".to_owned()),
        ("/proc/self/uid_map", format!("{uid} {uid} 1")),
        ("/proc/self/gid_map", format!("{gid} {gid} 1")),
    ];
    files.iter().try_for_each(|(file, text)| {
        fs::write(file, text).map_err(|error| format!("{file}: {}", forbidden(&error)))
    })
}

pub fn forbidden(error: &io::Error) -> String {
    format!(
        "this machine gives an ordinary user no namespace ({error}): run mydyno as root, or let root allow \
         it: sysctl user.max_user_namespaces above 0, and where they exist kernel.unprivileged_userns_clone=1 \
         and kernel.apparmor_restrict_unprivileged_userns=0"
    )
}

#[allow(unsafe_code)]
fn unshare(flags: UnshareFlags) -> io::Result<()> {
    // SAFETY: no descriptor tables are unshared, and this process has one thread.
    Ok(unsafe { rustix::thread::unshare_unsafe(flags) }?)
}
