use proptest::prelude::*;

use super::*;

/// A fingerprint that is not cut.
fn whole(statement: &[u8]) -> Vec<u8> {
    let fingerprint = text(statement, usize::MAX / 2);
    assert!(!fingerprint.is_cut);
    fingerprint.text
}

fn shown(statement: &str) -> String {
    String::from_utf8(whole(statement.as_bytes())).unwrap()
}

#[test]
fn literals_of_every_kind_are_one() {
    for literal in [
        "1",
        "-1",
        "+ 1",
        "- - 1",
        "1.5",
        ".5",
        "1.",
        "1e10",
        "1.5E-3",
        "0x1F",
        "0b01",
        "x'1F'",
        "X'1f'",
        "b'01'",
        "B'01'",
        "'a'",
        "''",
        "'it''s'",
        r"'it\'s'",
        r"'\\'",
        "\"a\"",
        "\"it's\"",
        "N'a'",
        "n'a'",
        "_utf8mb4'a'",
        "_latin1 'a'",
        "_binary 0x1f",
        "_utf8mb4 _latin1 'a'",
        "NULL",
        "null",
        "TRUE",
        "False",
        "?",
        "\\N",
        "-null",
        "(_charset) ?",
        "- _utf8 'a'",
        "+/* c */1",
    ] {
        let statement = format!("SELECT a FROM t WHERE b = {literal} ORDER BY c");
        assert_eq!(shown(&statement), "select a from t where b = ? order by c", "{statement}");
    }
}

/// Pieces that statements are made of, and pieces that try to break them.
fn piece() -> impl Strategy<Value = Vec<u8>> {
    let pieces: Vec<&[u8]> = vec![
        b"select",
        b"a",
        b"T1",
        b"`a`",
        b"`A b`",
        b"`select`",
        b"``",
        b"in",
        b"IN",
        b"values",
        b"VALUE",
        b"row",
        b"is",
        b"not",
        b"set",
        b"null",
        b"true",
        b"limit",
        b"_utf8",
        b"_charset",
        b"(_charset)",
        b"_id",
        b"`_utf8`",
        b"`row`",
        b"x",
        b"n",
        b"(",
        b"(",
        b")",
        b")",
        b",",
        b",",
        b".",
        b"...",
        b"@",
        b"@@",
        b";",
        b"+",
        b"-",
        b"--",
        b"->",
        b"->>",
        b"*",
        b"/",
        b"=",
        b"<=",
        b"<>",
        b"!=",
        b":=",
        b":",
        b"\\",
        b"\\N",
        b"?",
        b"?+)",
        b"(?+)",
        b"1",
        b"2.5",
        b".5",
        b"1e3",
        b"0x1f",
        b"0xg",
        b"1a",
        b"'a'",
        b"'",
        b"\"b\"",
        b"\"",
        b"`",
        b"/*",
        b"*/",
        b"/*!",
        b"/*!50701 ",
        b"/*+",
        b"/* c */",
        b"-- c\n",
        b"#c\n",
        b"\n",
        b"\xe9",
        b"\x95\\",
        b"\0",
        b"|",
        b"||",
        b"{",
        b"~",
        b"$",
        b"N'x'",
        b"on",
    ];
    let any_byte = any::<u8>().prop_map(|byte| vec![byte]);
    prop_oneof![20 => prop::sample::select(pieces).prop_map(<[u8]>::to_vec), 1 => any_byte]
}

fn statement() -> impl Strategy<Value = Vec<u8>> {
    let blank = prop::sample::select(vec![b"".as_slice(), b" "]);
    prop::collection::vec((piece(), blank), 0..25).prop_map(|pieces| {
        pieces.into_iter().flat_map(|(piece, blank)| [&piece, blank].concat()).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn a_fingerprint_is_its_own(statement in statement()) {
        let text = whole(&statement);
        let again = whole(&text);
        prop_assert_eq!(
            String::from_utf8_lossy(&again), String::from_utf8_lossy(&text), "{}", statement.escape_ascii()
        );
        prop_assert_eq!(id(&text), id(&statement));
    }
}
