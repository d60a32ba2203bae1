//! A log, entry by entry.

mod ending;

use memchr::memchr;

use crate::attribute::Attribute;
use crate::banner;
use crate::context::Context;
use crate::entry::{Entry, Kind, Raw, Time};
use crate::header::{Header, Line};
use crate::line::{BYTE_ORDER_MARK, is_header, line_end};
use crate::preamble::{set_line, use_line};
use crate::problem::{ProblemKind, Problems};

const ADMINISTRATOR: &[u8] = b"# administrator command: ";

/// `# Time:` lines of one server are written in order but for what its threads overtake each other.
const USUAL_DISORDER: Time = 60 * 1_000_000;

/// Calls `each` with the entries of a part of a log, which begins where one of [`cut`](crate::cut::cut) or the
/// log does, and ends in the same way; leaves in `context` what the next part needs. `is_last`: the log ends here.
///
/// An entry is what is between two headers. It is left out, and a problem noted, when it has no statement, or
/// when the log ends in the middle of it.
pub fn read(
    chunk: &[u8],
    context: &mut Context,
    problems: &mut Problems,
    is_last: bool,
    mut each: impl FnMut(&Entry),
) {
    let database_before = std::mem::take(&mut context.database);
    let inherited =
        Inherited { time: context.time, clock: context.clock, database: Some(&database_before) };
    let mut reader = Reader {
        log: chunk,
        at: 0,
        lines: context.lines,
        start: context.at,
        is_last,
        inherited,
        problems,
    };
    reader.skip_to_header();
    let mut header = Header::default();
    while reader.at < chunk.len() {
        reader.entry(&mut header, &mut each);
    }
    let Inherited { time, clock, database } = reader.inherited;
    let lines = reader.lines;
    let database = database.unwrap_or_default().to_vec();
    *context = Context { at: context.at + chunk.len() as u64, lines, time, clock, database };
}

/// What an entry that does not say it takes from those before it.
#[derive(Clone, Copy, Default)]
pub struct Inherited<'a> {
    pub time: Option<Time>,
    pub clock: Option<Time>,
    pub database: Option<&'a [u8]>,
}

/// What the entries pass on up to the one that `place` is in; `part` begins where an entry does.
pub fn inherited_at(part: &[u8], place: usize) -> Inherited<'_> {
    let mut problems = Problems::default();
    let mut reader = Reader {
        log: part,
        at: 0,
        lines: 0,
        start: 0,
        is_last: false,
        inherited: Inherited::default(),
        problems: &mut problems,
    };
    reader.skip_to_header();
    let mut header = Header::default();
    while reader.at <= place && reader.at < part.len() {
        reader.entry(&mut header, &mut |_| ());
    }
    reader.inherited
}

struct Reader<'a, 'p> {
    log: &'a [u8],
    /// Where the next line begins.
    at: usize,
    /// Ends of lines before it in the whole source.
    lines: u64,
    /// Where `log` begins in the source.
    start: u64,
    is_last: bool,
    inherited: Inherited<'a>,
    problems: &'p mut Problems,
}

/// What is between a header and the next.
struct Body<'a> {
    kind: Kind,
    timestamp: Option<Time>,
    has_database: bool,
    /// What is in front of it.
    preamble: &'a [u8],
    /// With its semicolon.
    text: &'a [u8],
}

