//! The test programs, one file or folder each.

mod alter_table;
mod big_tables;
mod connect;
mod create;
mod insert;
mod keys;
mod select;
mod transactions;
mod wisconsin;

use super::atis;
use super::bench::{Bench, Stop};
use super::options::Options;
use crate::job::SqlBenchProgram;

/// A test program, and what must be known before it runs.
pub struct Program {
    pub run: fn(&mut Bench) -> Result<(), Stop>,
    /// Every table that it makes.
    pub tables: fn(&Options) -> Vec<String>,
    /// Whether it begins with an open connection.
    pub connected: bool,
}

impl SqlBenchProgram {
    pub fn program(self) -> Program {
        let of = |run, tables| Program { run, tables, connected: true };
        match self {
            SqlBenchProgram::AlterTable => of(alter_table::run, alter_table::tables),
            SqlBenchProgram::Atis => of(atis::run, atis::tables),
            SqlBenchProgram::BigTables => of(big_tables::run, big_tables::tables),
            SqlBenchProgram::Connect => {
                Program { connected: false, ..of(connect::run, connect::tables) }
            }
            SqlBenchProgram::Create => of(create::run, create::tables),
            SqlBenchProgram::Insert => of(insert::run, insert::tables),
            SqlBenchProgram::Select => of(select::run, select::tables),
            SqlBenchProgram::Transactions => of(transactions::run, transactions::tables),
            SqlBenchProgram::Wisconsin => of(wisconsin::run, wisconsin::tables),
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
