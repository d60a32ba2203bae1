//! Loop devices that live as long as the program that attached them. Attaching needs root.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

const PATIENCE: Duration = Duration::from_secs(10);

fn may_attach() -> bool {
    let may = rustix::process::geteuid().is_root() && Path::new("/dev/loop-control").exists();
    if !may {
        eprintln!("skipped: attaching loop devices needs root and a kernel with loop devices");
    }
    may
}

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("agent-{name}-{}", std::process::id()));
        fs::create_dir(&path).unwrap();
        Self(path)
    }

    fn disk(&self, name: &str) -> PathBuf {
        let path = self.0.join(name);
        fs::File::create(&path).unwrap().set_len(16 << 20).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}

fn start(files: &[&Path]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_mydyno-agent"))
        .arg("loops")
        .args(files)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn reported(process: &mut Child, lines: usize) -> Vec<Value> {
    let out = BufReader::new(process.stdout.as_mut().unwrap());
    out.lines().take(lines).map(|line| serde_json::from_str(&line.unwrap()).unwrap()).collect()
}

/// The file that a device is attached to now.
fn backing(device: &Value) -> Option<String> {
    let name = device.as_str().unwrap().trim_start_matches("/dev/");
    let text = fs::read_to_string(format!("/sys/block/{name}/loop/backing_file")).ok()?;
    Some(text.trim_end().to_owned())
}

fn wait_until_free(device: &Value) {
    let deadline = Instant::now() + PATIENCE;
    while backing(device).is_some() {
        assert!(Instant::now() < deadline, "{device} stays attached");
        std::thread::yield_now();
    }
}

#[test]
fn devices_are_reported_and_go_with_the_end_of_the_input() {
    if !may_attach() {
        return;
    }
    let folder = Folder::new("input");
    let (first, second) = (folder.disk("first"), folder.disk("second"));
    let mut process = start(&[&first, &second]);
    let reported = reported(&mut process, 2);
    assert_eq!(reported[0]["file"], first.to_str().unwrap());
    assert_eq!(backing(&reported[0]["device"]).as_deref(), first.to_str());
    assert_eq!(backing(&reported[1]["device"]).as_deref(), second.to_str());
    assert!(reported[0]["number"].as_str().unwrap().starts_with("7:"));
    drop(process.stdin.take());
    assert!(process.wait().unwrap().success());
    reported.iter().for_each(|each| wait_until_free(&each["device"]));
}

#[test]
fn devices_go_when_the_program_is_killed() {
    if !may_attach() {
        return;
    }
    let folder = Folder::new("killed");
    let mut process = start(&[&folder.disk("disk")]);
    let reported = reported(&mut process, 1);
    process.kill().unwrap();
    process.wait().unwrap();
    wait_until_free(&reported[0]["device"]);
}

#[test]
fn when_one_file_cannot_be_attached_none_stays() {
    if !may_attach() {
        return;
    }
    let folder = Folder::new("missing");
    let (there, missing) = (folder.disk("there"), folder.0.join("missing"));
    let output = start(&[&there, &missing]).wait_with_output().unwrap();
    assert!(!output.status.success());
    assert!(String::from_utf8(output.stderr).unwrap().contains("missing: No such file"));
    let line = output.stdout.split(|&byte| byte == b'\n').next().unwrap();
    let reported: Value = serde_json::from_slice(line).unwrap();
    wait_until_free(&reported["device"]);
}
