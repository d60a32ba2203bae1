//! The load engine of mydyno.
//!
//! One job in, one stream of messages out: see `docs/reference/engine-protocol.md`. [`run::run`] is the
//! whole story; [`load`] is the part that must be fast.

#![deny(unsafe_code)]

pub mod admin;
pub mod checks;
pub mod clock;
pub mod digest;
pub mod distribution;
pub mod failure;
pub mod fingerprints;
pub mod histogram;
pub mod job;
pub mod load;
pub mod os;
pub mod phases;
pub mod prepare;
pub mod protocol;
pub mod random;
pub mod replay;
pub mod report;
pub mod run;
pub mod sample;
pub mod sqlbench;
pub mod starts;
pub mod trace;
pub mod workload;
