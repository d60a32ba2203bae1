//! The test programs.

use super::bench::{Bench, Stop};
use super::options::Options;
use crate::job::SqlBenchProgram;

/// A test program, and what must be known before it runs.
pub struct Program {
    pub run: fn(&mut Bench) -> Result<(), Stop>,
    /// Every table that it makes.
    pub tables: fn(&Options) -> Vec<String>,
}

impl SqlBenchProgram {
    pub fn program(self) -> Program {
        match self {
            _ => Program { run: missing, tables: |_| Vec::new() },
        }
    }

    /// Why the program cannot run with these options.
    pub fn skipped(self, options: &Options) -> Option<String> {
        (self == SqlBenchProgram::Transactions && !options.transactional()).then(|| {
            "it needs a transactional engine named in create_options, such as ENGINE=InnoDB"
                .to_owned()
        })
    }
}

fn missing(_: &mut Bench) -> Result<(), Stop> {
    Err(Stop::Failed("this engine does not have the program yet".to_owned()))
}
