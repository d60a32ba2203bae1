//! The commands that a client sends, each as one packet.

const QUIT: u8 = 0x01;
const QUERY: u8 = 0x03;
const STMT_PREPARE: u8 = 0x16;

/// The largest payload of one packet; every command of the engine is smaller.
pub const MOST_PAYLOAD: usize = 0xff_ffff - 1;

/// Appends one packet: header with sequence number, then what `write` appends.
pub fn packet(sequence: u8, out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend([0, 0, 0, sequence]);
    write(out);
    finish(start, out);
}

/// Fills in the length of the packet that began at `start`.
#[inline]
pub fn finish(start: usize, out: &mut [u8]) {
    let length = out.len() - start - 4;
    debug_assert!(length <= MOST_PAYLOAD, "a command of {length} bytes needs several packets");
    out[start..start + 3].copy_from_slice(&(length as u32).to_le_bytes()[..3]);
}

pub fn query(sql: &[u8], out: &mut Vec<u8>) {
    command(QUERY, sql, out);
}

pub fn prepare(sql: &[u8], out: &mut Vec<u8>) {
    command(STMT_PREPARE, sql, out);
}

pub fn quit(out: &mut Vec<u8>) {
    command(QUIT, &[], out);
}

fn command(code: u8, text: &[u8], out: &mut Vec<u8>) {
    packet(0, out, |out| {
        out.push(code);
        out.extend_from_slice(text);
    });
}
