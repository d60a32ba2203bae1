//! What the lexer hands on, and to whom.

/// An operator, a bracket, or a byte that is neither word nor literal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Symbol(pub u8);

impl Symbol {
    pub const OPEN: Symbol = Symbol(b'(');
    pub const CLOSE: Symbol = Symbol(b')');
    pub const COMMA: Symbol = Symbol(b',');
    pub const DOT: Symbol = Symbol(b'.');
    pub const AT: Symbol = Symbol(b'@');
    pub const SEMICOLON: Symbol = Symbol(b';');
    // Those of several bytes have numbers that no symbol of one byte has: such bytes belong to words.
    pub const NOT_EQUAL: Symbol = Symbol(0x80);
    pub const AT_MOST: Symbol = Symbol(0x81);
    pub const AT_LEAST: Symbol = Symbol(0x82);
    pub const SAME: Symbol = Symbol(0x83);
    pub const SHIFT_LEFT: Symbol = Symbol(0x84);
    pub const SHIFT_RIGHT: Symbol = Symbol(0x85);
    pub const AND: Symbol = Symbol(0x86);
    pub const OR: Symbol = Symbol(0x87);
    pub const ASSIGN: Symbol = Symbol(0x88);
    pub const EXTRACT: Symbol = Symbol(0x89);
    pub const EXTRACT_TEXT: Symbol = Symbol(0x8a);
    pub const HINT: Symbol = Symbol(0x8b);
    pub const END_OF_HINT: Symbol = Symbol(0x8c);

    const LONG: [&'static [u8]; 13] = [
        b"<>", b"<=", b">=", b"<=>", b"<<", b">>", b"&&", b"||", b":=", b"->", b"->>", b"/*+",
        b"*/",
    ];

    pub fn push_to(self, text: &mut Vec<u8>) {
        match self.0.checked_sub(0x80) {
            None => text.push(self.0),
            Some(place) => text.extend_from_slice(Self::LONG[place as usize]),
        }
    }
}

/// A literal, or several with commas between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Literal {
    One,
    Several,
}

/// Where tokens go. Words come as they were written: sinks fold the case of ASCII letters.
pub trait Sink {
    /// An identifier or keyword that can stand without quotes: `text[first..end]`. What is behind it may be
    /// looked at, which lets short words be taken in one piece.
    fn word(&mut self, text: &[u8], first: usize, end: usize);
    /// What was between backticks and cannot stand without them; backticks in it are doubled.
    fn quoted(&mut self, name: &[u8]);
    fn symbol(&mut self, symbol: Symbol);
    fn literal(&mut self, literal: Literal);
    /// A literal in separate brackets.
    fn row(&mut self, literal: Literal);
}
