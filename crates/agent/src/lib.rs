//! mydyno's agent: a small program that runs commands where mydyno itself is not (in a guest, in
//! private namespaces) for a mydyno at the other end of one byte stream.
//!
//! [`frames`] cuts the stream, [`request`] is what is requested and answered, [`server`] does it with
//! [`children`], [`files`] and [`streams`]; [`guest`] is the first process of a guest, which
//! prepares the machine and then serves; [`session`] is a private folder on a host that is reached from
//! elsewhere, and [`storage`] what was built on disks in it; [`loops`] attaches files as block devices;
//! [`within`] becomes a program in a private root.
//! docs/reference/agent-protocol.md is the contract with mydyno.

pub mod children;
pub mod files;
pub mod frames;
pub mod guest;
pub mod loops;
pub mod request;
pub mod server;
pub mod session;
pub mod storage;
pub mod streams;
pub mod within;
