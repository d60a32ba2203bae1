//! Several traces as one.

use std::path::Path;

use crate::error::Error;
use crate::header::{Footer, Header, Source};
use crate::reader::Trace;
use crate::sorter::Sorter;

/// What brings the clocks of traces together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// The wall clock.
    Clock,
    /// All begin at the same instant.
    Start,
}

/// Writes all records of all traces; each trace's connections stay its own.
pub fn merge(traces: &[Trace], align: Align, out: &Path) -> Result<Footer, Error> {
    let starts: Vec<i64> =
        traces.iter().map(|trace| start(trace, align)).collect::<Result<_, _>>()?;
    let first = starts.iter().copied().min().unwrap_or(0);
    let headers = || traces.iter().map(Trace::header);
    let same = |mut servers: Vec<Option<String>>| {
        servers.dedup();
        if servers.len() == 1 { servers.remove(0) } else { None }
    };
    let mut sources: Vec<Source> = headers().map(|header| header.source).collect();
    sources.dedup();
    let header = Header {
        source: match sources[..] {
            [one] => one,
            // What holds statements that nobody sent is no record of traffic.
            _ if sources.contains(&Source::Synthetic) => Source::Synthetic,
            _ => Source::Several,
        },
        server: same(headers().map(|header| header.server.clone()).collect()),
        masked: headers().all(|header| header.masked),
        start_us: if align == Align::Clock { Some(first) } else { traces[0].header().start_us },
        resolution_us: headers().map(|header| header.resolution_us).max().unwrap_or(1),
    };
    let mut sorter = Sorter::new(out);
    let (mut skipped, mut files, mut connections) = (Vec::new(), Vec::new(), 0_u32);
    for (trace, start) in traces.iter().zip(starts) {
        for record in trace.records()? {
            let record = record?;
            let at_us = start.saturating_add_unsigned(record.at_us());
            let number = connections + record.connection();
            sorter.push(at_us, record.moved(number, 0))?;
        }
        connections += u32::try_from(trace.footer().connections).unwrap_or(u32::MAX);
        skipped.extend(trace.footer().skipped.iter().cloned());
        files.extend(trace.footer().files.iter().cloned());
    }
    sorter.finish(&header, first, skipped, files)
}

fn start(trace: &Trace, align: Align) -> Result<i64, Error> {
    match (align, trace.header().start_us) {
        (Align::Start, _) => Ok(0),
        (Align::Clock, Some(start)) => Ok(start),
        (Align::Clock, None) => Err(Error::Order {
            why: format!("{} has no wall clock: align by start", trace.path().display()),
        }),
    }
}
