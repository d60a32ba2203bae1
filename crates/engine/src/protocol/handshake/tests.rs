//! The exchange with a server played by the test, which checks every answer by the definition of
//! the authentication method.

use mysql_common::constants::StatusFlags;
use num_bigint::BigUint;
use sha1::{Digest as _, Sha1};
use sha2::Sha256;

use super::*;
use crate::job::{CompressionAlgorithm, TlsJob, TlsMode};

const NONCE: &[u8; 20] = b"abcdefghijklmnopqrst";
const PASSWORD: &str = "correct horse";

/// An RSA key of 2048 bits, made for this test alone.
pub const PUBLIC_KEY: &str = "-----BEGIN PUBLIC KEY-----
MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAlnJvAQCXTfIiGkprJovB
IrJ6+09G5y+D+IKctyPDGlR6XrQxmlL3izcjvzhhvM2eDQpGixZyJJv+kMsvBeIh
s52GyXp0UOq0KErdFYPyy9gM42412j50O6YWclIulMWKcd2im+q9PGQovCh2Qm0W
72UW9VTkLtpNo5yAIhkM0/2EZoldHSrgGEtyTX+3GgVJ21F/1e1IUaNscuOg2LMm
+hkZSjIGhITG6yQOdF26Bh+kZbEnyVYvYMPwt5RyGmE41wEYRQF1WR7yuuBXZxis
aEla73U+BtFnYuCGKMudiSq2d1FkygvtuCkPF0RDpENB9hxvEEEVsNeV+JM7hzLh
1wIDAQAB
-----END PUBLIC KEY-----
";
const MODULUS: &str = "96726f0100974df2221a4a6b268bc122b27afb4f46e72f83f8829cb723c31a547a5eb4319a52f78b\
    3723bf3861bccd9e0d0a468b1672249bfe90cb2f05e221b39d86c97a7450eab4284add1583f2cbd8\
    0ce36e35da3e743ba61672522e94c58a71dda29beabd3c6428bc2876426d16ef6516f554e42eda4d\
    a39c8022190cd3fd8466895d1d2ae0184b724d7fb71a0549db517fd5ed4851a36c72e3a0d8b326fa\
    19194a32068484c6eb240e745dba061fa465b127c9562f60c3f0b794721a6138d70118450175591e\
    f2bae0576718ac68495aef753e06d16762e08628cb9d892ab6775164ca0bedb8290f174443a44341\
    f61c6f104115b0d795f8933b8732e1d7";
const PRIVATE_EXPONENT: &str = "4035f717666c60ae9432c46397266ec4d6bb935a590be6122a2eae6e08abd32774b963a8a1ab9ab5\
    40503e49c2207c94fba89d7985fe2b2842c7d023be82486670d2198bed52a8a6756597fd0070d016\
    161d551c86f2f4228e0a33540013f8af07bd6d79a4ccf2c98cd941c55127c4a561d6543f37316e74\
    87c9a70ce690efdc32d4fe02102e12b4a2301d4bc83f8070bb0bb281464601bf2ac09c5b22b65f60\
    6f5da498f93822f6cdf4f96221531fdca095b79a799354c9fc404dd9edbb83ac3e8d5525b9c4a085\
    d16f7d958da4b8e1474dd69e368cd09bac572f574d99c8ea2a094e0df3ce94619892a1e5a37070c3\
    a215d7b9d4b69fc388ee32d26d580a9";

