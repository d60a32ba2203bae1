//! Passwords and keys that statements carry never leave the engine: in examples they are masked.
//!
//! Fingerprints show no literals, so examples are the one place where they could. Rather a harmless string
//! too many is masked than a password is shown. Sources: MySQL's manual, "Passwords and Logging"; MariaDB's
//! on CREATE USER, CREATE SERVER, CHANGE MASTER TO and its encryption functions.

use std::sync::LazyLock;

use regex::bytes::Regex;

use memchr::{memchr, memchr3, memmem, memrchr};

use crate::fingerprint::bytes::{is_blank, is_word, word_end};
use crate::fingerprint::comments::{blanks_end, comment_end};
use crate::fingerprint::literals::string_end;

const MASK: &[u8] = b"***";
const MASKED_COMMENT: &[u8] = b"/* *** */";

/// What names a password has, as a whole or within a word (`MASTER_PASSWORD`, `password_hash`).
const NAMES: [&[u8]; 3] = [b"password", b"passwd", b"authentication_string"];

/// What a part of such a word, between underscores, ends with: `user_pass`, `dbpwd`, `token_hash`.
const ENDINGS: [&[u8]; 5] = [b"pass", b"passphrase", b"pwd", b"secret", b"token"];

/// Words without an underscore.
const KEYS: [&[u8]; 2] = [b"apikey", b"api_key"];

/// Functions that take a key, or what must not be read without one.
const KEYED: [&[u8]; 7] = [
    b"aes_encrypt",
    b"aes_decrypt",
    b"des_encrypt",
    b"des_decrypt",
    b"encode",
    b"decode",
    b"encrypt",
];

/// Statements that name a password in front of its value; in others it may be any string that follows.
const VALUE_FOLLOWS: [&[u8]; 5] = [b"select", b"update", b"delete", b"with", b"explain"];

/// Words and symbols that may be between a password's name and its value.
const BETWEEN: [&[u8]; 12] =
    [b"=", b"(", b",", b":", b"<", b">", b"!", b"`", b"is", b"like", b"in", b"binary"];

/// Which strings are masked.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Masked {
    None,
    /// The one that follows, or the arguments of the function that does.
    Value,
    /// Those in the bracket that opens at this depth.
    Arguments(usize),
    /// All that follow.
    Rest,
}

/// Whether [`masked`] may change the statement: a look that costs less.
pub fn may_be_masked(statement: &[u8]) -> bool {
    static SIGNS: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(
            "(?i-u)pass|pwd|secret|token|identified|authentication_string|apikey|api_key|encode|decode|crypt|://",
        )
        .expect("it is a pattern")
    });
    SIGNS.is_match(statement)
}

/// The statement, or its beginning, with passwords and keys masked.
pub fn masked(statement: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(statement.len());
    let mut masked = Masked::None;
    let value_follows = value_follows(statement);
    let (mut at, mut code, mut depth) = (0, 0, 0_usize);
    while let Some(&byte) = statement.get(at) {
        let end;
        if matches!(byte, b'\'' | b'"') {
            end = string_end(statement, at);
            if masked == Masked::None && !may_reveal(&statement[at..end]) {
                push_text(&mut text, &statement[at..end]);
            } else {
                text.extend_from_slice(&[&[byte], MASK, &[byte]].concat());
            }
        } else if let Some(comment) = comment_end(statement, at, &mut code) {
            end = comment;
            let shown = &statement[at..end];
            if may_reveal(shown) {
                text.extend_from_slice(MASKED_COMMENT);
            } else {
                push_text(&mut text, shown);
            }
        } else {
            end = if is_word(byte) { word_end(statement, at) } else { at + 1 };
            let word = &statement[at..end];
            // A hash may be written in hexadecimal digits, a token in decimal ones.
            let is_shown = masked == Masked::None
                || !(word.starts_with(b"0x") || masked == Masked::Value && byte.is_ascii_digit());
            text.extend_from_slice(if is_shown { word } else { MASK });
            match byte {
                b'(' => depth += 1,
                b')' => depth = depth.saturating_sub(1),
                _ => {}
            }
            if !is_blank(byte) {
                let next = statement[end..].trim_ascii_start().first();
                masked = match (masked, next) {
                    (Masked::Value, Some(b'('))
                        if byte.is_ascii_alphabetic() && !is_between(word) =>
                    {
                        Masked::Arguments(depth)
                    }
                    // The letter or character set in front of a string.
                    (Masked::Value, Some(b'\'' | b'"')) if is_word(byte) => masked,
                    _ => behind(word, masked, depth, value_follows),
                };
            }
        }
        at = end;
    }
    text
}

