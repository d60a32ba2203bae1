//! The lines in front of a statement, `# Key: value  Key: value`, in any order.

use crate::attribute::Attribute;
use crate::clock;
use crate::entry::{Time, Values};
use crate::key::{self, Habit, Key};
use crate::line::{blank_end, line_end, may_be_header, schema_at};
use crate::number::{self, count, micros, token_end};

/// What the lines of one header say.
#[derive(Default)]
pub struct Header<'a> {
    pub values: Values,
    pub time: Option<Time>,
    pub user: &'a [u8],
    pub host: &'a [u8],
    /// Empty when it says that there is none.
    pub schema: Option<&'a [u8]>,
    /// The error's number; 0 for none.
    pub error: u64,
    /// Whether MariaDB's warnings are in it, whose texts can have ends of lines.
    pub has_warnings: bool,
    seen: u8,
    habit: Habit,
}

/// What became of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line {
    Read,
    /// Something of it could not be read; the rest was.
    Bad,
    /// It is not a header's: the statement begins here, or what is in front of it.
    Foreign,
    /// This header has such a line already: the next entry begins here.
    Repeated,
}

// Lines that an entry has once.
const TIME: u8 = 1;
const USER_HOST: u8 = 2;
const QUERY_TIME: u8 = 4;

impl<'a> Header<'a> {
    pub fn clear(&mut self) {
        self.values.clear();
        self.time = None;
        self.user = &[];
        self.host = &[];
        self.schema = None;
        self.error = 0;
        self.has_warnings = false;
        self.seen = 0;
    }

    /// Reads the line that begins at `at`; also gives the place behind it, unless it is not this header's.
    #[inline]
    pub fn line(&mut self, log: &'a [u8], at: usize) -> (Line, usize) {
        let text = &log[at..];
        if text.first() != Some(&b'#') {
            return (Line::Foreign, at);
        }
        if text.starts_with(b"# Query_time: ") {
            return if self.is_new(QUERY_TIME) {
                self.figures(log, at + 14)
            } else {
                (Line::Repeated, at)
            };
        }
        if text.starts_with(b"# User@Host: ") {
            return if self.is_new(USER_HOST) {
                self.user_host(log, at + 13)
            } else {
                (Line::Repeated, at)
            };
        }
        if text.starts_with(b"# Time: ") {
            return if self.is_new(TIME) { self.time(log, at + 8) } else { (Line::Repeated, at) };
        }
        self.other(log, at)
    }

    /// The line that every server writes, read straight: `1.5  Lock_time: 0.1 Rows_sent: 1  Rows_examined: 2`,
    /// and perhaps more.
    #[inline]
    fn figures(&mut self, log: &'a [u8], at: usize) -> (Line, usize) {
        let mut is_good = true;
        let mut end = at;
        let mut keep = |attribute, (number, next): number::Read| {
            match number {
                Some(number) => self.values.set(attribute, number),
                None => is_good = false,
            }
            end = next;
            next
        };
        let mut next = keep(Attribute::QueryTime, micros::<6>(log, at));
        if log[next..].starts_with(b"  Lock_time: ") {
            next = keep(Attribute::LockTime, micros::<6>(log, next + 13));
        }
        if log[next..].starts_with(b" Rows_sent: ") {
            next = keep(Attribute::RowsSent, count(log, next + 12));
        } else if log[next..].starts_with(b"  Rows_sent: ") {
            next = keep(Attribute::RowsSent, count(log, next + 13));
        }
        if log[next..].starts_with(b"  Rows_examined: ") {
            keep(Attribute::RowsExamined, count(log, next + 17));
        }
        let (line, end) = self.fields(log, end);
        (if is_good { line } else { Line::Bad }, end)
    }

    fn is_new(&mut self, what: u8) -> bool {
        let is_new = self.seen & what == 0;
        self.seen |= what;
        is_new
    }

    fn time(&mut self, log: &'a [u8], at: usize) -> (Line, usize) {
        let (end, next) = line_end(log, at);
        self.time = clock::read(&log[at..end]);
        if self.time.is_some() { (Line::Read, next) } else { self.time_and_user_host(log, at, end) }
    }

    /// `261122  3:00:00 # User@Host: ...`: some releases write both on one line, with a second `#` or without.
    #[cold]
    fn time_and_user_host(&mut self, log: &'a [u8], at: usize, end: usize) -> (Line, usize) {
        const USER_HOST_KEY: &[u8] = b"User@Host: ";
        let text = &log[at..end];
        let next = line_end(log, at).1;
        let Some(key) = memchr::memmem::find(text, USER_HOST_KEY) else { return (Line::Bad, next) };
        let time = text[..key].trim_ascii_end();
        self.time = clock::read(time.strip_suffix(b"#").unwrap_or(time).trim_ascii_end());
        self.is_new(USER_HOST);
        let (line, next) = self.user_host(log, at + key + USER_HOST_KEY.len());
        (if self.time.is_some() { line } else { Line::Bad }, next)
    }

