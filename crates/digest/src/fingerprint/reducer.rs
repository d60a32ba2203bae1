//! Literals with commas between them are one token, however many they are.
//!
//! | tokens | become |
//! |---|---|
//! | `?, ?`, and any more of them | `?, ...` |
//! | `(?)`, `(?)` | `(?)` |
//! | `(?, ...)`, `(?, ...)` | `(?, ...)` |
//! | `in (?)` | `in (?, ...)`, the same as with several; also behind VALUES |
//!
//! The first three are performance_schema's reductions since MySQL 5.6, the last is MySQL 8.0's (source:
//! sql/sql_digest.cc there). What may still become part of a list is held back: at most a row, a comma, an
//! open bracket, a literal and a comma, so nothing grows with a list.

use super::token::{Literal, Sink, Symbol};

#[derive(Default)]
struct Held {
    /// A row, and whether a comma came behind it.
    row: Option<Literal>,
    comma_after_row: bool,
    /// An open bracket, and whether it is a list's.
    open: bool,
    is_list: bool,
    /// One literal or several, and whether a comma came behind.
    literal: Option<Literal>,
    comma_after_literal: bool,
}

pub struct Reducer<S> {
    sink: S,
    holds: bool,
    held: Held,
}

impl<S: Sink> Reducer<S> {
    #[inline]
    pub fn new(sink: S) -> Self {
        Self { sink, holds: false, held: Held::default() }
    }

    #[inline]
    pub fn finish(mut self) -> S {
        self.release();
        self.sink
    }

    #[inline(always)]
    pub fn word(&mut self, text: &[u8], first: usize, end: usize) {
        self.release();
        self.sink.word(text, first, end);
    }

    #[inline]
    pub fn quoted(&mut self, name: &[u8]) {
        self.release();
        self.sink.quoted(name);
    }

    /// Any symbol but brackets and commas.
    #[inline(always)]
    pub fn symbol(&mut self, symbol: Symbol) {
        self.release();
        self.sink.symbol(symbol);
    }

    #[inline]
    pub fn open(&mut self, is_list: bool) {
        let held = &mut self.held;
        if !(held.comma_after_row && !held.open && held.literal.is_none()) {
            self.release();
        }
        self.held.open = true;
        self.held.is_list = is_list;
        self.holds = true;
    }

    #[inline]
    pub fn comma(&mut self) {
        let held = &mut self.held;
        if held.literal.is_some() && !held.comma_after_literal {
            held.comma_after_literal = true;
        } else if held.row.is_some() && !held.comma_after_row {
            held.comma_after_row = true;
        } else {
            self.release();
            self.sink.symbol(Symbol::COMMA);
        }
    }

    #[inline]
    pub fn literal(&mut self, literal: Literal) {
        let held = &mut self.held;
        if held.comma_after_literal {
            held.literal = Some(Literal::Several);
            held.comma_after_literal = false;
            return;
        }
        if !held.open || held.literal.is_some() {
            self.release();
        }
        self.held.literal = Some(literal);
        self.holds = true;
    }

    #[inline]
    pub fn close(&mut self) {
        let held = &mut self.held;
        let Some(literal) = held.literal.filter(|_| held.open && !held.comma_after_literal) else {
            self.release();
            return self.sink.symbol(Symbol::CLOSE);
        };
        held.open = false;
        held.literal = None;
        if held.is_list {
            self.release();
            return self.sink.row(Literal::Several);
        }
        if held.row != Some(literal) {
            self.release();
        }
        self.held = Held { row: Some(literal), ..Held::default() };
        self.holds = true;
    }

    /// Hands on what was held back: it is not part of a longer list.
    #[inline(always)]
    fn release(&mut self) {
        if self.holds {
            self.release_held();
        }
    }

    fn release_held(&mut self) {
        let held = std::mem::take(&mut self.held);
        self.holds = false;
        if let Some(row) = held.row {
            self.sink.row(row);
        }
        if held.comma_after_row {
            self.sink.symbol(Symbol::COMMA);
        }
        if held.open {
            self.sink.symbol(Symbol::OPEN);
        }
        if let Some(literal) = held.literal {
            self.sink.literal(literal);
        }
        if held.comma_after_literal {
            self.sink.symbol(Symbol::COMMA);
        }
    }
}
