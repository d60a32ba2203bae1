//! What a session has built of storage on its machine: mounts in its folder, arrays of files in it or of
//! real disks, and settings of the kernel that it has changed. All of it goes before the folder does.

use std::fs::{self, DirEntry, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::mount::UnmountFlags;

/// The file in a session's folder with the old values of what it has changed in /sys: the identity of the
/// boot, then lines of PATH, a tab and VALUE.
const RESTORE: &str = "restore";
/// The file in a session's folder with the real disks that it builds on: the identity of the boot, then lines
/// of MAJOR:MINOR.
const DEVICES: &str = "devices";
const BOOT: &str = "/proc/sys/kernel/random/boot_id";
const SYSFS: &str = "/sys/";

/// A file system that was just unmounted, and a program that looks at a new device, hold an array for a moment.
const LONGEST_HOLD: Duration = Duration::from_secs(10);

/// Opens a block device with O_EXCL, which fails while a file system, an array or another program uses it, and
/// closes it again. Read-only: udev acts on the close of a device that was open for writing.
pub fn open_exclusively(device: &Path) -> io::Result<()> {
    OpenOptions::new().read(true).custom_flags(libc::O_EXCL).open(device).map(drop)
}

/// To be called when no process of the session is left.
pub fn remove(folder: &Path) -> io::Result<()> {
    if !folder.is_dir() {
        return Ok(());
    }
    let folder = folder.canonicalize()?;
    // Limits first: a file system is written out when it is unmounted.
    restore_settings(&folder)?;
    unmount_below(&folder)?;
    let text = kept(&folder.join(DEVICES))?;
    let devices = devices(&text, &fs::read_to_string(BOOT)?);
    stop_arrays(&folder, &devices, Path::new("/sys/block"))
}

/// The latest first, since it may lie in another one.
fn unmount_below(folder: &Path) -> io::Result<()> {
    let mounts = fs::read_to_string("/proc/self/mountinfo")?;
    for point in mount_points(&mounts).iter().rev().filter(|point| point.starts_with(folder)) {
        rustix::mount::unmount(point, UnmountFlags::empty())
            .or_else(|_| rustix::mount::unmount(point, UnmountFlags::DETACH))
            .map_err(|error| named(point, &error.into()))?;
    }
    Ok(())
}

/// The fifth column of proc_pid_mountinfo(5). Those of a session have no space in them, which is escaped there.
fn mount_points(mounts: &str) -> Vec<PathBuf> {
    mounts.lines().filter_map(|line| line.split(' ').nth(4)).map(PathBuf::from).collect()
}

fn stop_arrays(folder: &Path, devices: &[&str], block: &Path) -> io::Result<()> {
    let until = Instant::now() + LONGEST_HOLD;
    for state in arrays_of(folder, devices, block)? {
        // As STOP_ARRAY does (Linux, admin-guide/md.rst, array_state).
        while let Err(error) = fs::write(&state, "clear") {
            match error.raw_os_error().map(Errno::from_raw_os_error) {
                Some(Errno::NOENT | Errno::NODEV) => break,
                Some(Errno::BUSY) if Instant::now() < until => {
                    std::thread::sleep(Duration::from_millis(20));
                }
                _ => return Err(named(&state, &error)),
            }
        }
    }
    Ok(())
}

/// The file array_state of each array all of whose members are loop devices over files in `folder`, or among
/// `devices`.
fn arrays_of(folder: &Path, devices: &[&str], block: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for device in fs::read_dir(block)?.flatten() {
        let state = device.path().join("md/array_state");
        let Ok(members) = fs::read_dir(device.path().join("slaves")) else { continue };
        let members: Vec<_> = members.flatten().collect();
        let is_ours = |member: &DirEntry| {
            let file = block.join(member.file_name()).join("loop/backing_file");
            fs::read_to_string(file).is_ok_and(|file| Path::new(&file).starts_with(folder))
                || fs::read_to_string(member.path().join("dev"))
                    .is_ok_and(|number| devices.contains(&number.trim_end()))
        };
        if state.exists() && !members.is_empty() && members.iter().all(is_ours) {
            found.push(state);
        }
    }
    Ok(found)
}

/// The oldest value last. A device that has gone has taken its settings with it, and so has a reboot.
fn restore_settings(folder: &Path) -> io::Result<()> {
    let text = kept(&folder.join(RESTORE))?;
    for (path, value) in settings(&text, &fs::read_to_string(BOOT)?).iter().rev() {
        match fs::write(path, value) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                eprintln!("mydyno-agent: {path} does not take back {value:?}: {error}");
            }
            _ => {}
        }
    }
    Ok(())
}

/// What a session has kept in a file of its folder; nothing when there is none.
fn kept(file: &Path) -> io::Result<String> {
    match fs::read_to_string(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
        other => other,
    }
}

/// None of another boot. A line that was cut off was not acted on.
fn whole_lines<'a>(text: &'a str, boot: &str) -> impl Iterator<Item = &'a str> {
    let lines = text.strip_prefix(boot).unwrap_or_default();
    lines.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n'))
}

/// Numbers of block devices.
fn devices<'a>(text: &'a str, boot: &str) -> Vec<&'a str> {
    whole_lines(text, boot).collect()
}

