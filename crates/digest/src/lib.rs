//! The digest of slow logs: what ran, how often and how long, read at the speed of memory.
//!
//! An [`entry`] is one statement with what its header says of it, each of which is an [`attribute`]; what
//! cannot be read is a [`problem`], counted and located. [`groups`] takes together those whose [`fingerprint`] is
//! the same; [`message`] is what the whole comes to.
//! docs/reference/digest-format.md is the contract with mydyno.
//!
//! A [`source`] is cut into chunks of whole entries, and the [`pipeline`] takes chunks through a [`filter`]
//! into groups.

pub mod attribute;
mod banner;
pub mod chunk;
pub mod clock;
pub mod context;
pub mod cut;
pub mod entry;
pub mod filter;
pub mod fingerprint;
pub mod groups;
mod header;
mod histogram;
pub mod import;
mod key;
mod line;
mod measure;
pub mod message;
mod mixing;
mod names;
mod number;
pub mod out_log;
pub mod passwords;
pub mod pipeline;
mod preamble;
pub mod problem;
pub mod read;
pub mod recognise;
pub mod skim;
pub mod source;
pub mod stop;
mod tags;
mod timeline;