impl<'a> Reader<'a, '_> {
    /// Text in front of the first entry: the server's banner, or the rest of an entry whose beginning is in
    /// another file.
    fn skip_to_header(&mut self) {
        if self.start == 0 && self.log.starts_with(BYTE_ORDER_MARK) {
            self.at = BYTE_ORDER_MARK.len();
        }
        let (begin, lines) = (self.at, self.lines);
        self.skip_statement();
        let text = self.log[begin..self.at].trim_ascii();
        if !banner::without(text).unwrap_or(text).trim_ascii().is_empty() {
            self.note(ProblemKind::NoHeader, begin, lines, || {
                "text before the first entry belongs to none".into()
            });
        }
    }

    #[inline]
    fn entry(&mut self, header: &mut Header<'a>, each: &mut impl FnMut(&Entry)) {
        let (begin, lines) = (self.at, self.lines);
        self.header(header);
        let header_end = self.at;
        if header.has_warnings {
            self.skip_warning();
        }
        let body = self.body();
        if let Some(clock) = header.time {
            let took = header.values.get(Attribute::QueryTime).unwrap_or(0);
            self.tick(clock, took as Time, begin, lines);
        }
        if let Some(time) = body.timestamp.or(header.time) {
            self.inherited.time = Some(time);
        }
        if let Some(schema) = header.schema {
            self.inherited.database = Some(schema);
        }
        let Some(statement) = self.statement(&body, begin, lines) else { return };
        each(&Entry {
            at: self.start + begin as u64,
            line: lines + 1,
            time: self.inherited.time,
            user: header.user,
            host: header.host,
            database: self.inherited.database.unwrap_or_default(),
            values: &header.values,
            kind: body.kind,
            statement,
            error: header.error,
            raw: Raw {
                header: &self.log[begin..header_end],
                preamble: body.preamble,
                has_time: header.time.is_some() || body.timestamp.is_some(),
                has_database: header.schema.is_some() || body.has_database,
            },
            beyond: 0,
        });
    }

    #[inline]
    fn header(&mut self, header: &mut Header<'a>) {
        header.clear();
        while self.at < self.log.len() {
            let (line, end) = header.line(self.log, self.at);
            match line {
                Line::Read => (),
                Line::Bad => self.note_bad_line(end),
                Line::Foreign | Line::Repeated => return,
            }
            self.lines += 1;
            self.at = end;
        }
        self.uncount_open_line();
    }

    /// Goes behind the rest of a warning's text, to the statements that the server wrote; stays when there are none.
    #[cold]
    fn skip_warning(&mut self) {
        let (mut at, mut lines) = (self.at, self.lines);
        let mut line_before = None;
        while at < self.log.len() && !is_header(&self.log[at..]) {
            if set_line(self.log, at).is_some() {
                (self.at, self.lines) = line_before.unwrap_or((at, lines));
                return;
            }
            line_before = use_line(self.log, at).map(|_| (at, lines));
            at = line_end(self.log, at).1;
            lines += 1;
        }
    }

    /// `use database;`, then `SET timestamp=...;`, then the statement.
    #[inline]
    fn body(&mut self) -> Body<'a> {
        let preamble_begin = self.at;
        let database = use_line(self.log, self.at);
        if let Some((database, end)) = database {
            self.inherited.database = Some(database);
            self.pass(end);
        }
        let has_database = database.is_some();
        let mut timestamp = None;
        if let Some((time, end)) = set_line(self.log, self.at) {
            timestamp = time;
            self.pass(end);
        }
        let begin = self.at;
        let preamble = &self.log[preamble_begin..begin];
        if let Some(command) = self.log[begin..].strip_prefix(ADMINISTRATOR) {
            let (end, next) = line_end(command, 0);
            self.pass(begin + ADMINISTRATOR.len() + next);
            self.skip_after_command();
            let (kind, text) = (Kind::AdministratorCommand, &command[..end]);
            return Body { kind, timestamp, has_database, preamble, text };
        }
        self.skip_statement();
        let (kind, text) = (Kind::Statement, &self.log[begin..self.at]);
        Body { kind, timestamp, has_database, preamble, text }
    }

    /// Goes to the next header line, which may be this one, or to the end.
    #[inline]
    fn skip_statement(&mut self) {
        loop {
            if self.log.get(self.at) == Some(&b'#') && is_header(&self.log[self.at..]) {
                return;
            }
            match memchr(b'\n', &self.log[self.at..]) {
                Some(length) => {
                    self.lines += 1;
                    self.at += length + 1;
                }
                None => {
                    self.at = self.log.len();
                    return;
                }
            }
        }
    }

    /// Goes behind a whole line.
    #[inline]
    fn pass(&mut self, end: usize) {
        self.at = end;
        self.lines += 1;
        self.uncount_open_line();
    }

    /// The last line of all need not have an end.
    #[inline]
    fn uncount_open_line(&mut self) {
        if self.at == self.log.len() && self.log.last() != Some(&b'\n') {
            self.lines -= 1;
        }
    }

    /// MariaDB's `# Time:` is when a statement began, MySQL's when it ended. So this one's latest end is held
    /// against the earliest one of the entry in front of it.
    #[inline]
    fn tick(&mut self, clock: Time, took: Time, begin: usize, lines: u64) {
        if self.inherited.clock.is_some_and(|before| clock + took < before - USUAL_DISORDER) {
            self.note(ProblemKind::ClockBackwards, begin, lines, || {
                "this entry ended more than a minute before the time of the one in front of it"
                    .into()
            });
        }
        self.inherited.clock = Some(clock);
    }

    #[cold]
    fn note_bad_line(&mut self, end: usize) {
        let line = &self.log[self.at..end];
        if self.is_last && end == self.log.len() && !line.ends_with(b"\n") {
            return; // the broken tail says it
        }
        let (at, lines) = (self.at, self.lines);
        self.note(ProblemKind::BadHeader, at, lines, || {
            let shown = &line.trim_ascii_end()[..line.trim_ascii_end().len().min(120)];
            format!("cannot read all of the line: {}", String::from_utf8_lossy(shown))
        });
    }

    #[cold]
    fn note(&mut self, kind: ProblemKind, at: usize, lines: u64, says: impl FnOnce() -> String) {
        self.problems.note(kind, self.start + at as u64, Some(lines + 1), says);
    }
}
