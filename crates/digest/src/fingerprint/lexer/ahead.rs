//! What can only be decided by what follows.

use memchr::memchr;

use super::Lexer;
use crate::fingerprint::bytes::word_end;
use crate::fingerprint::comments;
use crate::fingerprint::keywords;
use crate::fingerprint::literals::{number_end, string_end};
use crate::fingerprint::token::{Literal, Sink};

impl<S: Sink> Lexer<'_, S> {
    /// Takes the literal behind signs and introducers, and them with it, if there is one.
    pub(super) fn literal_ahead(&mut self) -> bool {
        if self.at < self.no_literal_before {
            return false;
        }
        let mut code = self.code;
        let mut at = self.at;
        let mut is_sign_allowed = true;
        // What a dot follows is a name: `_utf8.a`.
        let mut is_dot_allowed = true;
        loop {
            if let Some(end) = self.introducer_end(at) {
                is_sign_allowed = false;
                is_dot_allowed = self.text[at] == b'(';
                at = end;
            } else if let Some((end, literal)) =
                self.literal_at(at).filter(|_| is_dot_allowed || self.text[at] != b'.')
            {
                self.code = code;
                self.literal(end, literal);
                return true;
            } else if is_sign_allowed && matches!(self.text.get(at), Some(b'-' | b'+')) {
                at += 1;
            } else {
                self.no_literal_before = at;
                return false;
            }
            at = self.blanks_end(at, &mut code);
        }
    }

    /// The end of a charset introducer that begins at `at`; performance_schema writes `(_charset)` for all.
    pub(super) fn introducer_end(&self, at: usize) -> Option<usize> {
        match self.text.get(at)? {
            b'_' => {
                let end = word_end(self.text, at);
                keywords::is_introducer(&self.text[at..end]).then_some(end)
            }
            b'(' => {
                let mut code = self.code;
                let first = self.blanks_end(at + 1, &mut code);
                if self.text.get(first) != Some(&b'_') {
                    return None;
                }
                let end = word_end(self.text, first);
                let close = self.blanks_end(end, &mut code);
                let is_charset = self.text[first..end].eq_ignore_ascii_case(keywords::ANY_CHARSET);
                (is_charset && self.text.get(close) == Some(&b')')).then_some(close + 1)
            }
            _ => None,
        }
    }

    /// The literal that begins at `at`, where a literal may stand.
    pub(super) fn literal_at(&self, at: usize) -> Option<(usize, Literal)> {
        let text = self.text;
        let one = |end: usize| Some((end, Literal::One));
        match *text.get(at)? {
            b'\'' | b'"' => one(string_end(text, at)),
            b'0'..=b'9' => number_end(text, at).and_then(one),
            b'.' if text[at..].starts_with(b"...") => Some((at + 3, Literal::Several)),
            b'.' if text.get(at + 1).is_some_and(u8::is_ascii_digit) => {
                number_end(text, at).and_then(one)
            }
            b'?' if text[at..].starts_with(b"?+)") => Some((at + 2, Literal::Several)),
            b'?' => one(at + 1),
            b'\\' if text.get(at + 1) == Some(&b'N') => one(at + 2),
            b'b' | b'B' | b'n' | b'N' | b'x' | b'X' if text.get(at + 1) == Some(&b'\'') => {
                one(string_end(text, at + 1))
            }
            b'n' | b'N' | b't' | b'T' | b'f' | b'F' => {
                let end = word_end(text, at);
                let word = &text[at..end];
                [b"null".as_slice(), b"true", b"false"]
                    .iter()
                    .any(|literal| word.eq_ignore_ascii_case(literal))
                    .then_some((end, Literal::One))
            }
            _ => None,
        }
    }

    /// Skips the rows of a VALUES list behind its first: they are of the same shape or no statement.
    pub(super) fn skip_rows(&mut self) {
        loop {
            let mut code = self.code;
            let mut at = self.blanks_end(self.at, &mut code);
            if self.text.get(at) != Some(&b',') {
                return;
            }
            at = self.blanks_end(at + 1, &mut code);
            if self.text[at..].get(..3).is_some_and(|word| word.eq_ignore_ascii_case(b"row"))
                && word_end(self.text, at) == at + 3
            {
                at = self.blanks_end(at + 3, &mut code);
            }
            if self.text.get(at) != Some(&b'(') {
                return;
            }
            self.at = self.bracket_end(at, &mut code);
            self.code = code;
        }
    }

    /// The end of the bracket that opens at `at`.
    fn bracket_end(&self, mut at: usize, code: &mut usize) -> usize {
        let mut depth = 0_usize;
        while let Some(&byte) = self.text.get(at) {
            match byte {
                b'(' => depth += 1,
                b')' if depth == 1 => return at + 1,
                b')' => depth -= 1,
                b'\'' | b'"' => {
                    at = string_end(self.text, at);
                    continue;
                }
                b'`' => {
                    let rest = &self.text[at + 1..];
                    at = memchr(b'`', rest).map_or(self.text.len(), |found| at + found + 2);
                    continue;
                }
                b'/' | b'#' | b'-' | b'*' => {
                    if let Some(end) = comments::comment_end(self.text, at, code) {
                        at = end;
                        continue;
                    }
                }
                _ => {}
            }
            at += 1;
        }
        at
    }

    /// The end of blanks and comments that begin at `at`.
    pub(super) fn blanks_end(&self, at: usize, code: &mut usize) -> usize {
        // What closes a comment with code closes the hint first.
        let mut own = 0;
        comments::blanks_end(self.text, at, if self.in_hint { &mut own } else { code })
    }
}
