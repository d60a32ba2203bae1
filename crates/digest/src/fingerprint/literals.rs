//! Where literals end.

use super::bytes::{digits_end, is_word, next_quote, word_end};

/// The end of the string whose quote is at `at`; the end of the text where nothing closes it.
pub fn string_end(text: &[u8], at: usize) -> usize {
    let quote = text[at];
    let mut place = at + 1;
    while let Some(found) = next_quote(text, place, quote) {
        place = found;
        if text[place] == quote && text.get(place + 1) != Some(&quote) {
            return place + 1;
        }
        // A backslash and what it escapes, or a doubled quote.
        place += 2;
    }
    text.len()
}

/// The end of the number that begins at `at`; None where the digits begin a name, as in `2fa_codes`.
pub fn number_end(text: &[u8], at: usize) -> Option<usize> {
    let exponent = |from: usize| match text.get(from) {
        Some(b'e' | b'E') => {
            let signed = matches!(text.get(from + 1), Some(b'+' | b'-'));
            let first = from + 1 + usize::from(signed);
            text.get(first).is_some_and(u8::is_ascii_digit).then(|| digits_end(text, first))
        }
        _ => None,
    };
    if text[at] == b'.' {
        let fraction = digits_end(text, at + 1);
        return Some(exponent(fraction).unwrap_or(fraction));
    }
    // Servers read names where the letter is a large one; no name is written so, and case says nothing here.
    if text[at] == b'0' && matches!(text.get(at + 1), Some(b'x' | b'X' | b'b' | b'B')) {
        let end = word_end(text, at);
        let digits = &text[at + 2..end];
        let fits: fn(&u8) -> bool = match text[at + 1] {
            b'x' | b'X' => u8::is_ascii_hexdigit,
            _ => |byte| matches!(byte, b'0' | b'1'),
        };
        return (!digits.is_empty() && digits.iter().all(fits)).then_some(end);
    }
    let whole = digits_end(text, at);
    match text.get(whole) {
        Some(b'.') => {
            let fraction = digits_end(text, whole + 1);
            Some(exponent(fraction).unwrap_or(fraction))
        }
        Some(&byte) if is_word(byte) => exponent(whole),
        _ => Some(whole),
    }
}
