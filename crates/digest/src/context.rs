//! What the entries of a log take from those before them.

use memchr::{memchr_iter, memrchr};

use crate::cut::cut;
use crate::entry::Time;
use crate::line::schema_at;
use crate::problem::Problems;
use crate::read::{BYTE_ORDER_MARK, Told, read, told_up_to};

/// What a part of a log takes from the parts before it; the default is that of a log's beginning.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Context {
    /// Where the part begins in its (uncompressed) source.
    pub at: u64,
    /// Ends of lines before it.
    pub lines: u64,
    /// The time of the entry before, as it told or took it.
    pub time: Option<Time>,
    /// The last `# Time:` line.
    pub clock: Option<Time>,
    /// The database of the entry before, likewise.
    pub database: Vec<u8>,
}

/// The context that [`read`] leaves behind a part of a log, found without reading all of it: one look at how each
/// line begins, then the entries of the last lines that can tell something are read. When one of these only looked
/// like one (it stands inside a statement), the part is read after all.
pub fn context_after(chunk: &[u8], before: &Context) -> Context {
    let lines = Lines::of(chunk, before.at == 0);
    let last_told = |place: Option<usize>| {
        let place = place?;
        let begin = cut(&chunk[..=place]).unwrap_or(0);
        Some(told_up_to(&chunk[begin..], place - begin))
    };
    let time = last_told(lines.set.max(lines.time));
    let clock = last_told(lines.time);
    let database = last_told(lines.database);
    let is_misled = time.as_ref().is_some_and(|told: &Told| told.time.is_none())
        || clock.as_ref().is_some_and(|told| told.clock.is_none())
        || database.as_ref().is_some_and(|told| told.database.is_none());
    if is_misled {
        let mut context = before.clone();
        read(chunk, &mut context, &mut Problems::default(), false, |_| ());
        return context;
    }
    Context {
        at: before.at + chunk.len() as u64,
        lines: before.lines + lines.count,
        time: time.map_or(before.time, |told| told.time),
        clock: clock.map_or(before.clock, |told| told.clock),
        database: match database.and_then(|told| told.database) {
            Some(database) => database.to_vec(),
            None => before.database.clone(),
        },
    }
}

/// The last lines of each beginning, wherever they stand.
#[derive(Default)]
struct Lines {
    /// Ends of lines.
    count: u64,
    set: Option<usize>,
    time: Option<usize>,
    /// `use`, or a header line with `Schema`.
    database: Option<usize>,
}

impl Lines {
    /// From the end backwards, and no further than needed: the ends of lines are counted much faster than looked at.
    fn of(chunk: &[u8], is_first: bool) -> Self {
        let mut lines = Self { count: memchr_iter(b'\n', chunk).count() as u64, ..Self::default() };
        let mut end = chunk.len();
        while lines.set.is_none() || lines.time.is_none() || lines.database.is_none() {
            let Some(newline) = memrchr(b'\n', &chunk[..end]) else {
                let is_marked = is_first && chunk.starts_with(BYTE_ORDER_MARK);
                lines.look(chunk, if is_marked { BYTE_ORDER_MARK.len() } else { 0 });
                break;
            };
            lines.look(chunk, newline + 1);
            end = newline;
        }
        lines
    }

    #[inline]
    fn look(&mut self, chunk: &[u8], at: usize) {
        let line = &chunk[at..];
        match line.first() {
            Some(b'S') if line.starts_with(b"SET ") => self.set = self.set.or(Some(at)),
            Some(b'u') if line.starts_with(b"use ") => self.database = self.database.or(Some(at)),
            Some(b'#') if line.starts_with(b"# Time: ") => self.time = self.time.or(Some(at)),
            Some(b'#') if schema_at(line).is_some() => self.database = self.database.or(Some(at)),
            _ => (),
        }
    }
}
