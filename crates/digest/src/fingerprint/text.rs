//! The sink that writes a fingerprint down.
//!
//! What it writes is read back as the same tokens, so that a fingerprint is its own fingerprint.

use super::Fingerprint;
use super::keywords::{self, CALLS};
use super::token::{Literal, Sink, Symbol};

/// What was written last, as far as the next token's white space depends on it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    Nothing,
    /// A name, or a function's, whose brackets stand close behind it.
    Name,
    Keyword,
    Literal,
    /// A bracket, a dot or an @, which what follows touches.
    Touching,
    Other,
}

pub struct Text {
    text: Vec<u8>,
    most_bytes: usize,
    last: Last,
}

impl Text {
    pub fn new(most_bytes: usize) -> Self {
        Self { text: Vec::new(), most_bytes, last: Last::Nothing }
    }

    pub fn finish(mut self) -> Fingerprint {
        let is_cut = self.text.len() > self.most_bytes;
        self.text.truncate(self.most_bytes);
        self.text.shrink_to_fit();
        Fingerprint { text: self.text, is_cut }
    }

    fn is_full(&self) -> bool {
        self.text.len() > self.most_bytes
    }

    fn space(&mut self) {
        if !matches!(self.last, Last::Nothing | Last::Touching) {
            self.text.push(b' ');
        }
    }

    fn is_after_name(&self) -> bool {
        matches!(self.last, Last::Name | Last::Keyword)
    }

    fn open(&mut self) {
        if self.last != Last::Name {
            self.space();
        }
        self.text.push(b'(');
        self.last = Last::Touching;
    }
}

impl Sink for Text {
    fn word(&mut self, text: &[u8], first: usize, end: usize) {
        if self.is_full() {
            return;
        }
        let word = &text[first..end];
        self.space();
        let first = self.text.len();
        let most = word.len().min(self.most_bytes + 1);
        self.text.extend_from_slice(&word[..most]);
        self.text[first..].make_ascii_lowercase();
        self.last = match keywords::find(word) {
            Some(keyword) if keyword.flags & CALLS == 0 => Last::Keyword,
            _ => Last::Name,
        };
    }

    fn quoted(&mut self, name: &[u8]) {
        if self.is_full() {
            return;
        }
        self.space();
        let first = self.text.len();
        let most = name.len().min(self.most_bytes + 1);
        self.text.push(b'`');
        self.text.extend_from_slice(&name[..most]);
        self.text.push(b'`');
        self.text[first..].make_ascii_lowercase();
        self.last = Last::Name;
    }

    fn symbol(&mut self, symbol: Symbol) {
        if self.is_full() {
            return;
        }
        let touches_next = match symbol {
            Symbol::OPEN => return self.open(),
            Symbol::COMMA | Symbol::CLOSE | Symbol::SEMICOLON => false,
            // What is not part of a name keeps its distance, else `? .5` would be read for `? . 5`.
            Symbol::DOT if self.is_after_name() => true,
            Symbol::AT => {
                if self.last != Last::Literal {
                    self.space();
                }
                true
            }
            Symbol::DOT => {
                self.text.push(b' ');
                false
            }
            _ => {
                self.space();
                false
            }
        };
        symbol.push_to(&mut self.text);
        self.last = if touches_next { Last::Touching } else { Last::Other };
    }

    fn literal(&mut self, literal: Literal) {
        if self.is_full() {
            return;
        }
        self.space();
        self.text.extend_from_slice(match literal {
            Literal::One => b"?".as_slice(),
            Literal::Several => b"?, ...",
        });
        self.last = Last::Literal;
    }

    fn row(&mut self, literal: Literal) {
        if self.is_full() {
            return;
        }
        self.open();
        self.text.extend_from_slice(match literal {
            Literal::One => b"?)".as_slice(),
            Literal::Several => b"?+)",
        });
        self.last = Last::Other;
    }
}
