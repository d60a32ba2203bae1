//! A password that cannot be printed.

use std::fmt;

use serde::{Deserialize, Deserializer, de};

/// Text that never shows itself: not in `{:?}`, not in an error about the job.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// The text itself, for the authentication exchange only.
    pub fn reveal(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

impl From<&str> for Secret {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Secret(...)")
    }
}

impl<'de> Deserialize<'de> for Secret {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        // The usual "invalid type" message would quote the value.
        match serde_json::Value::deserialize(input)? {
            serde_json::Value::String(text) => Ok(Self(text)),
            serde_json::Value::Null => Ok(Self::default()),
            _ => Err(de::Error::custom("must be a string (its value is not shown)")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_shows_itself_neither_in_debug_nor_in_an_error() {
        let secret: Secret = serde_json::from_str("\"hunter2\"").unwrap();
        assert_eq!(secret.reveal(), b"hunter2");
        assert_eq!(format!("{secret:?}"), "Secret(...)");
        let error = serde_json::from_str::<Secret>("4242").unwrap_err().to_string();
        assert!(!error.contains("4242"), "{error}");
    }
}