/// What is masked behind a word or symbol, with `depth` brackets open.
fn behind(word: &[u8], before: Masked, depth: usize, value_follows: bool) -> Masked {
    let is_one_of = |words: &[&[u8]]| words.iter().any(|other| word.eq_ignore_ascii_case(other));
    match before {
        Masked::Rest => Masked::Rest,
        Masked::Arguments(outside) if depth > outside => before,
        _ if word.eq_ignore_ascii_case(b"identified") => Masked::Rest,
        _ if is_name(word) => {
            if value_follows {
                Masked::Value
            } else {
                Masked::Rest
            }
        }
        _ if is_one_of(&KEYED) => Masked::Arguments(depth),
        Masked::Value if is_between(word) => Masked::Value,
        _ => Masked::None,
    }
}

fn is_between(word: &[u8]) -> bool {
    BETWEEN.iter().any(|other| word.eq_ignore_ascii_case(other))
}

/// Whether a column, an option or a parameter of this name may hold a password or a key.
pub fn is_name(word: &[u8]) -> bool {
    let word = word.to_ascii_lowercase();
    holds_one_of(&word, &NAMES)
        || holds_one_of(&word, &KEYS)
        || word.split(|byte| !byte.is_ascii_alphanumeric()).any(|part| {
            let part = part.trim_ascii_end();
            ENDINGS.iter().any(|ending| part.ends_with(ending))
        })
}

/// The text of a string or comment with the secrets of URLs in it masked: the values of query parameters whose
/// names are those of secrets, and what is between `user:` and `@host`.
fn push_text(text: &mut Vec<u8>, shown: &[u8]) {
    let mut at = 0;
    while let Some(found) = memchr3(b'?', b'&', b':', &shown[at..]) {
        let mark = at + found;
        let secret = match shown[mark] {
            b':' => password_of_url(shown, mark),
            _ => parameter_of_url(shown, mark + 1),
        };
        let (begin, end) = secret.unwrap_or((mark + 1, mark + 1));
        text.extend_from_slice(&shown[at..begin]);
        if secret.is_some() {
            text.extend_from_slice(MASK);
        }
        at = end;
    }
    text.extend_from_slice(&shown[at..]);
}

/// Where the value of the parameter that begins at `at` is, if it is a secret.
fn parameter_of_url(text: &[u8], at: usize) -> Option<(usize, usize)> {
    let name = &text[at..][..name_bytes(&text[at..])];
    let begin = at + name.len() + 1;
    (text.get(begin - 1) == Some(&b'=') && is_name(name)).then(|| (begin, value_end(text, begin)))
}

fn name_bytes(text: &[u8]) -> usize {
    text.iter().take_while(|byte| byte.is_ascii_alphanumeric() || b"_-.[]%".contains(byte)).count()
}

fn value_end(text: &[u8], begin: usize) -> usize {
    let ends = |byte: &u8| byte.is_ascii_whitespace() || b"&#;'\"\\<>*".contains(byte);
    text[begin..].iter().position(ends).map_or(text.len(), |length| begin + length)
}

/// `://user:password@host`: where the password is, if the colon at `mark` is that of the scheme.
fn password_of_url(text: &[u8], mark: usize) -> Option<(usize, usize)> {
    let host = text[mark..].strip_prefix(b"://").map(|_| mark + 3)?;
    let ends = |byte: &u8| byte.is_ascii_whitespace() || b"/?#'\"\\".contains(byte);
    let end = text[host..].iter().position(ends).map_or(text.len(), |length| host + length);
    let at = host + memrchr(b'@', &text[host..end])?;
    let colon = host + memchr(b':', &text[host..at])?;
    Some((colon + 1, at))
}

fn value_follows(statement: &[u8]) -> bool {
    let first = blanks_end(statement, 0, &mut 0);
    let word = &statement[first..word_end(statement, first)];
    VALUE_FOLLOWS.iter().any(|other| word.eq_ignore_ascii_case(other))
}

/// Whether a string or comment may hold a statement with a password, as in PREPARE s FROM '...'.
fn may_reveal(text: &[u8]) -> bool {
    holds_one_of(text, &[b"identified", b"password"])
}

