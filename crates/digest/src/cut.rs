//! Where a log can be cut so that the parts are read as the whole would be.

use memchr::memrchr;

use crate::line::{BYTE_ORDER_MARK, is_header, may_be_header};

/// The last place > 0 where an entry begins: all before it are whole entries. None when there is no such place.
///
/// What is offered is certain without reading what is before: a header line behind a line that can stand in
/// no header. Whatever entry that line belongs to, its header has ended, so a header line begins the next.
/// An entry behind a statement that ends with a line like `# word: more` is not offered.
pub fn cut(buffer: &[u8]) -> Option<usize> {
    let mut end = buffer.len();
    while let Some(newline) = memrchr(b'\n', &buffer[..end]) {
        let begin = newline + 1;
        if buffer.get(begin) == Some(&b'#')
            && is_header(&buffer[begin..])
            && !is_in_header(&buffer[..begin])
        {
            return Some(begin);
        }
        end = newline;
    }
    None
}

/// Whether the last line of a text, which ends with an end of line, can be one of a header.
fn is_in_header(text: &[u8]) -> bool {
    let line = match memrchr(b'\n', &text[..text.len() - 1]) {
        Some(before) => &text[before + 1..],
        // Perhaps the first of the log.
        None => text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text),
    };
    line.starts_with(b"#") && may_be_header(line)
}
