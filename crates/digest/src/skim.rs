//! The context behind a part of a log, without reading all of it.

use memchr::memchr_iter;

use crate::context::Context;
use crate::cut::cut;
use crate::line::{BYTE_ORDER_MARK, schema_at};
use crate::problem::Problems;
use crate::read::{Inherited, inherited_at, read};

/// The context that [`read`] leaves behind a part of a log, found without reading all of it: a look at how
/// lines begin, then the entries of the last lines that can say something are read. When one of these only looked
/// like one (it is inside a statement), the part is read after all.
pub fn context_after(chunk: &[u8], before: &Context) -> Context {
    let lines = Lines::of(chunk, before.at == 0);
    let last_inherited = |place: Option<usize>| {
        let place = place?;
        let begin = cut(&chunk[..=place]).unwrap_or(0);
        Some(inherited_at(&chunk[begin..], place - begin))
    };
    let time = last_inherited(lines.set.max(lines.time));
    let clock = last_inherited(lines.time);
    let database = last_inherited(lines.database);
    let is_misled = time.as_ref().is_some_and(|found: &Inherited| found.time.is_none())
        || clock.as_ref().is_some_and(|found| found.clock.is_none())
        || database.as_ref().is_some_and(|found| found.database.is_none());
    if is_misled {
        let mut context = before.clone();
        read(chunk, &mut context, &mut Problems::default(), false, |_| ());
        return context;
    }
    Context {
        at: before.at + chunk.len() as u64,
        lines: before.lines + lines.count,
        time: time.map_or(before.time, |found| found.time),
        clock: clock.map_or(before.clock, |found| found.clock),
        database: match database.and_then(|found| found.database) {
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
    /// From the end backwards; when all are found, what is left is only counted.
    fn of(chunk: &[u8], is_first: bool) -> Self {
        let mut lines = Self::default();
        let mut ends = memchr_iter(b'\n', chunk);
        while !lines.is_complete() {
            let Some(end) = ends.next_back() else {
                let is_marked = is_first && chunk.starts_with(BYTE_ORDER_MARK);
                lines.look(chunk, if is_marked { BYTE_ORDER_MARK.len() } else { 0 });
                return lines;
            };
            lines.count += 1;
            lines.look(chunk, end + 1);
        }
        lines.count += ends.count() as u64;
        lines
    }

    fn is_complete(&self) -> bool {
        self.set.is_some() && self.time.is_some() && self.database.is_some()
    }

    #[inline]
    fn look(&mut self, chunk: &[u8], at: usize) {
        let line = &chunk[at..];
        let last = match line.first() {
            Some(b'S') if line.starts_with(b"SET ") => &mut self.set,
            Some(b'u') if line.starts_with(b"use ") => &mut self.database,
            Some(b'#') if line.starts_with(b"# Time: ") => &mut self.time,
            Some(b'#') if schema_at(line).is_some() => &mut self.database,
            _ => return,
        };
        last.get_or_insert(at);
    }
}
