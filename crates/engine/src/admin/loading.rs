//! LOAD DATA LOCAL of a file that is made while it is sent.
//!
//! <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_com_query_response_local_infile_request.html>

use super::Admin;
use crate::protocol::frames::Packet;
use crate::protocol::response::{LOCAL_INFILE, Outcome, Response, warnings};
use crate::protocol::{ServerError, code, commands};

/// What the server made of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loaded {
    /// Rows that it took.
    pub rows: u64,
    pub warnings: u16,
}

impl Admin {
    /// Runs a LOAD DATA LOCAL statement. `next` appends the next piece of the file (at most
    /// [`commands::MOST_PAYLOAD`] bytes, and no more than the server's `max_allowed_packet`), or
    /// nothing at its end.
    ///
    /// # Errors
    /// The server's, or that of a lost connection.
    pub fn load(
        &mut self,
        sql: &[u8],
        mut next: impl FnMut(&mut Vec<u8>),
    ) -> Result<Loaded, ServerError> {
        self.ask(sql)?;
        let (mut length, mut sequence) = self.read_packet()?;
        let wants_file = self.input.first() == Some(&LOCAL_INFILE);
        if wants_file {
            loop {
                sequence = sequence.wrapping_add(1);
                self.output.clear();
                commands::packet(sequence, &mut self.output, &mut next);
                self.begin_waiting();
                self.flush()?;
                // An empty packet ends the file.
                if self.output[..3] == [0, 0, 0] {
                    break;
                }
            }
            self.next_number = sequence.wrapping_add(1);
            (length, sequence) = self.read_packet()?;
        }
        let packet = Packet { length, sequence, head: &self.input };
        match Response::to_query(self.session.no_eof).take(packet) {
            Some(Outcome::Done { rows }) if wants_file => {
                Ok(Loaded { rows, warnings: warnings(&self.input) })
            }
            Some(Outcome::Failed(error)) => Err(error),
            // Whoever calls counts on the file's having been sent.
            _ => Err(ServerError::new(
                code::MALFORMED_PACKET,
                "the server did not request the file of LOAD DATA",
            )),
        }
    }
}
