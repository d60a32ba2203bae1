//! Programs as they run: compiled from JSON, their statements as text.

mod control;
mod expressions;
mod oltp;
mod seeds;

use serde_json::{Value as Json, json};

use super::*;
use crate::failure::Fatal;
use crate::job::{Job, WorkloadJob};

pub(super) fn compiled(program: Json, seed: u64) -> Result<Program, Fatal> {
    let job = serde_json::from_value(program).expect("the shape of the program is right");
    let mut program = compile(&job, seed)?;
    program.fill_dictionaries(|_| Ok((1..=50).map(Literal::Integer).collect()))?;
    Ok(program)
}

/// The program of a job fixture, as it is before the tables are there.
pub(super) fn unfilled(name: &str) -> Program {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/fixtures/engine/jobs/good");
    let text = std::fs::read_to_string(root.join(format!("{name}.json"))).unwrap();
    let WorkloadJob::Program(job) = Job::parse(&text).unwrap().servers.remove(0).workload else {
        panic!("{name} has no program");
    };
    compile(&job, 1).unwrap()
}

pub(super) fn fixture(name: &str) -> Program {
    let mut program = unfilled(name);
    program.fill_dictionaries(|_| Ok((1..=50).map(Literal::Integer).collect())).unwrap();
    program
}

pub(super) fn with_steps(steps: Json) -> Json {
    json!({"name": "test", "transactions": [{"name": "t", "steps": steps}]})
}

pub(super) fn send(name: &str, sql: Json) -> Json {
    json!({"send": {"name": name, "sql": sql}})
}

/// One connection that drives a program without a server.
pub(super) struct Driver<'a> {
    pub program: &'a Program,
    pub cursor: Cursor,
    pub random: Random,
    values: Values,
}

impl<'a> Driver<'a> {
    pub fn new(program: &'a Program, seed: u64) -> Self {
        let mut cursor = program.cursor(1, 1);
        program.rewind(&mut cursor);
        let random = Random::stream(seed, &[0, 0]);
        Self { program, cursor, random, values: Values::default() }
    }

    pub fn next(&mut self) -> Action {
        self.values.clear();
        self.program.next(&mut self.cursor, &mut self.random, &mut self.values)
    }

    /// The text of a statement that is to be sent.
    pub fn text(&self, statement: usize) -> String {
        let mut packet = Vec::new();
        self.program.statements()[statement].template.write_query(&self.values, &mut packet);
        String::from_utf8(packet.split_off(5)).unwrap()
    }

    /// The statements up to the end of the event, which is left behind.
    pub fn event(&mut self) -> Vec<String> {
        let mut sent = Vec::new();
        loop {
            match self.next() {
                Action::Send(statement) => sent.push(self.text(statement)),
                Action::Pause(_) => sent.push("(pause)".to_owned()),
                Action::Reconnect => sent.push("(reconnect)".to_owned()),
                Action::End { counts } => {
                    self.program.rewind(&mut self.cursor);
                    if counts.is_none() {
                        sent.push("(failed)".to_owned());
                    }
                    return sent;
                }
            }
        }
    }

    pub fn events(&mut self, count: usize) -> Vec<Vec<String>> {
        (0..count).map(|_| self.event()).collect()
    }
}

/// The statements of the first event of a program of these steps.
pub(super) fn event(steps: Json) -> Vec<String> {
    let program = compiled(with_steps(steps), 1).unwrap();
    Driver::new(&program, 1).event()
}
