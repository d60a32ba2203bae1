//! What a client says of itself in a comment of a statement: sqlcommenter's `/*route='%2Fcart',db_driver='x'*/`
//! behind it (google.github.io/sqlcommenter/spec), and marginalia's `/*application:shop,controller:cart*/`, in
//! front or behind.

use std::borrow::Cow;

use memchr::memmem;

/// The value of `key`, decoded; None where the statement's first and last comments do not have it.
pub fn tag<'a>(statement: &'a [u8], key: &[u8]) -> Option<Cow<'a, [u8]>> {
    let statement = statement.trim_ascii();
    let last = statement.strip_suffix(b"*/").and_then(|text| {
        let begin = memmem::rfind(text, b"/*")?;
        Some(&text[begin + 2..])
    });
    let first = || {
        let text = statement.strip_prefix(b"/*")?;
        Some(&text[..memmem::find(text, b"*/")?])
    };
    last.and_then(|comment| value(comment, key)).or_else(|| value(first()?, key))
}

fn value<'a>(comment: &'a [u8], key: &[u8]) -> Option<Cow<'a, [u8]>> {
    let mut rest = comment.trim_ascii();
    while !rest.is_empty() {
        let name = &rest[..rest.iter().position(|byte| b"=:,".contains(byte))?];
        let (value, behind) = match &rest[name.len()..] {
            [b'=', b'\'', quoted @ ..] => {
                let end = end_of_quoted(quoted)?;
                (&quoted[..end], &quoted[end + 1..])
            }
            [b'=' | b':', plain @ ..] => {
                let end = memchr::memchr(b',', plain).unwrap_or(plain.len());
                (plain[..end].trim_ascii(), &plain[end..])
            }
            _ => return None,
        };
        if decoded(name.trim_ascii()).as_ref() == key {
            return Some(decoded(value));
        }
        rest = behind.trim_ascii_start().strip_prefix(b",")?.trim_ascii_start();
    }
    None
}

fn end_of_quoted(text: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        match text.get(at)? {
            b'\\' => at += 2,
            b'\'' => return Some(at),
            _ => at += 1,
        }
    }
}

/// Without the escapes of URLs and the backslashes in front of quotes.
fn decoded(text: &[u8]) -> Cow<'_, [u8]> {
    if !text.iter().any(|byte| matches!(byte, b'%' | b'\\')) {
        return Cow::Borrowed(text);
    }
    let digit = |at: usize| (*text.get(at)? as char).to_digit(16);
    let mut plain = Vec::with_capacity(text.len());
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        match (byte, digit(at + 1), digit(at + 2)) {
            (b'%', Some(high), Some(low)) => {
                plain.push((high * 16 + low) as u8);
                at += 3;
            }
            (b'\\', ..) if text.get(at + 1) == Some(&b'\'') => at += 1,
            _ => {
                plain.push(byte);
                at += 1;
            }
        }
    }
    Cow::Owned(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value_of(statement: &str, key: &str) -> Option<String> {
        Some(String::from_utf8(tag(statement.as_bytes(), key.as_bytes())?.into_owned()).unwrap())
    }

    #[test]
    fn attributes_of_the_last_and_the_first_comment_are_read_and_decoded() {
        let statement = "/*application:shop,controller:cart*/ SELECT '/*x=y*/' \
             /*action='%2Fcart*',note='it\\'s',traceparent='00-5bd6'*/ ";
        for (key, value) in [
            ("application", "shop"),
            ("controller", "cart"),
            ("action", "/cart*"),
            ("note", "it's"),
            ("traceparent", "00-5bd6"),
        ] {
            assert_eq!(value_of(statement, key).as_deref(), Some(value), "{key}");
        }
        assert_eq!(value_of(statement, "route"), None);
    }

    #[test]
    fn other_comments_report_nothing() {
        for statement in
            ["select 1", "select 1 /* a comment */", "select 1 /*a='", "/* = */ select 1", "/*a"]
        {
            assert_eq!(value_of(statement, "a"), None, "{statement}");
        }
    }
}
