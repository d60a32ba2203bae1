//! Text of a server without the characters that a terminal obeys: ECMA-48's control characters and the
//! bidirectional controls of Unicode.

fn is_obeyed(one: char) -> bool {
    let marks = ['\u{61c}', '\u{200e}', '\u{200f}', '\u{2028}', '\u{2029}'];
    one.is_control()
        || marks.contains(&one)
        || matches!(one, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// JSON with the same value and without such characters, which are in its strings only.
pub fn json(text: String) -> String {
    escaped(text, |one| format!("\\u{:04x}", u32::from(one)))
}

/// A line of text in which they are written out.
pub fn line(text: String) -> String {
    escaped(text, |one| one.escape_default().to_string())
}

/// The same for text of several lines, such as a message with a hint.
pub fn lines(text: &str) -> String {
    let all: Vec<String> = text.split('\n').map(|one| line(one.into())).collect();
    all.join("\n")
}

fn escaped(text: String, write: fn(char) -> String) -> String {
    if !text.contains(is_obeyed) {
        return text;
    }
    let written = text.chars().map(|one| if is_obeyed(one) { write(one) } else { one.into() });
    written.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_obeys_is_written_out() {
        let text = "a\u{1b}[2J\u{9b}31m\u{202e}\u{7f}é\n";
        assert_eq!(line(text.into()), "a\\u{1b}[2J\\u{9b}31m\\u{202e}\\u{7f}é\\n");
        let value = serde_json::Value::from(text);
        let shown = json(value.to_string());
        assert!(!shown.contains(is_obeyed), "{shown}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).unwrap(), value);
    }
}
