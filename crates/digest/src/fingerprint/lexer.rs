//! Cuts a statement into tokens as the servers do, over bytes of any character set that contains ASCII.
//!
//! Facts: the manuals of MySQL 9 and MariaDB ("Literal Values", "Comments", "Schema Object Names"); what they
//! leave open was tried with the servers. Every look ahead either succeeds and is skipped, or leaves a mark that
//! keeps it from being made again, so that time grows with the length of a statement and nothing else.

mod ahead;
mod symbols;

use memchr::memchr;

use super::bytes::{Class, class, is_word, word_end};
use super::keywords::{self, KEEPS_NULL, TAKES_LIST, TAKES_ROWS};
use super::literals::{number_end, string_end};
use super::reducer::Reducer;
use super::token::{Literal, Sink, Symbol};

/// The token before, as far as it decides what the next one is.
#[derive(Clone, Copy)]
enum Before {
    Nothing,
    /// A word without quotes, which begins and ends there.
    Word(usize, usize),
    Quoted,
    Literal,
    Close,
    Dot,
    At,
    /// What an expression may follow: an operator, a comma, an open bracket.
    Other,
}

pub struct Lexer<'a, S> {
    text: &'a [u8],
    at: usize,
    before: Before,
    tokens: Reducer<S>,
    /// How many /*! comments, whose content is code, are open.
    code: usize,
    in_hint: bool,
    /// Brackets that are open; the depth inside the VALUES row that is.
    depth: usize,
    row_depth: Option<usize>,
    /// Where the word ROW behind VALUES ends.
    row_word: usize,
    /// No literal begins before here behind signs and introducers.
    no_literal_before: usize,
}

impl<'a, S: Sink> Lexer<'a, S> {
    #[inline]
    pub fn new(text: &'a [u8], sink: S) -> Self {
        Self {
            text,
            at: 0,
            before: Before::Nothing,
            tokens: Reducer::new(sink),
            code: 0,
            in_hint: false,
            depth: 0,
            row_depth: None,
            row_word: 0,
            no_literal_before: 0,
        }
    }

    /// The sink, with all tokens in it.
    pub fn run(mut self) -> S {
        while let Some(&first) = self.text.get(self.at) {
            // A blank in front of a token needs no turn of its own.
            self.at += usize::from(first == b' ');
            let Some(&byte) = self.text.get(self.at) else { break };
            match class(byte) {
                Class::Blank => self.at += 1,
                Class::Letter => self.word(word_end(self.text, self.at)),
                Class::Special => self.special(),
                Class::Digit => self.digit(),
                Class::Quote => self.literal(string_end(self.text, self.at), Literal::One),
                Class::Backtick => self.backtick(),
                Class::Question => self.question(),
                Class::Open => self.open(),
                Class::Close => self.close(),
                Class::Comma => {
                    self.at += 1;
                    self.before = Before::Other;
                    self.tokens.comma();
                }
                Class::Dot => self.dot(),
                Class::At => {
                    self.symbol(Symbol::AT, 1);
                    self.before = Before::At;
                }
                Class::Sign => self.sign(byte),
                Class::Operator => self.operator(byte),
                Class::Slash | Class::Hash | Class::Star => self.comment(byte),
                Class::Semicolon => self.semicolon(),
                Class::Backslash => self.backslash(),
                Class::Symbol => self.symbol(Symbol(byte), 1),
            }
        }
        self.tokens.finish()
    }

    #[inline(always)]
    fn word(&mut self, end: usize) {
        self.tokens.word(self.text, self.at, end);
        self.before = Before::Word(self.at, end);
        self.at = end;
    }

    #[inline(always)]
    fn symbol(&mut self, symbol: Symbol, bytes: usize) {
        self.tokens.symbol(symbol);
        self.before = Before::Other;
        self.at += bytes;
    }

    #[inline]
    fn literal(&mut self, end: usize, literal: Literal) {
        self.tokens.literal(literal);
        self.before = Before::Literal;
        self.at = end;
    }

    fn is_part_of_name(&self) -> bool {
        matches!(self.before, Before::Dot | Before::At)
    }

