//! Where comments and blanks end.

use memchr::{memchr, memmem};

use super::bytes::is_blank;

/// The end of the comment that begins at `at`, or of the bracket that opens or closes one whose content is
/// code, as in `/*!50701 code */` and MariaDB's `/*M! code */`; `code` counts those that are open.
pub fn comment_end(text: &[u8], at: usize, code: &mut usize) -> Option<usize> {
    let line_end = || memchr(b'\n', &text[at..]).map_or(text.len(), |found| at + found + 1);
    match text[at..] {
        [b'#', ..] | [b'-', b'-'] => Some(line_end()),
        // Without a blank behind them they are two signs.
        [b'-', b'-', next, ..] if next <= b' ' || next == 0x7f => Some(line_end()),
        [b'/', b'*', b'!', ..] => {
            *code += 1;
            Some(version_end(text, at + 3))
        }
        [b'/', b'*', b'M', b'!', ..] => {
            *code += 1;
            Some(version_end(text, at + 4))
        }
        [b'/', b'*', ..] => {
            let inside = at + 2;
            let end = memmem::find(&text[inside..], b"*/");
            Some(end.map_or(text.len(), |found| inside + found + 2))
        }
        [b'*', b'/', ..] if *code > 0 => {
            *code -= 1;
            Some(at + 2)
        }
        _ => None,
    }
}

/// The end of the version that may begin at `at`: five or six digits.
fn version_end(text: &[u8], at: usize) -> usize {
    let digits = text[at..].iter().take(6).take_while(|byte| byte.is_ascii_digit()).count();
    if digits < 5 { at } else { at + digits }
}

/// The end of blanks and comments that begin at `at`.
pub fn blanks_end(text: &[u8], mut at: usize, code: &mut usize) -> usize {
    while let Some(&byte) = text.get(at) {
        if is_blank(byte) {
            at += 1;
        } else if let Some(end) = comment_end(text, at, code) {
            at = end;
        } else {
            break;
        }
    }
    at
}
