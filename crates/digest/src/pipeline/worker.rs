//! One of the threads that parse and group.

use std::sync::Mutex;
use std::sync::atomic::Ordering;

use super::reader::{Reader, Turn};
use super::tally::{Tallies, Tally, earlier};
use super::{Counters, Job};
use crate::entry::Entry;
use crate::groups::Groups;
use crate::out_log::push_entry;
use crate::skim::context_after;

use crate::problem::ProblemKind;
use crate::read::read;
use crate::source::{End, Trouble};

/// Takes chunks until there are no more.
pub fn work(job: &Job, reader: &Mutex<Reader<'_>>, counters: &Counters) -> (Groups, Tallies) {
    let mut filters = job.filters.clone();
    filters.names = job.grouping.names;
    let mut groups = Groups::new(job.example_bytes, job.grouping.clone());
    let mut tallies = Tallies::new(job.sources.len());
    let mut buffer = Vec::new();
    let next = |buffer: &mut Vec<u8>| reader.lock().expect("a worker does not panic").take(buffer);
    while let Some(turn) = next(&mut buffer) {
        let Turn { number, source, chunk, before, after } = turn;
        let text = &buffer[..chunk.bytes];
        let mut context = before.recv().expect("who has the chunk before sends it");
        let mut context_after = context_after(text, &context);
        context_after.at += chunk.beyond.bytes;
        context_after.lines += chunk.beyond.newlines;
        // Nobody waits for what comes after the last chunk.
        let _ = after.send(context_after);

        // Of an entry that goes on beyond what is kept nobody sees the end.
        let is_last = chunk.beyond.bytes == 0
            && chunk
                .end
                .as_ref()
                .is_some_and(|end| !matches!(end, End::Before(Trouble::Interrupted)));
        let beyond = chunk.beyond.bytes - chunk.beyond.closing;
        let mut long = None;
        let mut written = Vec::new();
        let Tallies { sources, filtered } = &mut tallies;
        let Tally { entries, first, last, problems } = &mut sources[source];
        let entries_before = *entries;
        read(text, &mut context, problems, is_last, |entry| {
            let entry = Entry { beyond, ..*entry };
            *entries += 1;
            *first = earlier(*first, entry.time);
            *last = entry.time.max(*last);
            if entry.beyond > 0 {
                long = Some((entry.at, entry.line, entry.statement.len() as u64 + entry.beyond));
            }
            if filters.admits(&entry) {
                groups.add(&entry, source as u32);
                if job.out_log.is_some() {
                    push_entry(&mut written, &entry);
                }
            } else {
                *filtered += 1;
            }
        });
        if let Some(out_log) = &job.out_log {
            out_log.put(number, written);
        }
        if let Some((at, line, bytes)) = long {
            problems.note(ProblemKind::LongStatement, at, Some(line), || {
                format!("a statement of {bytes} bytes, of which only the beginning was looked at")
            });
        }
        counters.entries.fetch_add(*entries - entries_before, Ordering::Relaxed);
    }
    (groups, tallies)
}
