//! What a connection that could not be opened means for the run, and what helps.

use crate::failure::{Fatal, FatalCode};
use crate::os::address::Address;
use crate::protocol::{ServerError, code};

/// What a failed connection means for the run.
pub fn connect_failure(error: &ServerError, address: &Address) -> Fatal {
    let (kind, hint) = match error.code {
        code::AUTH_REFUSED => (
            FatalCode::Auth,
            "use the server's unix socket; or name its certificate authority with --ssl-ca; or, without \
             TLS, its key with --server-public-key",
        ),
        code::SECURE_TRANSPORT => (FatalCode::Auth, UNENCRYPTED),
        code::ACCESS_DENIED if !address.is_local() => (FatalCode::Auth, DENIED_OVER_TCP),
        code::ACCESS_DENIED | code::DATABASE_DENIED | code::AUTH_PLUGIN => {
            (FatalCode::Auth, "check target.user and target.password of the job")
        }
        code::TLS => (FatalCode::Connect, CERTIFICATE),
        code::COMPRESSION => (FatalCode::Connect, COMPRESSION),
        code::TOO_MANY_CONNECTIONS => {
            (FatalCode::Connect, "the server has no connection left: raise max_connections")
        }
        code::SOCKET_CONNECT | code::HOST_CONNECT => {
            (FatalCode::Connect, "is the server running, and does it listen there?")
        }
        code::TCP_CREATE => (FatalCode::Connect, NO_PORT),
        _ => return Fatal::new(FatalCode::Connect, error.to_string()),
    };
    Fatal::new(kind, error.to_string()).hint(hint)
}

const UNENCRYPTED: &str =
    "--ssl-mode REQUIRED, or VERIFY_CA with --ssl-ca, or the server's unix socket";
const DENIED_OVER_TCP: &str = "check user and password; an account with REQUIRE SSL or X509 is \
    denied in the same words: --ssl-mode REQUIRED, --ssl-cert and --ssl-key";
const CERTIFICATE: &str = "--ssl-ca names the server's authority; --ssl-mode VERIFY_CA does not check \
    the host's name, REQUIRED checks nothing; TLS before 1.2 is not supported";
const COMPRESSION: &str = "zlib is in every server unless its protocol_compression_algorithms leaves it \
    out, zstd in MySQL from 8.0.18 on; --compression-algorithms zlib,uncompressed does without where it must";
const NO_PORT: &str = "widen net.ipv4.ip_local_port_range, set net.ipv4.tcp_tw_reuse = 1, keep \
    connections open, or use the server's unix socket";
