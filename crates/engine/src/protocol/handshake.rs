//! From the server's greeting to its first OK: capabilities, encryption, compression and authentication.
//!
//! Plugins: mysql_native_password, client_ed25519, parsec and caching_sha2_password. The last one's full
//! exchange sends the password in clear over a unix socket and over TLS whose certificate was checked, and
//! encrypted with the server's RSA key over plain TCP. The others only prove it.

use mysql_common::auth::plugins::{AuthProc, ChallengeResponsePlugin, Context, Response};
use mysql_common::constants::CapabilityFlags as Capability;
use mysql_common::io::ParseBuf;
use mysql_common::packets::{
    AuthPlugin, AuthSwitchRequest, HandshakePacket, HandshakeResponse, SslRequest,
};
use mysql_common::proto::{MyDeserialize, MySerialize};

use super::compression::{self, Algorithm};
use super::frames::{KEPT, Packet};
use super::server_key::ServerKey;
use super::tls::{self, Tls};
use super::{ServerError, code, commands};
use crate::job::{CompressionJob, Secret};

const OK: u8 = 0x00;
const MORE_DATA: u8 = 0x01;
const SWITCH: u8 = 0xfe;
const ERROR: u8 = 0xff;
/// caching_sha2_password: the server does not have the password's hash in memory and wants all of it.
const FULL_AUTHENTICATION: u8 = 4;
const MOST_PACKET: u32 = 1 << 30;
/// utf8mb4_general_ci.
const UTF8MB4: u8 = 45;

/// Who connects, and over what.
#[derive(Clone, Debug)]
pub struct Login {
    pub user: String,
    pub password: Secret,
    /// Database to be in, or none (it may not exist yet).
    pub database: Option<String>,
    /// A unix socket, over which a password may travel in clear.
    pub local: bool,
    /// The server's key, if the user has named it.
    pub server_key: Option<ServerKey>,
    /// How connections are encrypted; none: they are not.
    pub tls: Option<Tls>,
    /// How connections are compressed; none: they are not.
    pub compression: Option<CompressionJob>,
}

/// What became known of the server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Session {
    /// Version text, for example `10.11.6-MariaDB-0+deb12u1`.
    pub server_version: String,
    pub connection_id: u32,
    /// Result sets end with an OK packet and have no EOF packets.
    pub no_eof: bool,
    /// How everything after the handshake is compressed.
    pub compression: Option<Algorithm>,
}

/// The number of the server's answer to a packet of the handshake.
pub fn answer_to(packet: &[u8]) -> u8 {
    packet[3].wrapping_add(1)
}

/// What to do after a packet was taken.
#[derive(Debug, PartialEq, Eq)]
pub enum Step {
    /// Send what was appended, if anything, and wait for the next packet.
    Continue,
    /// Send what was appended in clear, begin TLS, and then send the [`Handshake::login`].
    Encrypt,
    Done,
    Failed(ServerError),
}

/// The exchange of one connection.
#[derive(Default)]
pub struct Handshake {
    session: Session,
    nonce: Vec<u8>,
    plugin: Option<AuthProc>,
    /// The server has asked for another method; it may do so once.
    switched: bool,
    /// The packets are encrypted.
    encrypted: bool,
    /// What goes to the server once they are.
    login: Vec<u8>,
}

impl Handshake {
    /// Takes the next packet from the server and appends the answer to `out`.
    pub fn take(&mut self, login: &Login, packet: Packet<'_>, out: &mut Vec<u8>) -> Step {
        let payload = packet.head;
        if payload.len() != packet.length as usize || payload.len() > KEPT {
            return Step::Failed(packet.malformed("a packet of the handshake is too long"));
        }
        let answer = packet.sequence.wrapping_add(1);
        let step = match (payload.first(), self.plugin.is_some()) {
            (Some(&ERROR), _) => Step::Failed(packet.error()),
            (Some(_), false) => self.greeting(login, payload, answer, out),
            (Some(&OK), true) => Step::Done,
            (Some(&MORE_DATA), true) => self.challenge(login, &payload[1..], answer, out),
            (Some(&SWITCH), true) => self.switch(login, payload, answer, out),
            // MariaDB marks what a plugin sends only where its first byte could be mistaken.
            (Some(_), true) if matches!(self.plugin, Some(AuthProc::Parsec(_))) => {
                self.challenge(login, payload, answer, out)
            }
            _ => malformed("unexpected packet in the handshake"),
        };
        match step {
            Step::Failed(error) if payload.first() != Some(&ERROR) && error.is_malformed() => {
                Step::Failed(packet.malformed(&error.message))
            }
            step => step,
        }
    }

