//! Operators, and what begins like one.

use super::{Before, Lexer};
use crate::fingerprint::comments;
use crate::fingerprint::keywords::{BEFORE_EXPRESSION, TAKES_HINTS};
use crate::fingerprint::token::{Sink, Symbol};

impl<S: Sink> Lexer<'_, S> {
    pub(super) fn sign(&mut self, byte: u8) {
        let mut code = self.code;
        if let Some(end) = comments::comment_end(self.text, self.at, &mut code) {
            self.code = code;
            self.at = end;
            return;
        }
        match self.text[self.at..] {
            [b'-', b'>', b'>', ..] => return self.symbol(Symbol::EXTRACT_TEXT, 3),
            [b'-', b'>', ..] => return self.symbol(Symbol::EXTRACT, 2),
            _ => {}
        }
        let is_before_expression = match self.before {
            Before::Nothing | Before::Other => true,
            Before::Word(..) => self.flags_before() & BEFORE_EXPRESSION != 0,
            Before::Quoted | Before::Literal | Before::Close | Before::Dot | Before::At => false,
        };
        if !(is_before_expression && self.literal_ahead()) {
            self.symbol(Symbol(byte), 1);
        }
    }

    pub(super) fn operator(&mut self, byte: u8) {
        let (symbol, bytes) = match self.text[self.at..] {
            [b'<', b'=', b'>', ..] => (Symbol::SAME, 3),
            [b'<', b'=', ..] => (Symbol::AT_MOST, 2),
            [b'>', b'=', ..] => (Symbol::AT_LEAST, 2),
            [b'<', b'>', ..] | [b'!', b'=', ..] => (Symbol::NOT_EQUAL, 2),
            [b'<', b'<', ..] => (Symbol::SHIFT_LEFT, 2),
            [b'>', b'>', ..] => (Symbol::SHIFT_RIGHT, 2),
            [b'&', b'&', ..] => (Symbol::AND, 2),
            [b'|', b'|', ..] => (Symbol::OR, 2),
            [b':', b'=', ..] => (Symbol::ASSIGN, 2),
            _ => (Symbol(byte), 1),
        };
        self.symbol(symbol, bytes);
    }

    /// A byte that may begin or end a comment.
    pub(super) fn comment(&mut self, byte: u8) {
        if self.in_hint && self.text[self.at..].starts_with(b"*/") {
            self.in_hint = false;
            return self.symbol(Symbol::END_OF_HINT, 2);
        }
        if !self.in_hint
            && self.text[self.at..].starts_with(b"/*+")
            && self.flags_before() & TAKES_HINTS != 0
        {
            self.in_hint = true;
            return self.symbol(Symbol::HINT, 3);
        }
        let mut code = self.code;
        match comments::comment_end(self.text, self.at, &mut code) {
            Some(end) => {
                self.code = code;
                self.at = end;
            }
            None => self.symbol(Symbol(byte), 1),
        }
    }

    /// Semicolons at either end, and all but one between two statements, say nothing.
    pub(super) fn semicolon(&mut self) {
        let mut code = self.code;
        let mut at = self.at;
        while self.text.get(at) == Some(&b';') {
            at = self.blanks_end(at + 1, &mut code);
        }
        if at < self.text.len() && !matches!(self.before, Before::Nothing) {
            self.tokens.symbol(Symbol::SEMICOLON);
            self.before = Before::Other;
        }
        self.code = code;
        self.at = at;
    }

    /// `\N` is another name of NULL.
    pub(super) fn backslash(&mut self) {
        match self.literal_at(self.at) {
            Some((end, literal)) if !self.is_part_of_name() => self.literal(end, literal),
            _ => self.symbol(Symbol(b'\\'), 1),
        }
    }
}
