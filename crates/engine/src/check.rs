//! What a workload wants to hold once the load is over: queries that must return no row.

use std::time::Duration;

use crate::admin::Admin;
use crate::os::address::Address;
use crate::protocol::ServerError;
use crate::protocol::handshake::Login;
use crate::report::Reporter;
use crate::report::messages::Message;
use crate::workload::Check;

/// Values of a row that are shown.
const SHOWN: usize = 8;

/// Runs the checks over a connection of their own and tells how each came out. A check that cannot be
/// run does not hold.
pub fn check(
    checks: &[Check],
    address: &Address,
    login: &Login,
    patience: Duration,
    reporter: &Reporter,
) {
    if checks.is_empty() {
        return;
    }
    let mut admin = Admin::connect(address, login);
    for check in checks {
        let found = match &mut admin {
            Ok(admin) => {
                admin.answer_within(patience);
                first_row(admin, &check.sql)
            }
            Err(error) => Err(error.clone()),
        };
        let detail = match found {
            Ok(row) => row,
            Err(error) => Some(error.to_string()),
        };
        let name = check.name.clone();
        reporter.send(&Message::Check { name, holds: detail.is_none(), detail });
    }
}

/// The first row that the query returns, as text, and how many there are.
fn first_row(admin: &mut Admin, sql: &str) -> Result<Option<String>, ServerError> {
    let rows = admin.query(sql)?;
    let Some(row) = rows.first() else { return Ok(None) };
    let values: Vec<&str> =
        row.iter().take(SHOWN).map(|value| value.as_deref().unwrap_or("NULL")).collect();
    let more = if row.len() > SHOWN { ", ..." } else { "" };
    let noun = if rows.len() == 1 { "row" } else { "rows" };
    Ok(Some(format!("{} {noun}, the first is ({}{more})", rows.len(), values.join(", "))))
}
