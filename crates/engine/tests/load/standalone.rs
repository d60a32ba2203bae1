//! The program by itself: a job out of a file, JSON lines or a table.

use std::fs::File;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

use super::server::{Reply, Server};

fn job(server: &Server, phases: &Value) -> Value {
    let select = json!({"send": {"name": "select", "sql": ["SELECT 1"]}});
    json!({
        "protocol": 3,
        "target": {"socket": server.socket, "user": "bench", "database": "played"},
        "workload": {"program": {"name": "one", "transactions": [{"name": "one", "steps": [select]}]}},
        "phases": phases,
    })
}

/// Runs a job of a file; the program reads it by its name or from standard input.
fn run(job: &Value, name: &str, by_name: bool, table: bool) -> Output {
    let path = std::env::temp_dir().join(format!("mydyno-job-{name}-{}.json", std::process::id()));
    std::fs::write(&path, job.to_string()).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_mydyno-engine"));
    command.arg("run").args(by_name.then_some(&path)).args(table.then_some("--table"));
    let input = if by_name { Stdio::null() } else { File::open(&path).unwrap().into() };
    let output = command.stdin(input).output().unwrap();
    std::fs::remove_file(path).unwrap();
    output
}

#[test]
fn a_job_out_of_a_file_is_that_of_standard_input() {
    let server = Server::agreeable();
    let work = json!({"kind": "rounds", "rounds": 5});
    let job = job(&server, &json!([{"connections": 2, "work": work}]));
    for by_name in [true, false] {
        let output = run(&job, "lines", by_name, false);
        let text = String::from_utf8(output.stdout).unwrap();
        let messages: Vec<Value> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let end = messages.iter().find(|message| message["type"] == "phase_end").unwrap();
        assert_eq!(end["transactions"]["count"], 10);
        assert_eq!(messages.last().unwrap()["exit"], "ok");
    }
}

#[test]
fn a_table_has_a_line_for_each_phase_and_what_went_wrong_below_it() {
    let server = Server::start(usize::MAX, |connection, _| match connection {
        // The engine's own, then the connections of three phases.
        2 | 3 => Reply::Ok,
        4 => Reply::Error(
            1205,
            "Lock \x1b[2J wait timeout exceeded; try restarting transaction, again and again",
        ),
        _ => {
            std::thread::sleep(std::time::Duration::from_millis(5));
            Reply::Ok
        }
    });
    let rounds = json!({"kind": "rounds", "rounds": 5});
    let arrival = json!({"kind": "fixed", "rate": 1000.0});
    let phases = json!([
        {"connections": 2, "work": rounds},
        {"connections": 1, "work": rounds},
        {"connections": 1, "arrival": arrival, "work": {"kind": "events", "events": 100}},
    ]);
    let output = run(&job(&server, &phases), "table", true, true);
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0));
    assert!(
        text.lines().all(|line| line.chars().count() <= 80 && !line.contains(char::is_control)),
        "{text}"
    );
    let lines: Vec<Vec<&str>> =
        text.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[0], ["server", "10.11.0-played"]);
    assert!(text.contains("service time, from sending (closed loop)"), "{text}");
    assert!(text.contains("response time, from the intended start (open loop)"), "{text}");
    // Phase, connections and errors.
    let rows = lines.iter().filter(|words| words.len() == 8 && words[0].parse::<u32>().is_ok());
    let rows: Vec<_> = rows.map(|words| [words[0], words[1], words[7]]).collect();
    assert_eq!(rows, [["1", "2", "0"], ["2", "1", "5"], ["3", "1", "0"]], "{text}");
    assert!(
        text.contains("      error 1205, 5 times: Lock \\u{1b}[2J wait timeout exceeded"),
        "{text}"
    );
    assert!(text.contains("      the rate was not kept: "), "{text}");
    assert!(text.contains(" of 1000.0 transactions/s\n      up to "), "{text}");
}
