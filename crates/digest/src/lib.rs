//! The digest of slow logs: what ran, how often and how long, read at the speed of memory.
//!
//! An [`entry`] is one statement with what its header says of it, each of which is an [`attribute`]; what
//! cannot be read is a [`problem`], counted and located. [`message`] is what the whole comes to.
//! docs/digest-format.md is the contract with mydyno.

pub mod attribute;
mod banner;
mod clock;
pub mod context;
pub mod cut;
pub mod entry;
mod header;
mod key;
pub mod message;
mod number;
pub mod problem;
pub mod read;
pub mod recognise;
