//! Instants within whole seconds.
//!
//! Logs of MariaDB, Percona Server and MySQL up to 5.6 have whole seconds. All statements of one at its beginning
//! would be a burst that never was: they are spread evenly over it, in the order of the log.

pub const SECOND: i64 = 1_000_000;

/// Holds what was logged in one second until the next begins.
pub struct Spread<T> {
    second: Option<i64>,
    held: Vec<T>,
}

impl<T> Default for Spread<T> {
    fn default() -> Self {
        Self { second: None, held: Vec::new() }
    }
}

/// More of one second than this are given out before it has ended.
const MOST_HELD: usize = 1 << 17;

impl<T> Spread<T> {
    /// Adds what was logged in this second; gives those of the second before, with their instants, when it is
    /// over. A second that has passed counts as the one at hand: threads overtake each other.
    pub fn push(&mut self, second: i64, value: T) -> Vec<(i64, T)> {
        let ended = match self.second {
            Some(before) if second > before || self.held.len() >= MOST_HELD => self.take(),
            _ => Vec::new(),
        };
        self.second = Some(self.second.map_or(second, |before| before.max(second)));
        self.held.push(value);
        ended
    }

    /// All that are held.
    pub fn take(&mut self) -> Vec<(i64, T)> {
        let Some(second) = self.second else { return Vec::new() };
        let count = self.held.len() as i64;
        let instant = |place: i64| second + place * SECOND / count.max(1);
        (0..).map(instant).zip(self.held.drain(..)).collect()
    }
}
