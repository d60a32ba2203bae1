//! The job fixtures: what lies in `good` is accepted, what lies in `bad` is refused with exactly
//! the message that stands beside it. The Python side reads the same files.

use std::fs;
use std::path::{Path, PathBuf};

use mydyno_engine::failure::{Fatal, FatalCode};
use mydyno_engine::job::{Job, WorkloadJob};
use mydyno_engine::workload;

fn fixtures(folder: &str) -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/engine/jobs");
    let mut files: Vec<_> = fs::read_dir(root.join(folder))
        .expect("the fixtures lie beside the Python tests")
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.clone(), fs::read_to_string(path).unwrap()))
        .collect();
    files.sort();
    assert!(files.len() > 5, "too few fixtures in {folder}");
    files
}

/// All that is checked of a job before the server is dialled.
fn accept(text: &str) -> Result<(), Fatal> {
    let job = Job::parse(text)?;
    for server in &job.servers {
        if let WorkloadJob::Program(program) = &server.workload {
            workload::compile(program, job.seed)?;
        }
    }
    Ok(())
}

#[test]
fn every_good_job_is_accepted() {
    for (path, text) in fixtures("good") {
        if let Err(fatal) = accept(&text) {
            panic!("{}: {fatal}", path.display());
        }
    }
}

#[test]
fn every_bad_job_is_refused_with_its_message() {
    let mut wrong = Vec::new();
    for (path, text) in fixtures("bad") {
        let fixture: serde_json::Value = serde_json::from_str(&text).unwrap();
        let job = fixture["job"].to_string();
        let expected = fixture["message"].as_str().unwrap();
        match accept(&job) {
            Ok(_) => wrong.push(format!("{} was accepted", path.display())),
            Err(fatal) => {
                assert_eq!(fatal.code, FatalCode::BadJob);
                let message = without_place(&fatal.message);
                if message != expected {
                    wrong.push(format!("{}\n  is  {message}\n  not {expected}", path.display()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn text_that_is_no_json_or_more_than_one_job_is_refused_with_its_place() {
    let job = fs::read_to_string(&fixtures("good")[0].0).unwrap();
    for (text, expected) in [
        ("", "EOF while parsing a value at line 1 column 0"),
        ("{\"protocol\": 3,}", "trailing comma at line 1 column 16"),
        (&format!("{job}{job}"), "the job is followed by more text: trailing characters"),
    ] {
        let message = Job::parse(text).unwrap_err().message;
        assert!(message.starts_with(expected), "{message}");
    }
}

#[test]
fn the_password_is_in_no_debug_output_and_in_no_error() {
    for (_, text) in fixtures("good") {
        let shown = format!("{:?}", Job::parse(&text).unwrap());
        assert!(!shown.contains("\"example\""), "{shown}");
    }
}

/// Line and column depend on the layout of the fixture, not on the mistake.
fn without_place(message: &str) -> &str {
    message.split(" at line ").next().unwrap()
}
