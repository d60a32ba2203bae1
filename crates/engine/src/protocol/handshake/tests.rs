//! The exchange with a server played by the test, which checks every answer by the definition of
//! the authentication method.

use mysql_common::constants::StatusFlags;
use num_bigint::BigUint;
use sha1::{Digest as _, Sha1};
use sha2::Sha256;

use super::*;

const NONCE: &[u8; 20] = b"abcdefghijklmnopqrst";
const PASSWORD: &str = "correct horse";

/// An RSA key of 1024 bits, made for this test alone.
const PUBLIC_KEY: &str = "-----BEGIN PUBLIC KEY-----
MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQCm+RslR9PCaQv/3Ak16iDSyALt
9xRGavt/a9R+6M+nF5bznPYJV3IZIcSrD81uNCtIeA1sbyVV99qocjknJ4d+nxTd
vE+5/UnVBneSFo9zHtV2GYDrUqMmhURiWx/yK1uSugx8tpG2DqhQeoT7FYiUOJL6
UUDzi3PEkbXMOVAZOwIDAQAB
-----END PUBLIC KEY-----
";
const MODULUS: &str = "a6f91b2547d3c2690bffdc0935ea20d2c802edf714466afb7f6bd47ee8cfa71796f39cf6\
    0957721921c4ab0fcd6e342b48780d6c6f2555f7daa872392727877e9f14ddbc4fb9fd49d5067792168f731ed576\
    1980eb52a3268544625b1ff22b5b92ba0c7cb691b60ea8507a84fb1588943892fa5140f38b73c491b5cc3950193b";
const PRIVATE_EXPONENT: &str = "a672bf37cbc17214ebcc5459ae30462639128a8bfadf33b8a04e2ad79457a477\
    24989748c10936098d9b12f7becef41c8db2779737b91d58e5d573803be2f0f2913ebba7abb40520dfb174f3a763\
    eb17e4ce29879f5bacd6607e2079beb6e0cee80dc90fc6b22c9701df21b79d2535aeb3c4633a72cab13b8b5898d9\
    9ae72689";

/// The server's side of one connection.
struct Server {
    login: Login,
    handshake: Handshake,
    sequence: u8,
}

impl Server {
    fn new(local: bool, password: &str) -> Self {
        let login = Login {
            user: "bench".to_owned(),
            password: password.into(),
            database: Some("mydyno".to_owned()),
            local,
        };
        Self { login, handshake: Handshake::default(), sequence: 0 }
    }

    /// Sends a packet; gives the client's step and the payload of its answer.
    fn send(&mut self, payload: &[u8]) -> (Step, Vec<u8>) {
        let packet =
            Packet { length: payload.len() as u32, sequence: self.sequence, head: payload };
        let mut out = Vec::new();
        let step = self.handshake.take(&self.login, packet, &mut out);
        if out.is_empty() {
            self.sequence += 1;
            return (step, Vec::new());
        }
        assert_eq!(u32::from_le_bytes([out[0], out[1], out[2], 0]) as usize, out.len() - 4);
        assert_eq!(out[3], self.sequence + 1, "the answer continues the sequence");
        self.sequence += 2;
        (step, out.split_off(4))
    }

    fn greet(&mut self, plugin: &str) -> Vec<u8> {
        let (step, answer) = self.send(&greeting("10.11.6-MariaDB", plugin));
        assert_eq!(step, Step::Continue);
        answer
    }
}

fn greeting(version: &str, plugin: &str) -> Vec<u8> {
    let (first, rest) = NONCE.split_first_chunk::<8>().unwrap();
    let capabilities = Capability::CLIENT_PROTOCOL_41
        | Capability::CLIENT_SECURE_CONNECTION
        | Capability::CLIENT_PLUGIN_AUTH
        | Capability::CLIENT_CONNECT_WITH_DB
        | Capability::CLIENT_DEPRECATE_EOF
        | Capability::CLIENT_PLUGIN_AUTH_LENENC_CLIENT_DATA;
    let packet = HandshakePacket::new(
        10,
        version.as_bytes(),
        77,
        *first,
        Some([rest, &[0]].concat()),
        capabilities,
        45,
        StatusFlags::empty(),
        Some(plugin.as_bytes()),
    );
    let mut payload = Vec::new();
    packet.serialize(&mut payload);
    payload
}

