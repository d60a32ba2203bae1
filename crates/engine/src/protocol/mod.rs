//! The MySQL client protocol, as far as a load engine needs it.

pub mod capture;
pub mod commands;
pub mod compression;
pub mod frames;
pub mod handshake;
pub mod literal;
pub mod response;
pub mod server_key;
pub mod template;
pub mod tls;
pub mod values;

/// Error codes that the engine gives a name of its own or treats specially.
pub mod code {
    /// Client: this machine cannot make another unix socket.
    pub const SOCKET_CREATE: u16 = 2001;
    /// Client: this machine cannot make another TCP connection: no free port, file or memory.
    pub const TCP_CREATE: u16 = 2004;
    /// Client: cannot connect through the unix socket.
    pub const SOCKET_CONNECT: u16 = 2002;
    /// Client: cannot connect to the host.
    pub const HOST_CONNECT: u16 = 2003;
    /// Client: the server had closed the connection before the statement was sent.
    pub const SERVER_GONE: u16 = 2006;
    /// Client: the connection was lost while the statement ran.
    pub const SERVER_LOST: u16 = 2013;
    /// Client: a result set is still to be fetched.
    pub const OUT_OF_SYNC: u16 = 2014;
    /// Client: the connection could not be encrypted.
    pub const TLS: u16 = 2026;
    /// Client: the server sent something that the protocol does not allow here.
    pub const MALFORMED_PACKET: u16 = 2027;
    /// Client: the server asks for a way to authenticate that the engine does not have.
    pub const AUTH_PLUGIN: u16 = 2059;
    /// Client: the way to authenticate is known, and does not do over this connection.
    pub const AUTH_REFUSED: u16 = 2061;
    /// Client: the server has no compression that the job allows.
    pub const COMPRESSION: u16 = 2066;
    /// Server, and what the client finds by itself: the numbers of packets do not follow each other.
    pub const OUT_OF_ORDER: u16 = 1156;
    /// Server: it takes encrypted connections only.
    pub const SECURE_TRANSPORT: u16 = 3159;
    /// Server: out of connections.
    pub const TOO_MANY_CONNECTIONS: u16 = 1040;
    /// Server: user may not use this database.
    pub const DATABASE_DENIED: u16 = 1044;
    /// Server: wrong user or password.
    pub const ACCESS_DENIED: u16 = 1045;
    /// Server: no such database.
    pub const UNKNOWN_DATABASE: u16 = 1049;
    /// Server: it is shutting down.
    pub const SHUTDOWN: u16 = 1053;
    /// Unknown error: the engine's own, where an answer is not what the workload asked for.
    pub const UNKNOWN: u16 = 1105;
    /// Server: no such table.
    pub const NO_SUCH_TABLE: u16 = 1146;
    /// No data: a row that the workload needs is not there.
    pub const NO_DATA: u16 = 1329;
    /// MariaDB: the connection was killed.
    pub const CONNECTION_KILLED: u16 = 1927;
    /// Server: deadlock; the server has rolled the transaction back.
    pub const DEADLOCK: u16 = 1213;
    /// Server: this statement cannot be prepared.
    pub const UNSUPPORTED_PREPARE: u16 = 1295;

    /// Errors after which nothing more comes over the connection.
    pub fn ends_connection(code: u16) -> bool {
        matches!(
            code,
            SHUTDOWN
                | CONNECTION_KILLED
                | OUT_OF_ORDER
                | SERVER_GONE
                | SERVER_LOST
                | MALFORMED_PACKET
        )
    }

    /// This machine failed to make a connection: nothing is known of the server.
    pub fn is_local(code: u16) -> bool {
        matches!(code, SOCKET_CREATE | TCP_CREATE)
    }
}

/// Bytes kept of an error's text. Servers end it at 512 (MYSQL_ERRMSG_SIZE).
const LONGEST_MESSAGE: usize = 1024;

/// An error that the server sent, or one of the client's own with a code of the 2000s.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerError {
    pub code: u16,
    pub message: String,
}

impl ServerError {
    pub fn new(code: u16, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }

    /// What came over this connection cannot be understood.
    pub fn is_malformed(&self) -> bool {
        matches!(self.code, code::MALFORMED_PACKET | code::OUT_OF_ORDER)
    }

    /// Reads an ERR packet: 0xFF, code, then `#` and five letters of SQL state (absent in errors
    /// sent before the handshake), then the text.
    /// `None` when it is something else.
    pub fn from_packet(payload: &[u8]) -> Option<Self> {
        let (code, text) = payload.strip_prefix(&[0xff])?.split_first_chunk::<2>()?;
        let text = match text {
            [b'#', _, _, _, _, _, rest @ ..] => rest,
            rest => rest,
        };
        let text = &text[..text.len().min(LONGEST_MESSAGE)];
        Some(Self::new(u16::from_le_bytes(*code), String::from_utf8_lossy(text)))
    }
}

impl std::fmt::Display for ServerError {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{} (error {})", self.message, self.code)
    }
}

impl std::error::Error for ServerError {}

/// Reads a length-encoded integer; `None` when the bytes end too early or hold NULL.
pub fn length_encoded(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let (&first, rest) = bytes.split_first()?;
    let width = match first {
        0..=0xfa => return Some((u64::from(first), rest)),
        0xfc => 2,
        0xfd => 3,
        0xfe => 8,
        _ => return None,
    };
    let mut wide = [0u8; 8];
    wide[..width].copy_from_slice(rest.get(..width)?);
    Some((u64::from_le_bytes(wide), &rest[width..]))
}
