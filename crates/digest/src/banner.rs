//! The three lines that a server writes at the top of a log each time it opens it.
//!
//! ```text
//! /usr/sbin/mysqld, Version: 8.0.36 (MySQL Community Server - GPL). started with:
//! Tcp port: 3306  Unix socket: /run/mysqld/mysqld.sock
//! Time                 Id Command    Argument
//! ```
//!
//! General logs begin with the very same.

use memchr::memmem;

const VERSION: &[u8] = b", Version: ";
const STARTED: &[u8] = b"started with:";

/// The text in front of the banners with which it ends; None when it ends with none.
#[inline]
pub fn without(text: &[u8]) -> Option<&[u8]> {
    if text.ends_with(b"Argument") { strip(text) } else { None }
}

#[cold]
fn strip(text: &[u8]) -> Option<&[u8]> {
    let mut rest = strip_one(text)?;
    while let Some(shorter) = strip_one(rest) {
        rest = shorter;
    }
    Some(rest)
}

fn strip_one(text: &[u8]) -> Option<&[u8]> {
    let (rest, columns) = last_line(text.trim_ascii_end());
    if !columns.starts_with(b"Time") || !columns.ends_with(b"Argument") {
        return None;
    }
    let (rest, port) = last_line(rest);
    if !port.get(..9).is_some_and(|start| start.eq_ignore_ascii_case(b"tcp port:")) {
        return None;
    }
    let (rest, started) = last_line(rest);
    (memmem::find(started, VERSION).is_some() && started.ends_with(STARTED)).then_some(rest)
}

/// The text behind the last banner; None when there is none.
pub fn behind(head: &[u8]) -> Option<&[u8]> {
    let started = memmem::rfind(head, STARTED)?;
    let mut rest = &head[started..];
    for _ in 0..3 {
        rest = memchr::memchr(b'\n', rest).map_or(&[][..], |end| &rest[end + 1..]);
    }
    Some(rest)
}

/// Without its end of line.
fn last_line(text: &[u8]) -> (&[u8], &[u8]) {
    let text = text.strip_suffix(b"\n").unwrap_or(text);
    let begin = memchr::memrchr(b'\n', text).map_or(0, |at| at + 1);
    (&text[..begin], text[begin..].trim_ascii_end())
}

/// What the server of the first banner calls itself: `8.0.36 (MySQL Community Server - GPL)`.
pub fn server(head: &[u8]) -> Option<String> {
    let started = memmem::find(head, STARTED)?;
    let line_begin = memchr::memrchr(b'\n', &head[..started]).map_or(0, |at| at + 1);
    let line = &head[line_begin..started];
    let version = &line[memmem::find(line, VERSION)? + VERSION.len()..];
    let version = version.trim_ascii_end().strip_suffix(b".")?;
    Some(String::from_utf8_lossy(version).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const MYSQL: &str = "/usr/sbin/mysqld, Version: 8.0.36 (MySQL Community Server - GPL). started with:\n\
        Tcp port: 3306  Unix socket: /run/mysqld/mysqld.sock\n\
        Time                 Id Command    Argument\n";
    const WINDOWS: &str = "C:\\mysql\\bin\\mysqld.exe, Version: 5.1.73-log (Source). started with:\r\n\
        TCP Port: 3306, Named Pipe: MySQL\r\nTime                 Id Command    Argument\r\n";

    #[test]
    fn banners_at_the_end_are_cut_off_however_many() {
        let text = format!("SELECT 1;\n{MYSQL}{WINDOWS}{MYSQL}");
        assert_eq!(without(text.trim_ascii_end().as_bytes()), Some(&b"SELECT 1;\n"[..]));
        assert_eq!(without(b"SELECT 'Argument"), None);
        assert_eq!(without(b"Time Argument"), None);
    }

    #[test]
    fn the_first_banner_names_the_server() {
        assert_eq!(server(MYSQL.as_bytes()).unwrap(), "8.0.36 (MySQL Community Server - GPL)");
        assert_eq!(server(WINDOWS.as_bytes()).unwrap(), "5.1.73-log (Source)");
        assert_eq!(server(b"# Time: 1"), None);
    }
}
