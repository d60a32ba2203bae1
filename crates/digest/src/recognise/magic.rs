//! Files that are not text, by the bytes that they begin with.
//!
//! Sources: MySQL internals, "Binary log file" (magic, `LOG_EVENT_RELAY_LOG_F`) and `sql/rpl_log_encryption.cc`;
//! InnoDB's `fil0types.h`, `fsp0types.h` (pages) and `log0types.h`/`log0log.h` (redo log); the formats' own
//! specifications for archives.

const BINARY_LOG: &[u8] = b"\xFEbin";

/// What a file with this beginning is, and what reads it.
pub fn named(head: &[u8]) -> Option<&'static str> {
    const BY_MAGIC: &[(&[u8], &str)] = &[
        (b"\xFDbin", "an encrypted binary log: mysqlbinlog --read-from-remote-server reads it"),
        (b"\xFD7zXZ\0", "compressed by xz: give it as `xz -dc FILE | mydyno digest -`"),
        (b"BZh", "compressed by bzip2: give it as `bzip2 -dc FILE | mydyno digest -`"),
        (b"\x04\x22\x4D\x18", "compressed by lz4: give it as `lz4 -dc FILE | mydyno digest -`"),
        (b"PK\x03\x04", "a zip archive: give it as `unzip -p FILE | mydyno digest -`"),
        (
            b"\xFF\xFE",
            "text in UTF-16: give it as `iconv -f UTF-16 -t UTF-8 FILE | mydyno digest -`",
        ),
        (
            b"\xFE\xFF",
            "text in UTF-16: give it as `iconv -f UTF-16 -t UTF-8 FILE | mydyno digest -`",
        ),
        (b"\xFE\xFE\x07", "an index of a MyISAM table: myisamchk looks at it"),
        (b"\x89MYDYNO\n", "a trace of mydyno: `mydyno trace show` reads it"),
        (b"\x7FELF", "a program"),
    ];
    if head.is_empty() {
        return Some("empty: nothing was logged");
    }
    if head.starts_with(BINARY_LOG) {
        return Some(binary_log(head));
    }
    if head.get(257..262) == Some(b"ustar") {
        return Some("a tar archive: give it as `tar -xOf FILE | mydyno digest -`");
    }
    if is_tablespace(head) {
        return Some("a tablespace of InnoDB: innochecksum and ibd2sdi look into it");
    }
    if is_redo_log(head) {
        return Some("InnoDB's redo log: only the server reads it");
    }
    BY_MAGIC.iter().find(|(magic, _)| head.starts_with(magic)).map(|(_, what)| *what)
}

/// Whether hardly anybody would call it text: it holds zero bytes, or more control characters than one in ten.
pub fn is_binary(head: &[u8]) -> bool {
    let controls = head.iter().filter(|&&byte| byte < 32 && !byte.is_ascii_whitespace()).count();
    head.contains(&0) || controls * 10 > head.len()
}

/// The first event describes the format; its flags say whether a replica wrote it.
fn binary_log(head: &[u8]) -> &'static str {
    const FLAGS: usize = BINARY_LOG.len() + 17;
    const RELAY: u8 = 0x40;
    if head.get(FLAGS).is_some_and(|flags| flags & RELAY != 0) {
        "a relay log, which is a binary log on a replica: mysqlbinlog reads it"
    } else {
        "a binary log: mysqlbinlog reads it"
    }
}

/// Page 0 is a space header, which names its space twice.
fn is_tablespace(head: &[u8]) -> bool {
    const SPACE_HEADER: &[u8] = &[0, 8];
    head.len() >= 42
        && head[4..8] == [0; 4]
        && &head[24..26] == SPACE_HEADER
        && head[34..38] == head[38..42]
}

/// A number of the format, and 16 bytes on who made it.
fn is_redo_log(head: &[u8]) -> bool {
    head.get(16..).is_some_and(|creator| {
        head[0] != b'#'
            && [&b"MySQL "[..], b"MariaDB ", b"Percona ", b"Backup "]
                .iter()
                .any(|name| creator.starts_with(name))
            && head[4..8].iter().all(|&byte| byte == 0 || !byte.is_ascii_graphic())
    })
}
