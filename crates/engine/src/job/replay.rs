//! The replay of a trace.

use std::path::PathBuf;

use serde::Deserialize;

use crate::clock::nanoseconds;

/// Which trace, at what pace, and what of it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReplayJob {
    pub trace: PathBuf,
    /// How fast the trace's time runs: 1 as then; none: as fast as possible.
    #[serde(default)]
    pub speed: Option<f64>,
    /// Leave out what may change data.
    #[serde(default = "yes")]
    pub reads_only: bool,
    /// Replay the part of the trace from here, in seconds since its start, for so long.
    #[serde(default)]
    pub from_s: f64,
    #[serde(default)]
    pub for_s: Option<f64>,
    /// The schema of statements whose schema the trace does not know.
    #[serde(default)]
    pub schema: Option<String>,
    /// Tables that other servers hold, and functions that are loaded from libraries: statements that name
    /// them are refused.
    #[serde(default)]
    pub refuse_tables: Vec<String>,
    #[serde(default)]
    pub refuse_functions: Vec<String>,
    /// The folder of the results; none: no files.
    #[serde(default)]
    pub out: Option<PathBuf>,
}

impl ReplayJob {
    /// The replayed part in microseconds of the trace: its start, and the first instant beyond it.
    pub fn part_us(&self) -> (u64, u64) {
        let from_us = nanoseconds(self.from_s) / 1000;
        let until_us =
            self.for_s.map_or(u64::MAX, |for_s| from_us.saturating_add(nanoseconds(for_s) / 1000));
        (from_us, until_us)
    }
}

fn yes() -> bool {
    true
}
