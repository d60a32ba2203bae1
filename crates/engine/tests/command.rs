//! The command itself: its help is true, and a bad job ends it as documented.

use std::io::Write;
use std::process::{Command, Output, Stdio};

use mydyno_engine::job::{Job, WorkloadJob};
use mydyno_engine::report::table::HEAD;
use mydyno_engine::workload::compile;

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
    for arguments in [&["--help"][..], &["run", "--help"]] {
        let help = String::from_utf8(engine(arguments, "").stdout).unwrap();
        let example = help.split("The file job.json:").nth(1).unwrap();
        let job = Job::parse(example.split("\n\n  $").next().unwrap()).unwrap();
        let WorkloadJob::Program(program) = &job.servers[0].workload else { panic!("no program") };
        compile(program, 1).unwrap();
        assert!(help.contains(HEAD), "the table's columns");
        let wide = example.lines().find(|line| line.chars().count() > 80);
        assert_eq!(wide, None);
    }
}

#[test]
fn the_job_of_the_page_is_one() {
    let page = include_str!("../../../docs/how-to/engine.md");
    let example = page.split("```json\n").nth(1).unwrap().split("```").next().unwrap();
    let job = Job::parse(example).unwrap();
    let WorkloadJob::Program(program) = &job.servers[0].workload else { panic!("no program") };
    compile(program, 1).unwrap();
    assert!(page.contains(HEAD), "the table's columns");
}

#[test]
fn the_version_is_that_of_the_package() {
    let version = String::from_utf8(engine(&["--version"], "").stdout).unwrap();
    assert_eq!(version, format!("mydyno-engine {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn a_bad_job_gives_one_fatal_message_and_status_two() {
    for job in ["", "[]", "{\"protocol\": 3}"] {
        let output = engine(&["run"], job);
        assert_eq!(output.status.code(), Some(2));
        let text = String::from_utf8(output.stdout).unwrap();
        let message: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!((&message["type"], &message["code"]), (&"fatal".into(), &"bad-job".into()));
        assert!(output.stderr.is_empty());
    }
}

#[test]
fn with_a_table_a_bad_job_is_one_sentence_that_names_the_key() {
    let bad = include_str!("../../../tests/fixtures/engine/jobs/bad/second-phase-wrong.json");
    let bad: serde_json::Value = serde_json::from_str(bad).unwrap();
    let bad = bad["job"].to_string();
    for (input, said) in [
        (bad.as_str(), "mydyno-engine: phases[1].connections: must be from 1"),
        ("{\"protocol\": 3,\n oops}", "mydyno-engine: key must be a string at line 2 column 2"),
    ] {
        let output = engine(&["run", "--table"], input);
        let shown = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0));
        assert!(shown.starts_with(said) && shown.lines().count() == 1, "{shown}");
    }
    let output = engine(&["run", "--table", "/nonexistent/job.json"], "");
    let shown = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(
        shown.contains("cannot read the job from /nonexistent/job.json: No such file"),
        "{shown}"
    );
}

#[test]
fn without_a_server_the_status_is_three_and_the_password_is_not_reported() {
    let job = r#"{"protocol": 3, "workload": {"program": {"name": "none"}},
        "target": {"socket": "/nonexistent/mydyno.sock", "user": "root", "password": "hunter2",
                   "database": "mydyno"}, "phases": []}"#;
    let output = engine(&["run"], job);
    assert_eq!(output.status.code(), Some(3));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("\"code\":\"connect\"") && text.contains("/nonexistent/mydyno.sock"));
    assert!(!text.contains("hunter2"));
}
