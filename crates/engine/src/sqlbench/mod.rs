//! sql-bench (suite 2.15): its test programs as code, one connection, one statement at a time.
//!
//! The programs are loops whose control flow decides what is counted, so they are written as loops
//! and not as data. Each is a function over a [`Bench`]; [`run`] takes them through their phases.
//! The facts are those of sql-bench 2.15 as measured against MariaDB; `docs/reference/sql-bench.md` says what
//! differs and why.

mod atis;
mod bench;
mod cpu;
#[cfg(test)]
mod dry;
mod expectations;
mod link;
mod operation;
mod options;
mod ownership;
mod programs;
mod record;
mod row_file;
mod run;
mod running;
#[cfg(test)]
mod shapes;
mod steps;
#[cfg(test)]
mod tests;

pub use bench::{Bench, Stop};
pub use options::Options;
pub use run::{Suite, run};