fn holds_one_of(text: &[u8], names: &[&[u8]]) -> bool {
    let text = text.to_ascii_lowercase();
    names.iter().any(|name| memmem::find(&text, name).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(statement: &str) -> String {
        String::from_utf8(masked(statement.as_bytes())).unwrap()
    }

    #[test]
    fn no_way_to_give_a_server_a_password_shows_it() {
        for statement in [
            "CREATE USER 'u'@'h' IDENTIFIED BY 'hunter2'",
            "create user u identified with mysql_native_password as '*hunter2'",
            "ALTER USER u IDENTIFIED BY 'hunter2' REPLACE \"hunter2\" RETAIN CURRENT PASSWORD",
            "CREATE USER a IDENTIFIED VIA ed25519 USING PASSWORD('hunter2') OR unix_socket",
            "GRANT ALL ON *.* TO u IDENTIFIED BY PASSWORD '*hunter2'",
            "SET PASSWORD FOR 'u'@'h' = PASSWORD('hunter2')",
            "SET PASSWORD FOR u@h = 'hunter2'",
            "set password='hunter2'",
            "CHANGE MASTER TO MASTER_HOST='h', MASTER_PASSWORD='hunter2', MASTER_PORT=1",
            "CHANGE REPLICATION SOURCE TO SOURCE_PASSWORD = 'hunter2'",
            "START REPLICA USER='u' PASSWORD='hunter2'",
            "CREATE SERVER s FOREIGN DATA WRAPPER mysql OPTIONS (USER 'u', PASSWORD 'hunter2')",
            "SELECT AES_ENCRYPT(secret, concat('hunter2', x)) FROM t",
            "select PASSWORD('hunter2')",
            "UPDATE mysql.user SET authentication_string = 'hunter2' WHERE user = 'u'",
            "UPDATE users SET password = 'hunter2', name = 'n' WHERE id = 1",
            "INSERT INTO users (name, password_hash) VALUES ('n', 'hunter2'), ('m', 'hunter2')",
            "PREPARE s FROM 'CREATE USER u IDENTIFIED BY ''hunter2'''",
            "SELECT 1 /* IDENTIFIED BY 'hunter2' */",
            "/*!50701 CREATE USER u IDENTIFIED BY 'hunter2' */",
            "CREATE USER u IDENTIFIED BY 'hunter2",
            "CREATE USER u IDENTIFIED /* it's */ BY 'hunter2'",
            "CREATE USER u IDENTIFIED WITH caching_sha2_password AS 0xhunter2",
            "select * from users where password in ('a', 'hunter2')",
            "select * from users where `password` = 'hunter2'",
            "select * from users where u.pass='hunter2'",
            "select * from users where name = 'n' and pwd = \"hunter2\"",
            "select * from sessions where token = 'hunter2'",
            "select * from sessions where token = 0xhunter2",
            "update wp_users set user_pass = 'hunter2' where id = 1",
            "select 1 from users where user_pass = MD5('hunter2')",
            "select 1 from users where pass = _utf8mb4'hunter2' or pass = N'hunter2'",
            "select 1 from t where access_token like 'hunter2%'",
            "insert into sessions (id, api_key) values (1, 'hunter2')",
            "insert into visits values (1, 'https://shop/?id=1&token=hunter2&page=2')",
            "insert into visits values (1, 'https://shop/?user_pass=hunter2')",
            "select 1 from t where url = 'https://ann:hunter2@shop/page'",
            "select 1 /* GET /login?pwd=hunter2 */",
        ] {
            let shown = shown(statement);
            assert!(!shown.contains("hunter2"), "{statement} is shown as {shown}");
            assert!(shown.contains("***"), "{statement} is shown as {shown}");
            assert!(may_be_masked(statement.as_bytes()), "{statement}");
        }
    }

    #[test]
    fn what_holds_none_is_shown_as_it_was() {
        for statement in [
            "select * from t where name = 'it''s' and x = \"a\\\"b\" -- 'comment'\n and y = 0x12",
            "select password, name from users where name = 'bob'",
            "insert into t values ('a', 1), ('b', 2)",
            "select 'unterminated",
            "select * from passengers where passport = 'x' and tokens = 2",
            "select 'https://shop/?id=1&page=2', 'a:b@c', '12:30' from t",
        ] {
            assert_eq!(shown(statement), statement);
        }
    }
}