fn login_of(answer: &[u8]) -> HandshakeResponse<'_> {
    HandshakeResponse::deserialize((), &mut ParseBuf(answer)).unwrap()
}

fn xor(left: &[u8], right: &[u8]) -> Vec<u8> {
    left.iter().zip(right.iter().cycle()).map(|(left, right)| left ^ right).collect()
}

/// SHA1(password) XOR SHA1(nonce + SHA1(SHA1(password)))
fn native(password: &str, nonce: &[u8]) -> Vec<u8> {
    let once = Sha1::digest(password);
    let mask = Sha1::digest([nonce, &Sha1::digest(once)].concat());
    xor(&once, &mask)
}

/// SHA256(password) XOR SHA256(SHA256(SHA256(password)) + nonce)
fn sha2(password: &str, nonce: &[u8]) -> Vec<u8> {
    let once = Sha256::digest(password);
    let twice = Sha256::digest(once);
    xor(&once, &Sha256::digest([&twice, nonce].concat()))
}

fn switch(plugin: &str, nonce: &[u8]) -> Vec<u8> {
    [&[0xfe], plugin.as_bytes(), &[0], nonce, &[0]].concat()
}

/// Undoes RSA with OAEP padding (RFC 8017, section 7.1.2, SHA-1, no label).
fn decrypt(sealed: &[u8]) -> Vec<u8> {
    let number = |hex: &str| BigUint::parse_bytes(hex.as_bytes(), 16).unwrap();
    let size = MODULUS.len() / 2;
    let opened = BigUint::from_bytes_be(sealed).modpow(&number(PRIVATE_EXPONENT), &number(MODULUS));
    let mut block = vec![0; size];
    let bytes = opened.to_bytes_be();
    block[size - bytes.len()..].copy_from_slice(&bytes);
    let (masked_seed, masked_data) = block[1..].split_at(20);
    let seed = xor(masked_seed, &mgf1(masked_data, 20));
    let data = xor(masked_data, &mgf1(&seed, masked_data.len()));
    assert_eq!(data[..20], Sha1::digest([])[..]);
    let start = 20 + data[20..].iter().position(|&byte| byte == 1).unwrap() + 1;
    data[start..].to_vec()
}

fn mgf1(seed: &[u8], length: usize) -> Vec<u8> {
    let blocks = (0u32..).flat_map(|count| Sha1::digest([seed, &count.to_be_bytes()].concat()));
    blocks.take(length).collect()
}

#[test]
fn the_native_password_is_scrambled_with_the_nonce_of_the_greeting() {
    let mut server = Server::new(true, PASSWORD);
    let answer = server.greet("mysql_native_password");
    let login = login_of(&answer);
    assert_eq!(login.user(), b"bench");
    assert_eq!(login.db_name(), Some(&b"mydyno"[..]));
    assert_eq!(login.scramble_buf(), native(PASSWORD, NONCE));
    assert_eq!(server.send(&[0, 0, 0, 2, 0, 0, 0]), (Step::Done, Vec::new()));
    let session = server.handshake.into_session();
    assert_eq!(session.connection_id, 77);
    assert!(session.no_eof);
}

#[test]
fn an_empty_password_sends_no_scramble() {
    for plugin in ["mysql_native_password", "caching_sha2_password"] {
        let mut server = Server::new(true, "");
        let answer = server.greet(plugin);
        assert_eq!(login_of(&answer).scramble_buf(), b"");
        assert_eq!(server.send(&[0]).0, Step::Done);
    }
}

#[test]
fn a_cached_sha2_password_needs_the_scramble_only() {
    let mut server = Server::new(false, PASSWORD);
    let answer = server.greet("caching_sha2_password");
    assert_eq!(login_of(&answer).scramble_buf(), sha2(PASSWORD, NONCE));
    assert_eq!(server.send(&[1, 3]), (Step::Continue, Vec::new()));
    assert_eq!(server.send(&[0]).0, Step::Done);
}

#[test]
fn over_a_unix_socket_the_full_exchange_sends_the_password_in_clear() {
    let mut server = Server::new(true, PASSWORD);
    server.greet("caching_sha2_password");
    let (step, answer) = server.send(&[1, 4]);
    assert_eq!((step, answer), (Step::Continue, b"correct horse\0".to_vec()));
    assert_eq!(server.send(&[0]).0, Step::Done);
}