/// Files of sysfs and their values.
fn settings<'a>(text: &'a str, boot: &str) -> Vec<(&'a str, &'a str)> {
    whole_lines(text, boot)
        .filter_map(|line| line.split_once('\t'))
        .filter(|(path, _)| path.starts_with(SYSFS) && !path.contains("/../"))
        .collect()
}

fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mount_points_are_read_in_the_order_of_mounting() {
        let text = "22 1 0:20 / / rw - ext4 /dev/sda1 rw\n40 22 7:0 / /f/volumes/data rw - xfs /dev/loop0 rw\n";
        assert_eq!(mount_points(text), [Path::new("/"), Path::new("/f/volumes/data")]);
    }

    #[test]
    fn only_whole_lines_of_this_boot_about_sysfs_are_restored() {
        let text = "boot\n/sys/block/loop3/queue/scheduler\tnone\n/etc/passwd\tx\n/sys/../etc/passwd\tx\n\
                    /sys/fs/cgroup/blkio/limit\t7:3 0\n/sys/block/loop3/queue/nr_re";
        assert_eq!(
            settings(text, "boot\n"),
            [("/sys/block/loop3/queue/scheduler", "none"), ("/sys/fs/cgroup/blkio/limit", "7:3 0")]
        );
        assert_eq!(settings(text, "another\n"), []);
    }

    #[test]
    fn only_whole_lines_of_this_boot_name_devices() {
        assert_eq!(devices("boot\n8:16\n259:3\n8:3", "boot\n"), ["8:16", "259:3"]);
        assert_eq!(devices("boot\n8:16\n", "another\n"), [] as [&str; 0]);
        assert_eq!(devices("", "boot\n"), [] as [&str; 0]);
    }

    #[test]
    fn an_exclusive_opening_says_why_it_is_refused() {
        let file = std::env::temp_dir().join(format!("agent-exclusive-{}", std::process::id()));
        fs::write(&file, "").unwrap();
        open_exclusively(&file).unwrap();
        fs::remove_file(&file).unwrap();
        assert_eq!(open_exclusively(&file).unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    /// A folder that looks as /sys/block does, with loop devices over files, whole disks, and arrays of both.
    fn block_folder(
        loops: &[(&str, &Path)],
        disks: &[(&str, &str)],
        arrays: &[(&str, &[&str])],
    ) -> PathBuf {
        let block = std::env::temp_dir().join(format!("agent-storage-{}", std::process::id()));
        for (name, file) in loops {
            fs::create_dir_all(block.join(name).join("loop")).unwrap();
            fs::write(block.join(name).join("loop/backing_file"), format!("{}\n", file.display()))
                .unwrap();
        }
        for (array, members) in arrays {
            fs::create_dir_all(block.join(array).join("md")).unwrap();
            fs::write(block.join(array).join("md/array_state"), "clean\n").unwrap();
            for member in *members {
                let place = block.join(array).join("slaves").join(member);
                fs::create_dir_all(&place).unwrap();
                let number = disks.iter().find(|(name, _)| name == member).map_or("7:9", |it| it.1);
                fs::write(place.join("dev"), format!("{number}\n")).unwrap();
            }
        }
        fs::create_dir_all(block.join("md9/md")).unwrap();
        fs::create_dir_all(block.join("md9/slaves")).unwrap();
        fs::write(block.join("md9/md/array_state"), "inactive\n").unwrap();
        block
    }

    #[test]
    fn an_array_is_ours_when_each_member_is_a_file_of_the_session_or_a_disk_that_it_has_kept() {
        let folder = Path::new("/far/trials/mydyno-000000000001");
        let (a, b) = (folder.join("disks/a"), folder.join("disks/b"));
        let block = block_folder(
            &[("loop0", &a), ("loop1", &b), ("loop2", Path::new("/far/trials/other/c"))],
            &[("sda", "8:0"), ("sdb1", "8:17"), ("sdc", "8:32")],
            &[
                ("md0", &["loop0", "loop1"]),
                ("md1", &["loop1", "loop2"]),
                ("md2", &["sda", "sdb1"]),
                ("md3", &["sda", "sdc"]),
                ("md4", &["sda", "loop0"]),
                ("md5", &["sda", "loop2"]),
            ],
        );
        let stopped = |devices: &[&str]| -> Vec<String> {
            let mut found: Vec<_> = arrays_of(folder, devices, &block)
                .unwrap()
                .iter()
                .map(|state| state.strip_prefix(&block).unwrap().display().to_string())
                .collect();
            found.sort();
            found
        };
        assert_eq!(stopped(&[]), ["md0/md/array_state"]);
        assert_eq!(
            stopped(&["8:0", "8:17"]),
            ["md0/md/array_state", "md2/md/array_state", "md4/md/array_state"]
        );
        stop_arrays(folder, &["8:0", "8:17"], &block).unwrap();
        for (array, state) in
            [("md0", "clear"), ("md1", "clean\n"), ("md2", "clear"), ("md3", "clean\n")]
        {
            assert_eq!(
                fs::read_to_string(block.join(array).join("md/array_state")).unwrap(),
                state
            );
        }
        fs::remove_dir_all(&block).unwrap();
    }
}
