//! Traces: what connections sent to a server, and when, in one compact file (docs/reference/trace-format.md).
//!
//! A [`record`] is a connection that opens or closes, or a statement. The [`writer`] puts records into
//! blocks of columns; the [`reader`] gives them back one by one, in the order of their start instants, in
//! bounded memory. Records that come in another order, as those of a slow log do, go through a [`sorter`].

pub mod block;
pub mod capture;
pub mod effect;
pub mod error;
mod frame;
pub mod header;
pub mod mask;
pub mod merge;
pub mod reader;
pub mod record;
pub mod select;
pub mod sorter;
pub mod summary;
mod template;
mod varint;
pub mod writer;

pub use error::Error;
pub use header::{Footer, Header, Skipped, Source};
pub use reader::{Records, Trace};
pub use record::{Closed, Opened, Record, Statement};
pub use sorter::Sorter;
pub use writer::Writer;
