//! The command itself: its help is true, and a bad job ends it as documented.

use std::io::Write;
use std::process::{Command, Output, Stdio};

use mydyno_engine::job::Job;

fn engine(arguments: &[&str], input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_mydyno-engine"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A command that does not read its input may have ended already.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}

#[test]
fn the_example_of_the_help_is_a_job() {
    for arguments in [&["--help"][..], &["load", "--help"]] {
        let help = String::from_utf8(engine(arguments, "").stdout).unwrap();
        let example = help.split("<<'JOB'").nth(1).unwrap().split("\n  JOB").next().unwrap();
        Job::parse(example).unwrap();
    }
}

#[test]
fn the_version_is_that_of_the_package() {
    let version = String::from_utf8(engine(&["--version"], "").stdout).unwrap();
    assert_eq!(version, format!("mydyno-engine {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn a_bad_job_gives_one_fatal_message_and_status_two() {
    for job in ["", "[]", "{\"protocol\": 3}"] {
        let output = engine(&["load"], job);
        assert_eq!(output.status.code(), Some(2));
        let text = String::from_utf8(output.stdout).unwrap();
        let message: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!((&message["type"], &message["code"]), (&"fatal".into(), &"bad-job".into()));
        assert!(output.stderr.is_empty());
    }
}

#[test]
fn without_a_server_the_status_is_three_and_the_password_is_not_told() {
    let job = r#"{"protocol": 3, "workload": {"program": {"name": "none"}},
        "target": {"socket": "/nonexistent/mydyno.sock", "user": "root", "password": "hunter2",
                   "database": "mydyno"}, "phases": []}"#;
    let output = engine(&["load"], job);
    assert_eq!(output.status.code(), Some(3));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("\"code\":\"connect\"") && text.contains("/nonexistent/mydyno.sock"));
    assert!(!text.contains("hunter2"));
}
