//! The file systems of a guest.

use std::ffi::CString;
use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::fs::CWD;
use rustix::mount::{MountFlags, MoveMountFlags, OpenTreeFlags};

use super::config::{Programs, Root, Share};

/// Where the new root is put together before it becomes `/`.
const STAGE: &str = "/mydyno-root";

const PATIENCE: Duration = Duration::from_secs(10);
const LOOK_AGAIN: Duration = Duration::from_millis(10);

pub fn kernel_file_systems() -> Result<(), String> {
    for (filesystem, target) in [("proc", "/proc"), ("sysfs", "/sys"), ("devtmpfs", "/dev")] {
        let _ = fs::create_dir(target);
        match mount(filesystem, filesystem, target.as_ref(), MountFlags::empty(), "") {
            Ok(()) => {}
            // The kernel has done it itself (CONFIG_DEVTMPFS_MOUNT).
            Err(error) if error.raw_os_error() == Some(libc::EBUSY) => {}
            Err(error) => return Err(format!("{filesystem} on {target}: {error}")),
        }
    }
    // Programs that share memory or open terminals expect these two; a kernel may lack either.
    for (filesystem, target, options) in
        [("tmpfs", "/dev/shm", "mode=1777"), ("devpts", "/dev/pts", "")]
    {
        let _ = fs::create_dir(target);
        let _ = mount(filesystem, filesystem, target.as_ref(), MountFlags::empty(), options);
    }
    Ok(())
}

/// Programs of the machine outside do not become another user here: seen from a user namespace, what
/// belongs to root seems to belong to nobody, and `mount` would run as nobody.
pub fn without_setuid(folder: &str) -> Result<(), String> {
    let flags = MountFlags::BIND | MountFlags::NOSUID | MountFlags::RDONLY;
    rustix::mount::mount_remount(folder, flags, "")
        .map_err(|error| format!("{folder} cannot be mounted without setuid: {error}"))
}

pub fn temporary_folders() -> Result<(), String> {
    for (target, options) in
        [("/run", "mode=755"), ("/tmp", "mode=1777"), ("/var/tmp", "mode=1777")]
    {
        fs::create_dir_all(target).map_err(|error| format!("{target}: {error}"))?;
        mount("tmpfs", "tmpfs", target.as_ref(), MountFlags::NODEV, options)
            .map_err(|error| format!("tmpfs on {target}: {error}"))?;
    }
    Ok(())
}

pub fn share(share: &Share) -> Result<(), String> {
    let named = |error: io::Error| {
        format!("{} of {} on {}: {error}", share.filesystem, share.source, share.target.display())
    };
    let flags = if share.read_only { MountFlags::RDONLY } else { MountFlags::empty() };
    fs::create_dir_all(&share.target).map_err(named)?;
    let options = match (share.filesystem.as_str(), share.options.as_str()) {
        ("hostfs", "") => share.source.as_str(),
        (_, options) => options,
    };
    mount(&share.source, &share.filesystem, &share.target, flags, options).map_err(named)
}

/// A folder that can be put anywhere later, whatever becomes the root meanwhile.
pub fn take_up(programs: &Programs) -> Result<OwnedFd, String> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
    rustix::mount::open_tree(CWD, &programs.source, flags)
        .map_err(|error| format!("{}: {error}", programs.source.display()))
}

pub fn put_down(folder: &OwnedFd, programs: &Programs) -> Result<(), String> {
    let named = |error: io::Error| format!("{}: {error}", programs.target.display());
    fs::create_dir_all(&programs.target).map_err(named)?;
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH;
    rustix::mount::move_mount(folder, "", CWD, &programs.target, flags)
        .map_err(|error| named(error.into()))
}

/// Makes `root` with a tmpfs above it the root of everything.
pub fn move_into(root: &Root) -> Result<(), String> {
    let device = root.device.display();
    let named = |what: &str| {
        let what = what.to_owned();
        move |error: io::Error| format!("{what}: {error}")
    };
    let stage = |name: &str| Path::new(STAGE).join(name);
    fs::create_dir_all(STAGE).map_err(named(STAGE))?;
    mount("tmpfs", "tmpfs", STAGE.as_ref(), MountFlags::empty(), "mode=755")
        .map_err(named("tmpfs for changes"))?;
    for name in ["lower", "changes", "work", "root"] {
        fs::create_dir(stage(name)).map_err(named(name))?;
    }
    wait_for(&root.device)?;
    mount(&device.to_string(), &root.filesystem, &stage("lower"), MountFlags::RDONLY, "")
        .map_err(named(&format!("{} on {device}", root.filesystem)))?;
    let layers = format!("lowerdir={STAGE}/lower,upperdir={STAGE}/changes,workdir={STAGE}/work");
    mount("overlay", "overlay", &stage("root"), MountFlags::empty(), &layers)
        .map_err(named("overlay"))?;
    for name in ["proc", "sys", "dev"] {
        let target = stage("root").join(name);
        fs::create_dir_all(&target).map_err(named(name))?;
        rustix::mount::mount_move(format!("/{name}"), &target)
            .map_err(|error| named(name)(error.into()))?;
    }
    become_root(&stage("root")).map_err(named("the new root"))
}

/// A disk appears a moment after its driver.
fn wait_for(device: &Path) -> Result<(), String> {
    let deadline = Instant::now() + PATIENCE;
    while !device.exists() {
        if Instant::now() > deadline {
            return Err(format!("{} does not appear", device.display()));
        }
        sleep(LOOK_AGAIN);
    }
    Ok(())
}

/// What switch_root(8) does, but the old root keeps its files: they are few.
fn become_root(new: &Path) -> io::Result<()> {
    rustix::process::chdir(new)?;
    rustix::mount::mount_move(".", "/")?;
    rustix::process::chroot(".")?;
    rustix::process::chdir("/")?;
    Ok(())
}

/// Writes what is still only in memory to the machine behind a share, where others read it.
pub fn write_back(target: &Path) {
    if let Ok(folder) = fs::File::open(target) {
        let _ = rustix::fs::syncfs(&folder);
    }
}

fn mount(
    source: &str,
    filesystem: &str,
    target: &Path,
    flags: MountFlags,
    options: &str,
) -> io::Result<()> {
    let options = CString::new(options)?;
    let options = (!options.is_empty()).then_some(options.as_c_str());
    Ok(rustix::mount::mount(source, target, filesystem, flags, options)?)
}
