//! Room for as many open sockets as the job wants.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::failure::{Fatal, FatalCode};

/// Files that are open beside the connections: the standard streams, epoll sets, /proc.
const BESIDES: u64 = 64;

/// Raises the soft limit of open files to what `connections` need, if the hard limit allows it.
pub fn allow_connections(connections: u32) -> Result<(), Fatal> {
    let wanted = u64::from(connections) + BESIDES;
    let limit = getrlimit(Resource::Nofile);
    if limit.current.is_none_or(|soft| soft >= wanted) {
        return Ok(());
    }
    let room = limit.maximum.unwrap_or(u64::MAX);
    if room >= wanted {
        let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
        if setrlimit(Resource::Nofile, raised).is_ok() {
            return Ok(());
        }
    }
    let message = format!(
        "{connections} connections need {wanted} open files, but this process may have {room}"
    );
    Err(Fatal::new(FatalCode::Internal, message)
        .hint(format!("raise the hard limit: ulimit -Hn {wanted}, or LimitNOFILE={wanted}")))
}
