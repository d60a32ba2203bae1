//! The timed operation under way.

use super::cpu::Reading;

pub(super) struct Running {
    pub(super) started_ns: u64,
    pub(super) cpu: Reading,
    pub(super) statements: u64,
    pub(super) rows: u64,
    pub(super) failed: u64,
    pub(super) warning: Option<String>,
    /// Of how many passes how many were made, when the time limit cut the rest.
    pub(super) cut: Option<(u64, u64)>,
}

impl Running {
    pub(super) fn new(started_ns: u64, cpu: Reading) -> Self {
        Self { started_ns, cpu, statements: 0, rows: 0, failed: 0, warning: None, cut: None }
    }
}
