//! The digest of slow logs: what ran, how often and how long, read at the speed of memory.
//!
//! An [`entry`] is one statement with what its header says of it, each of which is an [`attribute`]; what
//! cannot be read is a [`problem`], counted and located. [`groups`] takes together those whose [`fingerprint`] is
//! the same; [`message`] is what the whole comes to.
//! docs/digest-format.md is the contract with mydyno.

pub mod attribute;
pub mod entry;
pub mod fingerprint;
pub mod groups;
mod histogram;
mod measure;
pub mod message;
mod mixing;
mod names;
mod passwords;
pub mod problem;
mod timeline;
