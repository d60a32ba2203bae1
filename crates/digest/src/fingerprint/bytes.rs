//! What a byte can begin or continue: one look into a table a byte.

/// What a token that begins with a byte may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Class {
    /// A byte that stands for itself.
    Symbol,
    Blank,
    Letter,
    /// A letter that may begin a literal, or a word that the lexer has to look at.
    Special,
    Digit,
    Quote,
    Backtick,
    Question,
    Open,
    Close,
    Comma,
    Dot,
    At,
    Sign,
    /// The beginning of an operator that may have several bytes.
    Operator,
    Slash,
    Star,
    Hash,
    Semicolon,
    Backslash,
}

const fn classes() -> [Class; 256] {
    let mut classes = [Class::Symbol; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = match byte as u8 {
            b' ' | b'\t'..=b'\r' => Class::Blank,
            // Charset introducers; B'', N'', X''; false, null, row, true.
            b'_' | b'b' | b'B' | b'n' | b'N' | b'x' | b'X' => Class::Special,
            b'f' | b'F' | b'r' | b'R' | b't' | b'T' => Class::Special,
            b'a'..=b'z' | b'A'..=b'Z' | b'$' | 0x80..=0xff => Class::Letter,
            b'0'..=b'9' => Class::Digit,
            b'\'' | b'"' => Class::Quote,
            b'`' => Class::Backtick,
            b'?' => Class::Question,
            b'(' => Class::Open,
            b')' => Class::Close,
            b',' => Class::Comma,
            b'.' => Class::Dot,
            b'@' => Class::At,
            b'-' | b'+' => Class::Sign,
            b'<' | b'>' | b'!' | b'&' | b'|' | b':' => Class::Operator,
            b'/' => Class::Slash,
            b'*' => Class::Star,
            b'#' => Class::Hash,
            b';' => Class::Semicolon,
            b'\\' => Class::Backslash,
            _ => Class::Symbol,
        };
        byte += 1;
    }
    classes
}

static CLASSES: [Class; 256] = classes();

#[inline(always)]
pub fn class(byte: u8) -> Class {
    CLASSES[byte as usize]
}

/// Whether a word goes on with this byte.
#[inline(always)]
pub fn is_word(byte: u8) -> bool {
    matches!(class(byte), Class::Letter | Class::Special | Class::Digit)
}

#[inline]
pub fn is_blank(byte: u8) -> bool {
    class(byte) == Class::Blank
}

/// The end of the word that goes on at `at`.
#[inline]
pub fn word_end(text: &[u8], at: usize) -> usize {
    text[at..].iter().position(|&byte| !is_word(byte)).map_or(text.len(), |length| at + length)
}