/// One of 1024 bits.
pub const SHORT_KEY: &str = "-----BEGIN PUBLIC KEY-----
MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQCm+RslR9PCaQv/3Ak16iDSyALt
9xRGavt/a9R+6M+nF5bznPYJV3IZIcSrD81uNCtIeA1sbyVV99qocjknJ4d+nxTd
vE+5/UnVBneSFo9zHtV2GYDrUqMmhURiWx/yK1uSugx8tpG2DqhQeoT7FYiUOJL6
UUDzi3PEkbXMOVAZOwIDAQAB
-----END PUBLIC KEY-----
";

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
            server_key: None,
            tls: None,
            compression: None,
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
fn over_tcp_the_full_exchange_encrypts_the_password_with_the_key_that_the_user_named() {
    let mut server = Server::new(false, PASSWORD);
    server.login.server_key = Some(ServerKey::parse(PUBLIC_KEY).unwrap());
    server.greet("caching_sha2_password");
    let (step, sealed) = server.send(&[1, 4]);
    assert_eq!(step, Step::Continue);
    assert_eq!(xor(&decrypt(&sealed), NONCE), b"correct horse\0");
    assert_eq!(server.send(&[0]).0, Step::Done);
}

#[test]
fn over_tcp_without_a_named_key_the_full_exchange_is_refused_and_no_key_is_asked_for() {
    let mut server = Server::new(false, PASSWORD);
    server.greet("caching_sha2_password");
    let (step, answer) = server.send(&[1, 4]);
    let Step::Failed(error) = step else { panic!("{step:?}") };
    assert_eq!(error.code, code::AUTH_REFUSED);
    assert!(answer.is_empty(), "nothing may be sent");
}

#[test]
fn a_key_that_the_server_sends_unasked_encrypts_nothing() {
    for key in [PUBLIC_KEY, SHORT_KEY] {
        let mut server = Server::new(false, PASSWORD);
        server.greet("caching_sha2_password");
        let (step, answer) = server.send(&[&[1], key.as_bytes()].concat());
        assert!(matches!(step, Step::Failed(_)), "{step:?}");
        assert!(answer.is_empty(), "nothing may be sent");
    }
}

#[test]
fn a_second_switch_of_plugin_is_refused() {
    let mut server = Server::new(true, PASSWORD);
    server.greet("caching_sha2_password");
    server.send(&switch("mysql_native_password", NONCE));
    let (step, answer) = server.send(&switch("caching_sha2_password", NONCE));
    assert!(matches!(step, Step::Failed(_)), "{step:?}");
    assert!(answer.is_empty(), "nothing may be sent");
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
    server.login.server_key = Some(ServerKey::parse(PUBLIC_KEY).unwrap());
    let (_, sealed) = server.send(&[1, 4]);
    assert_eq!(xor(&decrypt(&sealed), other), b"correct horse\0");
}

