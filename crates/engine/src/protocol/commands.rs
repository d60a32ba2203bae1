//! The commands that a client sends, each as one packet.

const QUIT: u8 = 0x01;
const INIT_DB: u8 = 0x02;
const QUERY: u8 = 0x03;
const STMT_PREPARE: u8 = 0x16;
const STMT_CLOSE: u8 = 0x19;

/// A payload of this length fills a packet and is continued in the next one.
const FULL: usize = 0xff_ffff;
/// The largest payload of a packet that is not continued.
pub const MOST_PAYLOAD: usize = FULL - 1;

/// Appends one packet: header with sequence number, then what `write` appends.
pub fn packet(sequence: u8, out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend([0, 0, 0, sequence]);
    write(out);
    finish(start, out);
}

/// Fills in the length of the packet that began at `start`, and cuts it into several if it is too long
/// for one.
#[inline]
pub fn finish(start: usize, out: &mut Vec<u8>) {
    let length = out.len() - start - 4;
    if length > MOST_PAYLOAD {
        return cut(start, out);
    }
    out[start..start + 3].copy_from_slice(&(length as u32).to_le_bytes()[..3]);
}

#[cold]
fn cut(start: usize, out: &mut Vec<u8>) {
    let payload = out.split_off(start + 4);
    let mut sequence = out[start + 3];
    out.truncate(start);
    // A last payload that fills its packet is followed by an empty one.
    for number in 0..=payload.len() / FULL {
        let piece = &payload[number * FULL..payload.len().min((number + 1) * FULL)];
        out.extend(&(piece.len() as u32).to_le_bytes()[..3]);
        out.push(sequence);
        out.extend_from_slice(piece);
        sequence = sequence.wrapping_add(1);
    }
}

/// The number of the first packet that answers what was sent: that of the last sent one and 1.
#[inline]
pub fn answer_number(sent: &[u8]) -> u8 {
    if sent.len() <= FULL { 1 } else { number_after(sent) }
}

#[cold]
fn number_after(sent: &[u8]) -> u8 {
    // A payload that fills its packets is followed by an empty one.
    ((sent.len() - 1) / (FULL + 4) + 1) as u8
}

pub fn query(sql: &[u8], out: &mut Vec<u8>) {
    command(QUERY, sql, out);
}

/// Makes a schema the session's.
pub fn init_db(name: &[u8], out: &mut Vec<u8>) {
    command(INIT_DB, name, out);
}

pub fn prepare(sql: &[u8], out: &mut Vec<u8>) {
    command(STMT_PREPARE, sql, out);
}

/// Gives a prepared statement up. The server does not answer.
pub fn close_statement(statement_id: u32, out: &mut Vec<u8>) {
    command(STMT_CLOSE, &statement_id.to_le_bytes(), out);
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
