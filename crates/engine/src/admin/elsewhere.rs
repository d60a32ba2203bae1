//! A second connection, which asks after a statement that the first one waits for.

use std::time::Duration;

use super::{Admin, lost};
use crate::os::address::Address;
use crate::protocol::handshake::Login;
use crate::protocol::{ServerError, code};

/// How long a server may take to let another connection in.
const ALIVE_LIMIT: Duration = Duration::from_secs(10);
/// How often in a row a full server is taken for one that still works on a statement.
const MOST_FULL: u32 = 10;

/// Another way in, to ask after this connection.
pub(super) struct Elsewhere {
    pub address: Address,
    pub login: Login,
    /// The server's number of this connection.
    pub connection: String,
    /// How often in a row there was no room to ask.
    pub full: u32,
}

impl Elsewhere {
    /// Asks the server whether it still works on the connection's statement.
    pub fn ask(&mut self) -> Result<(), ServerError> {
        const ID: usize = 0;
        const COMMAND: usize = 4;
        let mut admin = match Admin::connect_within(&self.address, &self.login, ALIVE_LIMIT) {
            Err(error) if error.code == code::TOO_MANY_CONNECTIONS && self.full < MOST_FULL => {
                self.full += 1;
                return Ok(());
            }
            other => other?,
        };
        self.full = 0;
        let running = admin.query("SHOW PROCESSLIST")?.iter().any(|row| {
            let column = |at: usize| row.get(at).and_then(Option::as_deref);
            column(ID) == Some(self.connection.as_str())
                && column(COMMAND).is_some_and(|command| command != "Sleep")
        });
        if running {
            Ok(())
        } else {
            Err(lost("no answer, and its process list lacks the statement"))
        }
    }
}
