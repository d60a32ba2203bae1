//! What a byte can begin or continue, one look into a table a byte; and where runs of bytes end.

use memchr::memchr2;

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
pub fn word_end(text: &[u8], mut at: usize) -> usize {
    while let Some(others) = eight_at(text, at).map(others_than_words) {
        if others != 0 {
            return at + others.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    at + text[at..].iter().take_while(|&&byte| is_word(byte)).count()
}

/// The end of the digits that go on at `at`.
#[inline]
pub fn digits_end(text: &[u8], mut at: usize) -> usize {
    while let Some(others) = eight_at(text, at).map(others_than_digits) {
        if others != 0 {
            return at + others.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    at + text[at..].iter().take_while(|byte| byte.is_ascii_digit()).count()
}

/// Where a quote or a backslash is next, from `at` on.
#[inline]
pub fn next_quote(text: &[u8], mut at: usize, quote: u8) -> Option<usize> {
    // Most strings are short, and a search made for long ones takes its time to begin.
    for _ in 0..4 {
        let Some(eight) = eight_at(text, at) else { break };
        let found = equal(eight, quote) | equal(eight, b'\\');
        if found != 0 {
            return Some(at + found.trailing_zeros() as usize / 8);
        }
        at += 8;
    }
    memchr2(quote, b'\\', text.get(at..)?).map(|found| at + found)
}

// Eight bytes at a time, the first of them lowest; what is found is decided by the high bits of bytes.

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x80 * ONES;

#[inline(always)]
fn eight_at(text: &[u8], at: usize) -> Option<u64> {
    text.get(at..at + 8).map(|bytes| u64::from_le_bytes(bytes.try_into().expect("eight bytes")))
}

/// The bytes of `low`, all below 128, that are at least `bound`.
#[inline(always)]
fn reach(low: u64, bound: u8) -> u64 {
    low + u64::from(0x80 - bound) * ONES
}

#[inline(always)]
fn others_than_digits(bytes: u64) -> u64 {
    let low = bytes & !HIGH;
    (!reach(low, b'0') | reach(low, b'9' + 1) | bytes) & HIGH
}

/// The bytes that are this one; behind the first of them others may be found too.
#[inline(always)]
fn equal(bytes: u64, byte: u8) -> u64 {
    let differing = bytes ^ (u64::from(byte) * ONES);
    differing.wrapping_sub(ONES) & !differing & HIGH
}

#[inline(always)]
fn others_than_words(bytes: u64) -> u64 {
    let low = bytes & !HIGH;
    let folded = low | (0x20 * ONES);
    let letters = reach(folded, b'a') & !reach(folded, b'z' + 1);
    let digits = reach(low, b'0') & !reach(low, b'9' + 1);
    let differs = |byte: u8| (low ^ (u64::from(byte) * ONES)) + !HIGH;
    !(letters | digits | !differs(b'_') | !differs(b'$') | bytes) & HIGH
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_end_alike_and_quotes_are_found_alike() {
        for byte in 0..=255_u8 {
            for before in 0..40 {
                let behind = [byte, b'x', b'\'', b' ', b' ', b' ', b' ', b' ', b' '];
                let digits = [vec![b'7'; before], behind.to_vec()].concat();
                assert_eq!(digits_end(&digits, 0), before + usize::from(byte.is_ascii_digit()));
                let is_one = matches!(byte, b'\'' | b'\\');
                let place = if is_one { before } else { before + 2 };
                assert_eq!(next_quote(&digits, 0, b'\''), Some(place), "{byte}");
                assert_eq!(next_quote(&digits, before + 3, b'\''), None);
            }
        }
    }

    #[test]
    fn words_end_alike_eight_bytes_at_a_time_and_one_at_a_time() {
        for byte in 0..=255_u8 {
            for before in 0..20 {
                let text = [vec![b'w'; before], vec![byte], vec![b' '; 8]].concat();
                assert_eq!(word_end(&text, 0), before + usize::from(is_word(byte)), "{byte}");
            }
        }
    }
}
