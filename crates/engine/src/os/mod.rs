//! The operating system, each part behind a small safe interface.

pub mod address;
pub mod counters;
pub mod cpus;
pub mod limits;
pub mod poll;
pub mod signals;
pub mod usage;
