//! When connections that rest go on: a heap for each reactor, empty where nothing rests.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Instants of connections, the earliest first. A connection may have stale ones; whoever takes an
/// instant compares it with the one that the connection remembers.
#[derive(Debug, Default)]
pub(super) struct Timers {
    heap: BinaryHeap<Reverse<(u64, usize)>>,
}

impl Timers {
    pub fn set(&mut self, at_ns: u64, connection: usize) {
        self.heap.push(Reverse((at_ns, connection)));
    }

    /// The next instant; `u64::MAX` when nothing rests.
    #[inline]
    pub fn next_ns(&self) -> u64 {
        self.heap.peek().map_or(u64::MAX, |Reverse((at_ns, _))| *at_ns)
    }

    /// Takes one connection whose instant has come, with that instant.
    pub fn take(&mut self, now_ns: u64) -> Option<(u64, usize)> {
        if self.next_ns() > now_ns {
            return None;
        }
        self.heap.pop().map(|Reverse(due)| due)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_are_taken_in_the_order_of_their_instants_and_not_before() {
        let mut timers = Timers::default();
        for (at_ns, connection) in [(30, 0), (10, 1), (20, 2)] {
            timers.set(at_ns, connection);
        }
        assert_eq!(timers.next_ns(), 10);
        let due: Vec<_> = std::iter::from_fn(|| timers.take(20)).collect();
        assert_eq!(due, [(10, 1), (20, 2)]);
        assert_eq!((timers.take(29), timers.next_ns()), (None, 30));
    }
}
