//! The server's public key, with which a password is encrypted where the connection is not.
//!
//! Only a key that the user names is taken: one that comes over the same unprotected connection may be
//! anybody's.

use std::fmt;

use mysql_common::crypto::rsa::PublicKey;
use serde::{Deserialize, Deserializer, de};

/// A shorter key can be factored: RSA of 829 bits was in 2020 (RSA-250), and NIST SP 800-131A refuses
/// fewer than 2048.
const LEAST_BITS: u64 = 2048;
/// A longer one would hold a reactor for long.
const MOST_BITS: u64 = 16_384;

/// An RSA public key in PEM, of 2048 bits or more.
#[derive(Clone, PartialEq, Eq)]
pub struct ServerKey(String);

impl ServerKey {
    /// Reads a key as the server writes it into `public_key.pem`.
    ///
    /// # Errors
    /// A sentence about what is wrong with it.
    pub fn parse(pem: &str) -> Result<Self, String> {
        check_shape(pem)?;
        let key = PublicKey::from_pem(pem).map_err(|error| error.to_string())?;
        let bits = key.modulus().bits();
        if !(LEAST_BITS..=MOST_BITS).contains(&bits) {
            return Err(format!(
                "an RSA key of {bits} bits; from {LEAST_BITS} to {MOST_BITS} are taken"
            ));
        }
        // With an exponent of 1 or 2 nothing is encrypted.
        if key.exponent().bits() < 2 || !key.exponent().bit(0) {
            return Err("an RSA key with an exponent below 3".to_owned());
        }
        Ok(Self(pem.to_owned()))
    }

    pub fn pem(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

impl fmt::Debug for ServerKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("ServerKey(...)")
    }
}

impl<'de> Deserialize<'de> for ServerKey {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(input)?).map_err(de::Error::custom)
    }
}

/// Whether every length in the DER fits: mysql_common's reader trusts them.
fn check_shape(pem: &str) -> Result<(), String> {
    let broken = || "no RSA public key in PEM (BEGIN PUBLIC KEY)".to_owned();
    let (der, kind) = mysql_common::crypto::der::pem_to_der(pem).map_err(|_| broken())?;
    let key = match kind {
        mysql_common::crypto::der::PubKeyFileType::Pkcs1 => der.as_slice(),
        mysql_common::crypto::der::PubKeyFileType::Pkcs8 => {
            let (body, _) = element(&der, SEQUENCE).ok_or_else(broken)?;
            let (_algorithm, rest) = element(body, SEQUENCE).ok_or_else(broken)?;
            let (bits, _) = element(rest, BIT_STRING).ok_or_else(broken)?;
            bits.split_first().ok_or_else(broken)?.1
        }
    };
    let (body, _) = element(key, SEQUENCE).ok_or_else(broken)?;
    let (_modulus, rest) = element(body, INTEGER).ok_or_else(broken)?;
    element(rest, INTEGER).ok_or_else(broken).map(drop)
}

const INTEGER: u8 = 0x02;
const BIT_STRING: u8 = 0x03;
const SEQUENCE: u8 = 0x30;

/// The content of a DER element with this tag, and what follows it (X.690, 8.1).
fn element(der: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let (&[found, length], mut rest) = der.split_first_chunk::<2>()?;
    if found != tag {
        return None;
    }
    let mut length = usize::from(length);
    if length >= 0x80 {
        let (bytes, after) = rest.split_at_checked(length - 0x80)?;
        if bytes.is_empty() || bytes.len() > 4 {
            return None;
        }
        length = bytes.iter().fold(0, |sum, &byte| sum << 8 | usize::from(byte));
        rest = after;
    }
    if length == 0 { None } else { rest.split_at_checked(length) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::handshake::tests::{PUBLIC_KEY, SHORT_KEY};
    use proptest::prelude::*;

    #[test]
    fn a_key_of_2048_bits_is_taken_and_a_shorter_one_is_not() {
        ServerKey::parse(PUBLIC_KEY).unwrap();
        let reason = ServerKey::parse(SHORT_KEY).unwrap_err();
        assert!(reason.contains("1024 bits"), "{reason}");
    }

    #[test]
    fn what_is_no_key_is_refused() {
        let certificate = PUBLIC_KEY.replace("PUBLIC KEY", "CERTIFICATE");
        for text in [
            "",
            "no key",
            &certificate,
            "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----",
        ] {
            ServerKey::parse(text).unwrap_err();
        }
    }

    proptest! {
        #[test]
        fn no_key_with_a_broken_byte_makes_the_engine_panic(
            at in any::<prop::sample::Index>(), letter in "[A-Za-z0-9+/=]",
        ) {
            let at = at.index(PUBLIC_KEY.len());
            let mut broken = PUBLIC_KEY.to_owned();
            broken.replace_range(at..=at, &letter);
            let _ = ServerKey::parse(&broken);
        }
    }
}
