//! How an entry ends: with a semicolon, a server's banner, or in the middle.

use memchr::memrchr;

use super::{Body, Reader};
use crate::banner;
use crate::entry::Kind;
use crate::preamble::may_begin_one;
use crate::problem::ProblemKind;

impl Body<'_> {
    /// Whether it is no more than the beginning of what servers write in front of a statement.
    fn is_preamble(&self) -> bool {
        self.timestamp.is_none() && may_begin_one(self.text)
    }
}

impl<'a> Reader<'a, '_> {
    /// The entry's statement; None, and a problem, when there is none that is whole.
    #[inline]
    pub(super) fn statement(
        &mut self,
        body: &Body<'a>,
        begin: usize,
        lines: u64,
    ) -> Option<&'a [u8]> {
        let text = body.text.trim_ascii_end();
        let text = banner::without(text).map_or(text, <[u8]>::trim_ascii_end);
        let is_end = self.is_last && self.at == self.log.len();
        let statement = match text.strip_suffix(b";") {
            Some(statement) => statement.trim_ascii(),
            None if is_end => return self.broken_tail(body, text, begin, lines),
            None => text.trim_ascii(),
        };
        if statement.is_empty() {
            self.note(ProblemKind::NoStatement, begin, lines, || {
                "a header without a statement: left out".into()
            });
            return None;
        }
        Some(statement)
    }

    /// The log ends in this entry, and perhaps in the middle of it: a statement counts as far as it goes. What
    /// ends in the first line of the next entry is whole.
    #[cold]
    fn broken_tail(
        &mut self,
        body: &Body<'a>,
        text: &'a [u8],
        begin: usize,
        lines: u64,
    ) -> Option<&'a [u8]> {
        let open_line = memrchr(b'\n', text).map(|end| end + 1);
        if let Some(at) = open_line.filter(|&at| text[at..].starts_with(b"#"))
            && let Some(statement) = text[..at].trim_ascii_end().strip_suffix(b";")
            && !statement.trim_ascii().is_empty()
        {
            let cut_at = self.log.len() - text.len() + at;
            let open = self.lines;
            self.note(ProblemKind::BrokenTail, cut_at, open, || {
                "the log ends in the first line of an entry: left out".into()
            });
            return Some(statement.trim_ascii());
        }
        let statement = text.trim_ascii();
        if body.kind == Kind::AdministratorCommand || statement.is_empty() || body.is_preamble() {
            self.note(ProblemKind::BrokenTail, begin, lines, || {
                "the log ends before a statement begins: the last entry is left out".into()
            });
            return None;
        }
        self.note(ProblemKind::BrokenTail, begin, lines, || {
            "the last entry has no semicolon at its end: counted, but its statement may be cut"
                .into()
        });
        Some(statement)
    }

    /// Lines behind an administrator command, which is a separate line.
    #[inline]
    pub(super) fn skip_after_command(&mut self) {
        let (begin, lines) = (self.at, self.lines);
        self.skip_statement();
        let text = self.log[begin..self.at].trim_ascii();
        if text.is_empty() || banner::without(text).is_some_and(|text| text.trim_ascii().is_empty())
        {
            return;
        }
        let (kind, says) = if self.is_last && self.at == self.log.len() && text.starts_with(b"#") {
            (ProblemKind::BrokenTail, "the log ends in the first line of an entry: left out")
        } else {
            (ProblemKind::NoHeader, "text behind an administrator command belongs to no entry")
        };
        self.note(kind, begin, lines, || says.into());
    }
}