#[test]
fn a_plugin_that_is_unknown_or_would_give_the_password_away_is_refused() {
    for plugin in ["mysql_clear_password", "dialog", "auth_gssapi_client"] {
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

fn tls(mode: TlsMode) -> Tls {
    let job = TlsJob { mode, ca: None, cert: None, key: None };
    Tls::new(&job, "localhost").unwrap()
}

#[test]
fn a_greeting_with_any_length_of_its_nonce_is_read_or_refused() {
    let greeting = greeting("8.0.36", "mysql_native_password");
    let at = greeting.iter().rposition(|byte| *byte == 21).expect("the length of the nonce");
    for length in 0..=u8::MAX {
        let mut changed = greeting.clone();
        changed[at] = length;
        let (step, _) = Server::new(true, PASSWORD).send(&changed);
        assert!(matches!(step, Step::Continue | Step::Failed(_)), "{length}: {step:?}");
        assert!(length < 128 || step != Step::Continue);
    }
}

#[test]
fn without_tls_at_the_server_nothing_is_sent_where_it_is_required() {
    let mut server = Server::new(false, "secret");
    server.login.tls = Some(tls(TlsMode::Required));
    let (step, answer) = server.send(&greeting("8.4.0", "caching_sha2_password"));
    assert!(matches!(step, Step::Failed(ServerError { code: code::TLS, .. })), "{step:?}");
    assert!(answer.is_empty());
    server = Server::new(false, "secret");
    server.login.tls = Some(tls(TlsMode::Preferred));
    assert_eq!(login_of(&server.greet("caching_sha2_password")).user(), b"bench");
}

#[test]
fn before_tls_only_the_request_for_it_is_sent() {
    let mut server = Server::new(false, "secret");
    server.login.tls = Some(tls(TlsMode::Required));
    let offer = offering(&greeting("8.4.0", "caching_sha2_password"), Capability::CLIENT_SSL);
    let (step, request) = server.send(&offer);
    assert_eq!(step, Step::Encrypt);
    assert_eq!(request.len(), 32, "capabilities, the longest packet, character set and 23 zeros");
    let capabilities = u32::from_le_bytes(*request.first_chunk().unwrap());
    let wanted = Capability::CLIENT_SSL | Capability::CLIENT_CONNECT_WITH_DB;
    assert!(Capability::from_bits_truncate(capabilities).contains(wanted));
    let login = server.handshake.login();
    assert_eq!(login[3], 2, "it follows the request");
    assert_eq!(login_of(&login[4..]).user(), b"bench");
    // An unchecked certificate may be anybody's: the password is not sent over it.
    server.sequence = 3;
    let (step, answer) = server.send(&[1, FULL_AUTHENTICATION]);
    assert!(matches!(step, Step::Failed(ServerError { code: code::AUTH_REFUSED, .. })), "{step:?}");
    assert!(answer.is_empty());
}

/// A greeting with further capabilities: the lower half of them follows version, id and nonce.
fn offering(greeting: &[u8], capabilities: Capability) -> Vec<u8> {
    let version = greeting[1..].iter().position(|&byte| byte == 0).unwrap();
    let mut offer = greeting.to_vec();
    let at = 1 + version + 1 + 4 + 8 + 1;
    let [first, second, third, fourth] = capabilities.bits().to_le_bytes();
    for (place, byte) in [(at, first), (at + 1, second), (at + 5, third), (at + 6, fourth)] {
        offer[place] |= byte;
    }
    offer
}

/// Begins with native passwords and is asked for this plugin, with this nonce and no byte after it.
fn switched(plugin: &str, nonce: &[u8]) -> (Server, Step, Vec<u8>) {
    let mut server = Server::new(false, PASSWORD);
    server.greet("mysql_native_password");
    let (step, answer) = server.send(&[&[0xfe], plugin.as_bytes(), &[0], nonce].concat());
    (server, step, answer)
}

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len() / 2).map(|at| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).unwrap()).collect()
}

#[test]
fn ed25519_of_mariadb_signs_the_nonce_with_the_password() {
    // As signed by PyMySQL and libsodium.
    let signature = "4e8c95a05efc3547b222b7231949606b62c4456ae93ed2cfa553fe6c80135551\
                     c46cc04298b47119b0f7c254689f451548d8a621bd37938f1a68d92e86780908";
    let nonce: Vec<u8> = (200..232).collect();
    let (mut server, step, answer) = switched("client_ed25519", &nonce);
    assert_eq!((step, answer), (Step::Continue, bytes(signature)));
    assert_eq!(server.send(&[0]).0, Step::Done);
}

#[test]
fn parsec_derives_a_key_with_the_salt_and_signs_both_nonces() {
    // Public keys of PBKDF2-HMAC-SHA512 with 1024 and 8192 rounds, as derived by OpenSSL.
    let keys = [
        (0, "f326b34209bf824773333479b843ff68a4c0ce5458ca8db86df7962b2700f258"),
        (3, "99bdfa92410819e4d254d7cd5761c4db4735f1661cb4066c1aca87024851d614"),
    ];
    let nonce: Vec<u8> = (200..232).collect();
    let salt = b"eighteen-byte-salt";
    for (factor, key) in keys {
        // The salt comes as it is from MariaDB, and after a byte 1 from what marks every packet.
        for mark in [&[][..], &[MORE_DATA]] {
            let (mut server, step, answer) = switched("parsec", &nonce);
            assert_eq!((step, answer), (Step::Continue, Vec::new()), "it asks for the salt");
            let (step, answer) = server.send(&[mark, b"P", &[factor], salt].concat());
            assert_eq!(step, Step::Continue);
            let (own, signature) = answer.split_at(32);
            let key =
                ring::signature::UnparsedPublicKey::new(&ring::signature::ED25519, bytes(key));
            key.verify(&[&nonce, own].concat(), signature).unwrap();
            assert_eq!(server.send(&[0]).0, Step::Done);
        }
    }
}

