//! What holds for any statement.

use proptest::prelude::*;

use super::*;

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
        b"0X1F",
        b"0B1",
        b"1E5",
        b"1E",
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

fn blank() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![" ", "\n", "\t ", " /* c */ ", " -- c\n", "\r\n", " # c\n"])
}

fn literal() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<i64>().prop_map(|number| number.to_string()),
        (-1e9..1e9).prop_map(|number: f64| format!("{number:e}")),
        "[a-z';\\- ]{0,12}".prop_map(|text| format!("'{}'", text.replace('\'', "''"))),
        "[a-z'\"`(,]{0,12}".prop_map(|text| format!("\"{}\"", text.replace('"', "\\\""))),
        "[0-9a-f]{2,8}".prop_map(|digits| format!("0x{digits}")),
        Just("NULL".to_owned()),
    ]
}

proptest! {
    #[test]
    fn what_says_nothing_changes_no_id(
        blanks in prop::collection::vec(blank(), 40),
        literals in prop::collection::vec(literal(), 4),
        list in prop::collection::vec(literal(), 1..20),
        is_upper: bool,
        is_quoted: bool,
    ) {
        let plain = "select a , f ( b ) from t where c = 1 and d in ( 2 ) and e between 3 and 4 limit 5";
        let list = list.join(",");
        let mut values = literals.iter();
        let words = plain.split(' ').zip(blanks).map(|(word, blank)| {
            let word = match word {
                "1" | "3" | "4" | "5" => values.next().unwrap().clone(),
                "2" => list.clone(),
                _ if is_quoted && "abcdet".contains(word) => format!("`{word}`"),
                _ if is_upper => word.to_uppercase(),
                _ => word.to_owned(),
            };
            word + blank
        });
        let changed: String = words.collect();
        prop_assert_eq!(id(changed.as_bytes()), id(plain.as_bytes()), "{}", changed);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_500))]

    #[test]
    fn ids_are_equal_where_texts_are(one in statement(), other in statement(), cut in 0..60_usize) {
        // Beginnings of a statement are often close to it.
        let beginning = &one[..cut.min(one.len())];
        for other in [&other, beginning] {
            prop_assert_eq!(id(&one) == id(other), whole(&one) == whole(other));
        }
    }

    #[test]
    fn bytes_of_any_kind_have_a_fingerprint(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let text = whole(&bytes);
        prop_assert_eq!(id(&text), id(&bytes));
        crate::passwords::masked(&bytes);
    }
}