    /// `priv_user[user] @ host [address]  Id: 12`.
    fn user_host(&mut self, log: &'a [u8], at: usize) -> (Line, usize) {
        let (end, next) = line_end(log, at);
        let text = &log[at..end];
        let Some((who, from)) = memchr::memrchr(b'@', text).and_then(|sign| {
            Some((text[..sign].strip_suffix(b" ")?, text[sign + 1..].strip_prefix(b" ")?))
        }) else {
            return (Line::Bad, next);
        };
        self.user = login(who.strip_suffix(b"]").unwrap_or(who));
        let open = memchr::memchr(b'[', from).unwrap_or(from.len());
        self.host = from[..open].trim_ascii();
        if self.host.is_empty()
            && let Some(address) = from.get(open + 1..)
        {
            let close = memchr::memchr(b']', address).unwrap_or(address.len());
            self.host = &address[..close];
        }
        (Line::Read, next)
    }

    /// Lines that fewer servers write, and those that only look like one.
    fn other(&mut self, log: &'a [u8], at: usize) -> (Line, usize) {
        let text = &log[at..];
        if let Some(schema_at) = schema_at(text) {
            let (schema, end) = schema(log, at + schema_at);
            self.schema = Some(schema);
            return self.fields(log, end);
        }
        if text.starts_with(b"# ") && self.habit.is_kept(log, at + 2) {
            return self.fields(log, at + 2);
        }
        if !may_be_header(text) {
            return (Line::Foreign, at);
        }
        let begin = blank_end(log, at + 1);
        match key::colon(log, begin) {
            Some(_) => self.fields(log, begin),
            None => {
                self.has_warnings |= log[begin..].starts_with(b"Warnings");
                (Line::Read, line_end(log, begin).1)
            }
        }
    }

    /// `Key: value  Key: value` up to the end of the line.
    fn fields(&mut self, log: &'a [u8], at: usize) -> (Line, usize) {
        let mut result = Line::Read;
        let mut at = at;
        loop {
            at = blank_end(log, at);
            match log.get(at) {
                None => return (result, at),
                Some(b'\n') => return (result, at + 1),
                _ => (),
            }
            let (is_good, end) = match self.habit.read(log, at) {
                Some((key, colon)) => {
                    let value = colon + 1 + usize::from(log.get(colon + 1) == Some(&b' '));
                    self.field(key, log, value)
                }
                None => skip_unknown(log, at),
            };
            if !is_good {
                result = Line::Bad;
            }
            at = end;
        }
    }

    fn field(&mut self, key: Key, log: &'a [u8], at: usize) -> (bool, usize) {
        match key {
            Key::Seconds(attribute) => self.keep(attribute, micros::<6>(log, at)),
            Key::Count(attribute) => self.keep(attribute, count(log, at)),
            Key::Milliseconds(attribute) => self.keep(attribute, micros::<3>(log, at)),
            Key::YesNo(attribute) => {
                let end = token_end(log, at);
                let number = match &log[at..end] {
                    b"Yes" => Some(1),
                    b"No" => Some(0),
                    _ => None,
                };
                self.keep(attribute, (number, end))
            }
            Key::Code(attribute) => {
                let (number, end) = count(log, at);
                if attribute == Attribute::Failed {
                    self.error = number.unwrap_or(0);
                }
                self.keep(attribute, (number.map(|code| u64::from(code != 0)), end))
            }
            Key::Number | Key::Word => (true, token_end(log, blank_end(log, at))),
            Key::Line => (true, line_end(log, at).0),
            // They stand at the beginning of a line only.
            Key::Time | Key::UserHost | Key::Schema => (false, token_end(log, at)),
        }
    }

    #[inline]
    fn keep(&mut self, attribute: Attribute, read: number::Read) -> (bool, usize) {
        let (number, end) = read;
        if let Some(number) = number {
            self.values.set(attribute, number);
        }
        (number.is_some(), end)
    }
}

/// The name that the client gave: of `root[root]` the second, unless it is empty. Names may hold brackets
/// themselves; mostly both are the same.
fn login(who: &[u8]) -> &[u8] {
    let half = who.len() / 2;
    if who.len() % 2 == 1 && who[half] == b'[' && who[..half] == who[half + 1..] {
        return &who[..half];
    }
    match memchr::memchr(b'[', who) {
        Some(open) if open + 1 < who.len() => &who[open + 1..],
        Some(open) => &who[..open],
        None => who,
    }
}

/// A name, up to the end of the line or to blanks and the next key; empty where that key comes at once. Names
/// may hold blanks themselves: one is not an end unless a known key with its colon and a blank follows.
#[inline]
fn schema(log: &[u8], at: usize) -> (&[u8], usize) {
    let is_key =
        |at: usize| key::read(log, at).is_some_and(|(_, colon)| log.get(colon + 1) == Some(&b' '));
    let mut end = at;
    if is_key(at) {
        return (&[], at);
    }
    loop {
        match log.get(end) {
            None | Some(b'\n') => return (log[at..end].trim_ascii_end(), end),
            Some(b' ') if is_key(blank_end(log, end)) => return (&log[at..end], end),
            _ => end += 1,
        }
    }
}

/// Something that is not a known key with its value.
#[cold]
fn skip_unknown(log: &[u8], at: usize) -> (bool, usize) {
    // Percona's log_slow_verbosity=profiling: a time for each state of a statement.
    let is_good = log[at..].starts_with(b"Profile_");
    let value = key::colon(log, at)
        .map_or(at, |colon| colon + 1 + usize::from(log.get(colon + 1) == Some(&b' ')));
    (is_good, token_end(log, value))
}
