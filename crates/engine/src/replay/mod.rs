//! A replay: the statements of a trace, on its connections, in its order and at its pace.
//!
//! One thread reads the trace ahead ([`feed`]) and hands each connection's statements to the reactor that
//! carries it; the reactors send them (`load::reactor`) and hand one [`record`] for each to the thread
//! that writes the [`results`] and counts them ([`tally`]).

pub mod checksum;
pub mod choice;
pub mod feed;
pub mod fingerprints;
pub mod record;
pub mod results;
pub mod survey;
pub mod tally;
mod workload;

pub use workload::TraceWorkload;
