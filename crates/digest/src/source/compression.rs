//! What a source is packed with, recognized by its first bytes: names lie (`slow.log.1` may be either).

use crate::message::Compression;

/// The first bytes, as many as distinguish the formats.
pub const MAGIC_BYTES: usize = 6;

/// What is packed in a way that is not read here, in words with the way out.
type Foreign = &'static str;

/// How to unpack what begins with `head`. RFC 1952, 2.3.1; RFC 8878, 3.1.1 and 3.1.2; file(1)'s magic.
pub fn compression_of(head: &[u8]) -> Result<Compression, Foreign> {
    match head {
        [0x1f, 0x8b, ..] => Ok(Compression::Gzip),
        [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Ok(Compression::Zstd),
        [b'B', b'Z', b'h', b'1'..=b'9', ..] => {
            Err("this is packed by bzip2, which is not read here: bzcat FILE | mydyno digest -")
        }
        [0xfd, b'7', b'z', b'X', b'Z', 0x00, ..] => {
            Err("this is packed by xz, which is not read here: xzcat FILE | mydyno digest -")
        }
        [0x04, 0x22, 0x4d, 0x18, ..] => {
            Err("this is packed by lz4, which is not read here: lz4cat FILE | mydyno digest -")
        }
        [b'P', b'K', 0x03, 0x04, ..] => {
            Err("this is a zip archive, which is not read here: unzip -p FILE | mydyno digest -")
        }
        _ => Ok(Compression::None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gzip_and_zstd_are_known_by_their_first_bytes() {
        assert_eq!(compression_of(b"\x1f\x8b\x08\0"), Ok(Compression::Gzip));
        assert_eq!(compression_of(b"\x28\xb5\x2f\xfd\0"), Ok(Compression::Zstd));
        assert_eq!(
            compression_of(b"\x50\x2a\x4d\x18\0"),
            Ok(Compression::Zstd),
            "a skippable frame"
        );
        assert_eq!(compression_of(b"# Time: 1"), Ok(Compression::None));
        assert_eq!(compression_of(b""), Ok(Compression::None));
    }

    #[test]
    fn other_packers_are_named_with_the_command_that_unpacks() {
        for (head, command) in [
            (&b"BZh91AY"[..], "bzcat"),
            (b"\xfd7zXZ\0", "xzcat"),
            (b"\x04\x22\x4d\x18", "lz4cat"),
            (b"PK\x03\x04\0\0", "unzip -p"),
        ] {
            assert!(compression_of(head).unwrap_err().contains(command));
        }
    }
}
