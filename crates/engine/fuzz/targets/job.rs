//! Any text is a job or an error that names a key, without a panic and without much memory; a job's program compiles
//! or says why not, and its first events can be drawn.
//!
//! In crates/engine: cargo +nightly fuzz run job fuzz/corpus/job ../../tests/fixtures/engine/jobs/good \
//!     -- -max_total_time=600 -dict=fuzz/job.dict -detect_leaks=0
//! The names of statements are leaked on purpose: a program has them as long as the engine runs.

#![no_main]

use libfuzzer_sys::fuzz_target;
use mydyno_engine::failure::FatalCode;
use mydyno_engine::job::{Job, WorkloadJob};
use mydyno_engine::protocol::values::Values;
use mydyno_engine::random::Random;
use mydyno_engine::workload::{Action, Literal, Workload, compile};

/// Steps that are taken.
const STEPS: u64 = 50;
/// Tables with more rows are left out.
const MOST_ROWS: u64 = 10_000;

fuzz_target!(|text: &str| {
    let job = match Job::parse(text) {
        Ok(job) => job,
        Err(fatal) => {
            assert!(fatal.code == FatalCode::BadJob && !fatal.message.is_empty());
            return;
        }
    };
    for server in &job.servers {
        let WorkloadJob::Program(program) = &server.workload else { continue };
        let Ok(mut program) = compile(program, job.seed) else { continue };
        // A dictionary may be a column of a table, all of whose rows are then made.
        if program.statements().is_empty() || program.tables().iter().any(|table| table.count > MOST_ROWS) {
            continue;
        }
        if program.fill_dictionaries(|_| Ok(vec![Literal::Integer(1)])).is_err() {
            continue;
        }
        let mut cursor = program.cursor(1, 2);
        let (mut random, mut values) = (Random::stream(job.seed, &[0]), Values::default());
        program.rewind(&mut cursor);
        for _ in 0..STEPS {
            values.clear();
            match program.next(&mut cursor, &mut random, &mut values) {
                Action::Send(statement) if program.statements()[statement].read.is_some() => {
                    program.capture(&mut cursor, None);
                }
                Action::End { .. } => program.rewind(&mut cursor),
                _ => {}
            }
        }
    }
});