    /// What the word before is to the lexer.
    fn flags_before(&self) -> u8 {
        match self.before {
            Before::Word(first, end) => keywords::flags(&self.text[first..end]),
            _ => 0,
        }
    }

    /// A word that may be a literal or the beginning of one.
    #[inline]
    fn special(&mut self) {
        let end = word_end(self.text, self.at);
        let length = end - self.at;
        // The only ones are N'..', ROW, NULL, TRUE, FALSE and charsets.
        if matches!(length, 1 | 3 | 4 | 5) || self.text[self.at] == b'_' {
            self.special_word(end);
        } else {
            self.word(end);
        }
    }

    fn special_word(&mut self, end: usize) {
        if self.is_part_of_name() {
            return self.word(end);
        }
        if let Some((literal_end, literal)) = self.literal_at(self.at) {
            // IS NULL and its like are not comparisons with a value.
            let is_word = literal_end == end;
            if !(is_word && self.flags_before() & KEEPS_NULL != 0) {
                return self.literal(literal_end, literal);
            }
        } else if self.text[self.at] == b'_' {
            if self.literal_ahead() {
                return;
            }
        } else if self.text[self.at..end].eq_ignore_ascii_case(b"row")
            && self.flags_before() & TAKES_ROWS != 0
        {
            self.row_word = end;
        }
        self.word(end);
    }

    fn digit(&mut self) {
        let number = if self.is_part_of_name() { None } else { number_end(self.text, self.at) };
        match number {
            Some(end) => self.literal(end, Literal::One),
            None => self.word(word_end(self.text, self.at)),
        }
    }

    fn question(&mut self) {
        let (end, literal) = self.literal_at(self.at).expect("a marker is a literal");
        self.literal(end, literal);
    }

    fn backtick(&mut self) {
        let first = self.at + 1;
        let mut end = first;
        loop {
            match memchr(b'`', self.text.get(end..).unwrap_or_default()) {
                Some(found) if self.text.get(end + found + 1) == Some(&b'`') => end += found + 2,
                Some(found) => {
                    end += found;
                    break;
                }
                None => {
                    end = self.text.len();
                    break;
                }
            }
        }
        let name = &self.text[first..end];
        let needs_no_quotes = name.first().is_some_and(|byte| !byte.is_ascii_digit())
            && name.iter().all(|&byte| is_word(byte))
            && keywords::find(name).is_none()
            && !keywords::is_introducer(name);
        if needs_no_quotes {
            self.tokens.word(self.text, first, end);
        } else {
            self.tokens.quoted(name);
        }
        self.before = Before::Quoted;
        self.at = (end + 1).min(self.text.len());
    }

    fn open(&mut self) {
        // performance_schema's own way to write an introducer.
        if self.introducer_end(self.at).is_some() && self.literal_ahead() {
            return;
        }
        let flags = match self.before {
            Before::Word(_, end) if end == self.row_word => TAKES_LIST | TAKES_ROWS,
            // IN, VALUE, VALUES: the only ones that matter here.
            Before::Word(first, end) if matches!(end - first, 2 | 5 | 6) => self.flags_before(),
            _ => 0,
        };
        self.tokens.open(flags & TAKES_LIST != 0);
        self.depth += 1;
        if flags & TAKES_ROWS != 0 {
            self.row_depth = Some(self.depth);
        }
        self.before = Before::Other;
        self.at += 1;
    }

    fn close(&mut self) {
        self.tokens.close();
        self.before = Before::Close;
        self.at += 1;
        if self.row_depth == Some(self.depth) {
            self.row_depth = None;
            self.skip_rows();
        }
        self.depth = self.depth.saturating_sub(1);
    }

    fn dot(&mut self) {
        match self.literal_at(self.at) {
            Some((end, literal)) if !matches!(self.before, Before::Word(..) | Before::Quoted) => {
                self.literal(end, literal);
            }
            _ => {
                self.symbol(Symbol::DOT, 1);
                self.before = Before::Dot;
            }
        }
    }
}