#[test]
fn over_tcp_the_full_exchange_encrypts_the_password_with_the_servers_key() {
    let mut server = Server::new(false, PASSWORD);
    server.greet("caching_sha2_password");
    assert_eq!(server.send(&[1, 4]), (Step::Continue, vec![2]), "asks for the key");
    let (step, sealed) = server.send(&[&[1], PUBLIC_KEY.as_bytes()].concat());
    assert_eq!(step, Step::Continue);
    assert_eq!(xor(&decrypt(&sealed), NONCE), b"correct horse\0");
    assert_eq!(server.send(&[0]).0, Step::Done);
}

#[test]
fn a_switch_of_plugin_uses_the_new_nonce() {
    let other = b"ABCDEFGHIJKLMNOPQRST";
    let mut server = Server::new(false, PASSWORD);
    server.greet("caching_sha2_password");
    let (step, answer) = server.send(&switch("mysql_native_password", other));
    assert_eq!((step, answer), (Step::Continue, native(PASSWORD, other)));
    assert_eq!(server.send(&[0]).0, Step::Done);

    let mut server = Server::new(false, PASSWORD);
    server.greet("mysql_native_password");
    let (_, answer) = server.send(&switch("caching_sha2_password", other));
    assert_eq!(answer, sha2(PASSWORD, other));
    server.send(&[1, 4]);
    let (_, sealed) = server.send(&[&[1], PUBLIC_KEY.as_bytes()].concat());
    assert_eq!(xor(&decrypt(&sealed), other), b"correct horse\0");
}

#[test]
fn a_plugin_that_is_unknown_or_would_give_the_password_away_is_refused() {
    for plugin in ["mysql_clear_password", "dialog", "client_ed25519"] {
        let mut server = Server::new(true, PASSWORD);
        server.greet("mysql_native_password");
        let (step, answer) = server.send(&switch(plugin, NONCE));
        let Step::Failed(error) = step else { panic!("{plugin}: {step:?}") };
        assert_eq!(error.code, code::AUTH_PLUGIN);
        assert!(error.message.contains(plugin), "{error}");
        assert!(answer.is_empty(), "nothing may be sent");
    }
}

#[test]
fn a_default_plugin_that_is_unknown_is_left_to_the_server_to_switch() {
    let mut server = Server::new(true, PASSWORD);
    let answer = server.greet("auth_gssapi_client");
    assert_eq!(login_of(&answer).scramble_buf(), native(PASSWORD, NONCE));
}

#[test]
fn an_error_at_any_moment_is_the_outcome() {
    let full = b"\xff\x10\x04Too many connections";
    let mut server = Server::new(true, PASSWORD);
    let refused = Step::Failed(ServerError::new(1040, "Too many connections"));
    assert_eq!(server.send(full).0, refused);

    let mut server = Server::new(true, PASSWORD);
    server.greet("mysql_native_password");
    let denied = Step::Failed(ServerError::new(1045, "Access denied"));
    assert_eq!(server.send(b"\xff\x15\x04#28000Access denied").0, denied);
}

#[test]
fn what_is_not_a_mysql_server_is_refused() {
    for payload in [&b"SSH-2.0-OpenSSH_9.2\r\n"[..], b"\x0a5.1\0", b"", b"\x0a"] {
        let (step, _) = Server::new(true, PASSWORD).send(payload);
        assert!(matches!(step, Step::Failed(_)), "{payload:?}: {step:?}");
    }
}

#[test]
fn the_prefix_of_old_mariadb_versions_is_left_out() {
    assert_eq!(plain_version("5.5.5-10.11.6-MariaDB-log"), "10.11.6-MariaDB-log");
    assert_eq!(plain_version("11.4.2-MariaDB"), "11.4.2-MariaDB");
    assert_eq!(plain_version("5.5.5-m3"), "5.5.5-m3");
    assert_eq!(plain_version("8.4.3"), "8.4.3");
}

proptest::proptest! {
    #[test]
    fn no_bytes_from_a_server_make_the_handshake_panic(
        payloads in proptest::collection::vec(
            proptest::collection::vec(proptest::prelude::any::<u8>(), 0..80), 1..6),
    ) {
        let mut server = Server::new(false, PASSWORD);
        server.greet("caching_sha2_password");
        for payload in &payloads {
            if !matches!(server.send(payload).0, Step::Continue) {
                break;
            }
        }
    }
}
