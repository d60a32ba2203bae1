//! One direction of a connection: its segments in order, once each.

use std::collections::BTreeMap;

use super::segment::Segment;

/// What waits for a segment in front of it; with more, that segment is lost.
const MOST_WAITING: usize = 4 << 20;

#[derive(Default)]
pub struct Stream {
    /// The sequence number that comes next, and the first one.
    next: Option<u32>,
    first: Option<u32>,
    ready: Vec<u8>,
    /// By how far behind the next one they begin.
    waiting: BTreeMap<u32, Vec<u8>>,
    waiting_bytes: usize,
}

impl Stream {
    /// Adds a segment; whether bytes in front of what is ready now are lost.
    pub fn push(&mut self, segment: &Segment<'_>) -> bool {
        let mut sequence = segment.sequence;
        if segment.is_first {
            self.first = Some(sequence);
            sequence = sequence.wrapping_add(1);
            self.next.get_or_insert(sequence);
        }
        if segment.payload.is_empty() {
            return false;
        }
        let next = *self.next.get_or_insert(sequence);
        let ahead = sequence.wrapping_sub(next);
        if ahead > u32::MAX / 2 {
            // Sent again; perhaps with more behind it.
            let known = next.wrapping_sub(sequence) as usize;
            if let Some(new) = segment.payload.get(known..).filter(|new| !new.is_empty()) {
                self.accept(new);
                self.follow();
            }
            return false;
        }
        if ahead == 0 {
            self.accept(segment.payload);
            self.follow();
            return false;
        }
        self.waiting_bytes += segment.payload.len();
        self.waiting.insert(sequence, segment.payload.to_vec());
        if self.waiting_bytes <= MOST_WAITING {
            return false;
        }
        self.skip();
        true
    }

    /// Goes on behind what is lost.
    fn skip(&mut self) {
        let next = self.next.unwrap_or_default();
        let nearest = self.waiting.keys().min_by_key(|sequence| sequence.wrapping_sub(next));
        if let Some(&sequence) = nearest {
            self.ready.clear();
            self.next = Some(sequence);
            self.follow();
        }
    }

    fn accept(&mut self, bytes: &[u8]) {
        self.ready.extend_from_slice(bytes);
        self.next = self.next.map(|next| next.wrapping_add(bytes.len() as u32));
    }

    /// Takes in what was waiting for this.
    fn follow(&mut self) {
        while let Some(next) = self.next {
            let reached = self
                .waiting
                .keys()
                .copied()
                .find(|sequence| next.wrapping_sub(*sequence) <= u32::MAX / 2);
            let Some(sequence) = reached else { return };
            let bytes = self.waiting.remove(&sequence).unwrap_or_default();
            self.waiting_bytes -= bytes.len();
            let known = next.wrapping_sub(sequence) as usize;
            if let Some(new) = bytes.get(known..) {
                self.accept(new);
            }
        }
    }

    /// What has come in order since the last time.
    pub fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.ready)
    }

    /// Whether a SYN with this number is that of another connection.
    pub fn is_other_beginning(&self, sequence: u32) -> bool {
        self.first != Some(sequence)
    }
}
