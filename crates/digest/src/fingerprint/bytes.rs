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
pub fn word_end(text: &[u8], mut at: usize) -> usize {
    while let Some(eight) = text.get(at..at + 8) {
        let others = other_bytes(u64::from_le_bytes(eight.try_into().expect("eight bytes")));
        if others != 0 {
            return at + others.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    at + text[at..].iter().take_while(|&&byte| is_word(byte)).count()
}

/// The high bit of each byte that no word has.
#[inline(always)]
fn other_bytes(bytes: u64) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x80 * ONES;
    let low = bytes & !HIGH;
    // The high bits of a sum say which bytes reach a bound; what is above 127 is looked at apart.
    let reach = |low: u64, bound: u8| low + u64::from(0x80 - bound) * ONES;
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
    fn words_end_alike_eight_bytes_at_a_time_and_one_at_a_time() {
        for byte in 0..=255_u8 {
            for before in 0..20 {
                let text = [vec![b'w'; before], vec![byte], vec![b' '; 8]].concat();
                assert_eq!(word_end(&text, 0), before + usize::from(is_word(byte)), "{byte}");
            }
        }
    }
}