    /// The packet that follows the beginning of TLS.
    pub fn login(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.login)
    }

    /// What the server said of itself; complete once the handshake is done.
    pub fn into_session(self) -> Session {
        self.session
    }

    fn greeting(&mut self, login: &Login, payload: &[u8], answer: u8, out: &mut Vec<u8>) -> Step {
        let Some(greeting) = sound_greeting(payload) else {
            return malformed("this is not the greeting of a MySQL server");
        };
        let server = greeting.capabilities();
        if !server.contains(Capability::CLIENT_PROTOCOL_41 | Capability::CLIENT_PLUGIN_AUTH) {
            return malformed("the server is older than MySQL 5.5 and MariaDB 5.5");
        }
        let wanted = Capability::CLIENT_PROTOCOL_41
            | Capability::CLIENT_SECURE_CONNECTION
            | Capability::CLIENT_PLUGIN_AUTH
            | Capability::CLIENT_PLUGIN_AUTH_LENENC_CLIENT_DATA
            | Capability::CLIENT_LONG_PASSWORD
            | Capability::CLIENT_TRANSACTIONS
            // For loading tables: only there a server's request for a file is answered.
            | Capability::CLIENT_LOCAL_FILES
            | Capability::CLIENT_MULTI_RESULTS
            | Capability::CLIENT_DEPRECATE_EOF;
        if let Some(tls) = &login.tls {
            self.encrypted = server.contains(Capability::CLIENT_SSL);
            if tls.required && !self.encrypted {
                return Step::Failed(tls::not_offered());
            }
        }
        let compression = login.compression.as_ref().map(|job| compression::choose(job, server));
        let compression = match compression.transpose() {
            Ok(algorithm) => algorithm.flatten(),
            Err(error) => return Step::Failed(error),
        };
        let mut capabilities = wanted & server;
        if let Some(algorithm) = compression {
            capabilities.insert(algorithm.capability());
        }
        capabilities.set(Capability::CLIENT_SSL, self.encrypted);
        self.session = Session {
            server_version: plain_version(&greeting.server_version_str()),
            connection_id: greeting.connection_id(),
            no_eof: server.contains(Capability::CLIENT_DEPRECATE_EOF),
            compression,
        };
        self.nonce = nonce(&greeting);
        // A default plugin that is unknown here is no obstacle: the account may use another one,
        // and the server then asks to switch.
        let plugin = match greeting.auth_plugin() {
            Some(AuthPlugin::CachingSha2Password) => AuthPlugin::CachingSha2Password,
            _ => AuthPlugin::MysqlNativePassword,
        };
        let first = match self.start(&plugin, login) {
            Ok(first) => first,
            Err(error) => return Step::Failed(error),
        };
        let response = HandshakeResponse::new(
            Some(first),
            (8, 0, 0), // chooses utf8mb4, too
            Some(login.user.as_bytes()),
            login.database.as_ref().map(|name| name.as_bytes()),
            Some(plugin),
            capabilities,
            None,
            MOST_PACKET,
        );
        let write = |out: &mut Vec<u8>| {
            response.serialize(out);
            if let Some(Algorithm::Zstd { level }) = compression {
                out.push(level);
            }
        };
        if !self.encrypted {
            commands::packet(answer, out, write);
            return Step::Continue;
        }
        let request = SslRequest::new(response.capabilities(), MOST_PACKET, UTF8MB4);
        commands::packet(answer, out, |out| request.serialize(out));
        commands::packet(answer.wrapping_add(1), &mut self.login, write);
        Step::Encrypt
    }

    fn switch(&mut self, login: &Login, payload: &[u8], answer: u8, out: &mut Vec<u8>) -> Step {
        if std::mem::replace(&mut self.switched, true) {
            return malformed("the server asks for another way to authenticate, again");
        }
        let Ok(request) = AuthSwitchRequest::deserialize((), &mut ParseBuf(payload)) else {
            return Step::Failed(unsupported("mysql_old_password"));
        };
        self.nonce = request.plugin_data().to_vec();
        match self.start(&request.auth_plugin(), login) {
            Ok(first) => {
                commands::packet(answer, out, |out| out.extend(first));
                Step::Continue
            }
            Err(error) => Step::Failed(error),
        }
    }

    fn challenge(&mut self, login: &Login, data: &[u8], answer: u8, out: &mut Vec<u8>) -> Step {
        match self.run(login, data) {
            Ok(Some(reply)) => {
                commands::packet(answer, out, |out| out.extend(reply));
                Step::Continue
            }
            Ok(None) => Step::Continue,
            Err(error) => Step::Failed(error),
        }
    }

    /// Begins with a plugin and gives its answer to the nonce.
    fn start(&mut self, plugin: &AuthPlugin<'_>, login: &Login) -> Result<Vec<u8>, ServerError> {
        let is_supported = matches!(
            plugin,
            AuthPlugin::MysqlNativePassword
                | AuthPlugin::CachingSha2Password
                | AuthPlugin::Ed25519
                | AuthPlugin::Parsec
        );
        if !is_supported {
            return Err(unsupported(&String::from_utf8_lossy(plugin.as_bytes())));
        }
        self.plugin = Some(plugin.init().expect("the plugins are always compiled in"));
        let nonce = self.nonce.clone();
        Ok(self.run(login, &nonce)?.unwrap_or_default())
    }

    fn run(&mut self, login: &Login, data: &[u8]) -> Result<Option<Vec<u8>>, ServerError> {
        // The server reads it in clear where the connection is encrypted.
        let private =
            login.local || self.encrypted && login.tls.as_ref().is_some_and(|tls| tls.verified);
        let protected = private || !self.encrypted && login.server_key.is_some();
        if !protected && data == [FULL_AUTHENTICATION] {
            return Err(unprotected(&login.user));
        }
        let context = Credentials { login, nonce: &self.nonce, encrypted: self.encrypted };
        let plugin = self.plugin.as_mut().expect("the greeting has chosen a plugin");
        match plugin.run(context, data) {
            Ok(Response::Next { packet } | Response::Last { packet }) => Ok(packet),
            Err(error) => Err(ServerError::new(
                code::MALFORMED_PACKET,
                format!("authentication failed: {error}"),
            )),
        }
    }
}

