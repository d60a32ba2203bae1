//! A source cut into chunks of whole entries, one after the other, in bounded memory.

#[cfg(test)]
mod tests;

use memchr::{memchr, memchr_iter};

use crate::cut::cut;
use crate::source::{End, Source, Trouble};
use crate::stop::Stop;

/// How much memory a chunk takes.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    /// Read at once.
    pub buffer_bytes: usize,
    /// As much as is kept of one entry; what goes on beyond is counted and dropped, up to the next entry.
    pub most_bytes: usize,
}

impl Default for Sizes {
    /// A chunk and what is looked up for its entries fit into a CPU's cache together; the longest entries are
    /// as long as what MariaDB's default `max_allowed_packet` lets through.
    fn default() -> Self {
        Self { buffer_bytes: 1 << 20, most_bytes: 16 << 20 }
    }
}

/// What is looked through at once for the entry after one that is too long.
const WINDOW_BYTES: usize = 256 << 10;

/// Longer than the lines at which an entry begins, so that none is overlooked between two windows.
const HEADER_BYTES: usize = 8 << 10;

/// Whole entries, at the beginning of the buffer that they were read into.
#[derive(Debug)]
pub struct Chunk {
    pub bytes: usize,
    /// What its one entry goes on for beyond it.
    pub beyond: Beyond,
    /// How the source ended, when this is the last chunk of it.
    pub end: Option<End>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Beyond {
    pub bytes: u64,
    pub newlines: u64,
    /// As many of these bytes are the statement's end: a semicolon and white space.
    pub closing: u64,
}

/// One source, of which chunk after chunk is taken. Where chunks end depends on the buffer's size; that an
/// entry is too long, and where it is cut, does not.
pub struct Chunks<'a> {
    source: Source<'a>,
    sizes: Sizes,
    /// The beginning of the next chunk, read with the one before.
    carried: Vec<u8>,
    /// The end was met while the chunk before was looked for.
    end: Option<End>,
    is_over: bool,
}

impl<'a> Chunks<'a> {
    pub fn new(source: Source<'a>, sizes: Sizes) -> Self {
        let buffer_bytes = sizes.buffer_bytes.clamp(1, sizes.most_bytes);
        Self {
            source,
            sizes: Sizes { buffer_bytes, ..sizes },
            carried: Vec::new(),
            end: None,
            is_over: false,
        }
    }

    /// The next chunk, in `buffer`, which is made as large as it must be; None after the last.
    pub fn next(&mut self, buffer: &mut Vec<u8>, stop: &Stop) -> Option<Chunk> {
        if self.is_over {
            return None;
        }
        let mut filled = self.carried.len();
        let room = self.sizes.buffer_bytes.max(filled);
        buffer.resize(room, 0);
        buffer.shrink_to(2 * room);
        buffer[..filled].copy_from_slice(&self.carried);
        self.carried.clear();
        loop {
            let end = self.end.take().or_else(|| {
                let read = self.source.fill(&mut buffer[filled..], stop);
                filled += read.bytes;
                read.end
            });
            if let Some(end) = end {
                self.is_over = true;
                return Some(last(&buffer[..filled], end));
            }
            if let Some(bytes) = cut(&buffer[..filled]) {
                self.carried.extend_from_slice(&buffer[bytes..filled]);
                return Some(Chunk { bytes, beyond: Beyond::default(), end: None });
            }
            if filled == self.sizes.most_bytes {
                return Some(self.too_long(buffer, stop));
            }
            buffer.resize(self.sizes.most_bytes.min(buffer.len() * 2), 0);
        }
    }

    /// The one entry that `kept` begins with, while the next is looked for and carried.
    fn too_long(&mut self, kept: &[u8], stop: &Stop) -> Chunk {
        // The next entry may begin in the last bytes that were kept, where `cut` could not see it whole.
        let mut window = last_lines(kept).to_vec();
        let mut from = kept.len() - window.len();
        let mut newlines = 0;
        loop {
            let known = window.len();
            window.resize(known + WINDOW_BYTES, 0);
            let read = self.source.fill(&mut window[known..], stop);
            window.truncate(known + read.bytes);
            self.end = read.end;
            let begin = first_cut(&window);
            let is_over = begin.is_none() && self.end.is_some();
            let passed = match begin {
                Some(at) => at,
                None if is_over => window.len(),
                None => window.len() - last_lines(&window).len(),
            };
            let beyond = kept.len().saturating_sub(from).min(passed);
            newlines += memchr_iter(b'\n', &window[beyond..passed]).count() as u64;
            let closing = closing_bytes(&window[beyond..passed]);
            window.drain(..passed);
            from += passed;
            if begin.is_some() || is_over {
                self.carried = window;
                self.is_over = is_over;
                return Chunk {
                    bytes: from.min(kept.len()),
                    beyond: Beyond {
                        bytes: from.saturating_sub(kept.len()) as u64,
                        newlines,
                        closing,
                    },
                    end: self.end.take_if(|_| is_over),
                };
            }
        }
    }
}

/// The last chunk. Of an entry in whose middle the reading was interrupted nothing is reported.
fn last(left: &[u8], end: End) -> Chunk {
    let bytes = match end {
        End::Before(Trouble::Interrupted) => cut(left).unwrap_or(0),
        _ => left.len(),
    };
    Chunk { bytes, beyond: Beyond::default(), end: Some(end) }
}

/// What a statement ends with besides itself.
fn closing_bytes(text: &[u8]) -> u64 {
    let end = text.trim_ascii_end();
    (text.len() - end.strip_suffix(b";").unwrap_or(end).trim_ascii_end().len()) as u64
}

/// The last lines of `text`, with the newline in front of them.
fn last_lines(text: &[u8]) -> &[u8] {
    let tail = &text[text.len().saturating_sub(HEADER_BYTES)..];
    memchr(b'\n', tail).map_or(&[], |at| &tail[at..])
}

/// The first place > 0 where an entry begins.
fn first_cut(text: &[u8]) -> Option<usize> {
    std::iter::successors(cut(text), |&at| cut(&text[..at])).last()
}