#[test]
fn a_salt_of_parsec_that_would_take_long_or_is_none_is_refused() {
    let nonce: Vec<u8> = (200..232).collect();
    let salt = b"eighteen-byte-salt";
    for broken in [
        [b"P", &[4][..], salt].concat(),
        [b"P", &[255][..], salt].concat(),
        [b"Q", &[0][..], salt].concat(),
        b"P".to_vec(),
    ] {
        let (mut server, ..) = switched("parsec", &nonce);
        let (step, answer) = server.send(&broken);
        assert!(matches!(step, Step::Failed(_)), "{step:?}");
        assert!(answer.is_empty(), "nothing may be sent");
    }
    for plugin in ["parsec", "client_ed25519"] {
        let (_, step, answer) = switched(plugin, &nonce[1..]);
        assert!(matches!(step, Step::Failed(_)), "{step:?}");
        assert!(answer.is_empty(), "nothing may be sent");
    }
}

/// The login that goes to a server with these capabilities, and how the connection is compressed.
fn compressed(
    algorithms: &[CompressionAlgorithm],
    offered: Capability,
) -> Result<(Vec<u8>, Option<Algorithm>), ServerError> {
    let mut server = Server::new(false, "");
    let algorithms = algorithms.to_vec();
    server.login.compression = Some(CompressionJob { algorithms, zstd_level: 9 });
    let offer = offering(&greeting("8.4.0", "mysql_native_password"), offered);
    let (step, login) = server.send(&offer);
    if let Step::Failed(error) = step {
        assert!(login.is_empty(), "nothing may be sent");
        return Err(error);
    }
    assert_eq!(server.send(&[0]).0, Step::Done);
    Ok((login, server.handshake.into_session().compression))
}

#[test]
fn of_what_both_sides_have_the_server_takes_zlib_before_zstd() {
    use CompressionAlgorithm::{Uncompressed, Zlib, Zstd};
    let (zlib, zstd) = (Capability::CLIENT_COMPRESS, Capability::CLIENT_ZSTD_COMPRESSION_ALGORITHM);
    let level = Some(Algorithm::Zstd { level: 9 });
    for (algorithms, offered, chosen) in [
        (&[Zlib][..], zlib | zstd, Some(Algorithm::Zlib)),
        (&[Zstd], zlib | zstd, level),
        (&[Zstd, Zlib], zlib | zstd, Some(Algorithm::Zlib)),
        (&[Zlib, Zstd, Uncompressed], zstd, level),
        (&[Zlib, Uncompressed], zstd, None),
        (&[Uncompressed], zlib | zstd, None),
    ] {
        let (login, compression) = compressed(algorithms, offered).unwrap();
        assert_eq!(compression, chosen, "{algorithms:?}");
        let sent =
            Capability::from_bits_truncate(u32::from_le_bytes(*login.first_chunk().unwrap()));
        let wanted = chosen.map_or(Capability::empty(), Algorithm::capability);
        assert_eq!(sent & (zlib | zstd), wanted, "{algorithms:?}");
        assert_eq!(login.ends_with(&[0, 9]), chosen == level, "the level of zstd comes last");
    }
}

#[test]
fn without_an_algorithm_of_the_job_at_the_server_nothing_is_sent() {
    use CompressionAlgorithm::{Zlib, Zstd};
    for (algorithms, names) in [(&[Zstd][..], "zstd"), (&[Zlib, Zstd], "zlib or zstd")] {
        let error = compressed(algorithms, Capability::empty()).unwrap_err();
        let message = format!("the server does not offer compression with {names}");
        assert_eq!(error, ServerError::new(code::COMPRESSION, message));
    }
}