struct Credentials<'a> {
    login: &'a Login,
    nonce: &'a [u8],
    encrypted: bool,
}

impl Context for Credentials<'_> {
    fn pass(&self) -> &[u8] {
        self.login.password.reveal()
    }

    fn is_ipc_transport(&self) -> bool {
        self.login.local
    }

    fn is_tls_transport(&self) -> bool {
        self.encrypted
    }

    fn scramble(&self) -> &[u8] {
        self.nonce
    }

    fn server_key_pem(&self) -> Option<&[u8]> {
        self.login.server_key.as_ref().map(ServerKey::pem)
    }
}

/// Reads a greeting. mysql_common's reader overflows where the length of the nonce, which is 21, is above 127.
fn sound_greeting(payload: &[u8]) -> Option<HandshakePacket<'_>> {
    /// Between the version and the length.
    const BETWEEN: usize = 20;
    let version_end = 1 + payload.get(1..)?.iter().position(|byte| *byte == 0)?;
    let length = *payload.get(version_end + 1 + BETWEEN)?;
    let sound = i8::try_from(length).is_ok();
    sound.then(|| HandshakePacket::deserialize((), &mut ParseBuf(payload)).ok()).flatten()
}

fn nonce(greeting: &HandshakePacket<'_>) -> Vec<u8> {
    let mut nonce = greeting.nonce();
    nonce.truncate(20);
    nonce
}

/// MariaDB up to 10 puts `5.5.5-` before its version for the sake of old replicas.
fn plain_version(version: &str) -> String {
    match version.strip_prefix("5.5.5-") {
        Some(rest) if rest.contains("MariaDB") => rest.to_owned(),
        _ => version.to_owned(),
    }
}

fn unsupported(plugin: &str) -> ServerError {
    let message = format!(
        "the server asks for the authentication plugin {plugin}; \
         mysql_native_password, caching_sha2_password, client_ed25519 and parsec are supported"
    );
    ServerError::new(code::AUTH_PLUGIN, message)
}

/// The server wants the whole password, and anybody on the way could read it or answer with a key of
/// their own.
fn unprotected(user: &str) -> ServerError {
    let message = format!(
        "caching_sha2_password needs the whole password of {user}, which is not sent over a TCP connection \
         without TLS whose certificate is checked"
    );
    ServerError::new(code::AUTH_REFUSED, message)
}

fn malformed(what: &str) -> Step {
    Step::Failed(ServerError::new(code::MALFORMED_PACKET, what))
}

#[cfg(test)]
pub(super) mod tests;
