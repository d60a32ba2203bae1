//! What a session has built of storage on its machine: mounts in its folder, arrays of files in it, and
//! settings of the kernel that it has changed. All of it goes before the folder does.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::mount::UnmountFlags;

/// The file in a session's folder with the old values of what it has changed in /sys: the identity of the
/// boot, then lines of PATH, a tab and VALUE.
const RESTORE: &str = "restore";
const BOOT: &str = "/proc/sys/kernel/random/boot_id";
const SYSFS: &str = "/sys/";

/// A file system that was just unmounted, and a program that looks at a new device, hold an array for a moment.
const LONGEST_HOLD: Duration = Duration::from_secs(10);

/// To be called when no process of the session is left.
pub fn remove(folder: &Path) -> io::Result<()> {
    if !folder.is_dir() {
        return Ok(());
    }
    let folder = folder.canonicalize()?;
    // Limits first: a file system is written out when it is unmounted.
    restore_settings(&folder)?;
    unmount_below(&folder)?;
    stop_arrays(&folder, Path::new("/sys/block"))
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

fn stop_arrays(folder: &Path, block: &Path) -> io::Result<()> {
    let until = Instant::now() + LONGEST_HOLD;
    for state in arrays_of(folder, block)? {
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

/// The file array_state of each array all of whose members are loop devices over files in `folder`.
fn arrays_of(folder: &Path, block: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for device in fs::read_dir(block)?.flatten() {
        let state = device.path().join("md/array_state");
        let Ok(members) = fs::read_dir(device.path().join("slaves")) else { continue };
        let members: Vec<_> = members.flatten().map(|member| member.file_name()).collect();
        let is_ours = |member| {
            let file = block.join(member).join("loop/backing_file");
            fs::read_to_string(file).is_ok_and(|file| Path::new(&file).starts_with(folder))
        };
        if state.exists() && !members.is_empty() && members.iter().all(is_ours) {
            found.push(state);
        }
    }
    Ok(found)
}

/// The oldest value last. A device that has gone has taken its settings with it, and so has a reboot.
fn restore_settings(folder: &Path) -> io::Result<()> {
    let text = match fs::read_to_string(folder.join(RESTORE)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        other => other?,
    };
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

/// Files of sysfs and their values; none of another boot. A line that was cut off was not acted on.
fn settings<'a>(text: &'a str, boot: &str) -> Vec<(&'a str, &'a str)> {
    let Some(lines) = text.strip_prefix(boot) else { return Vec::new() };
    lines
        .split_inclusive('\n')
        .filter_map(|line| line.strip_suffix('\n')?.split_once('\t'))
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
    fn an_array_is_ours_when_all_its_members_are_files_of_the_session() {
        let block = std::env::temp_dir().join(format!("agent-storage-{}", std::process::id()));
        let folder = Path::new("/far/trials/mydyno-000000000001");
        for (device, file) in [("loop0", "disks/a"), ("loop1", "disks/b"), ("loop2", "../other/c")]
        {
            fs::create_dir_all(block.join(device).join("loop")).unwrap();
            let file = match file.strip_prefix("../") {
                Some(other) => Path::new("/far/trials").join(other),
                None => folder.join(file),
            };
            fs::write(
                block.join(device).join("loop/backing_file"),
                format!("{}\n", file.display()),
            )
            .unwrap();
        }
        for (array, members) in
            [("md0", vec!["loop0", "loop1"]), ("md1", vec!["loop1", "loop2"]), ("md2", vec![])]
        {
            fs::create_dir_all(block.join(array).join("md")).unwrap();
            fs::write(block.join(array).join("md/array_state"), "clean\n").unwrap();
            fs::create_dir_all(block.join(array).join("slaves")).unwrap();
            for member in members {
                fs::create_dir_all(block.join(array).join("slaves").join(member)).unwrap();
            }
        }
        assert_eq!(arrays_of(folder, &block).unwrap(), [block.join("md0/md/array_state")]);
        stop_arrays(folder, &block).unwrap();
        assert_eq!(fs::read_to_string(block.join("md0/md/array_state")).unwrap(), "clear");
        assert_eq!(fs::read_to_string(block.join("md1/md/array_state")).unwrap(), "clean\n");
        fs::remove_dir_all(&block).unwrap();
    }
}
