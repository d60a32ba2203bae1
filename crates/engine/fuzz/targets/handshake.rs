//! Any packets are taken as a server's side of the handshake without a panic, and none of them gets the password
//! out of the engine where anybody could read it. The first byte chooses how the user connects.
//!
//! In crates/engine: cargo +nightly fuzz run handshake -- -max_total_time=600 -dict=fuzz/handshake.dict

#![no_main]

use libfuzzer_sys::fuzz_target;
use mydyno_engine::job::{CompressionAlgorithm, CompressionJob, TlsJob, TlsMode};
use mydyno_engine::protocol::frames::Packet;
use mydyno_engine::protocol::handshake::{Handshake, Login, Step};
use mydyno_engine::protocol::tls::Tls;

const PASSWORD: &str = "correct horse battery staple";
/// A greeting up to its plugin, with every capability.
const GREETING: &[u8] =
    b"\x0a8.4.0\0\x07\0\0\0abcdefgh\0\xff\xff\x2d\x02\0\xff\xff\x15\0\0\0\0\0\0\0\0\0\0ijklmnopqrst\0";

fn shows_password(bytes: &[u8]) -> bool {
    bytes.windows(PASSWORD.len()).any(|part| part == PASSWORD.as_bytes())
}

fuzz_target!(|data: &[u8]| {
    let Some((&kind, mut rest)) = data.split_first() else { return };
    let (local, encrypted) = (kind & 1 != 0, kind & 2 != 0);
    let mode = if kind & 4 != 0 { TlsMode::Required } else { TlsMode::Preferred };
    let tls = TlsJob { mode, ca: None, cert: None, key: None };
    let login = Login {
        user: "bench".to_owned(),
        password: PASSWORD.into(),
        database: Some("mydyno".to_owned()),
        local,
        server_key: None,
        tls: encrypted.then(|| Tls::new(&tls, "localhost").unwrap()),
        compression: (kind & 128 != 0).then(|| CompressionJob {
            algorithms: vec![CompressionAlgorithm::Zstd, CompressionAlgorithm::Uncompressed],
            zstd_level: 3,
        }),
    };
    let mut handshake = Handshake::default();
    let mut number = 0u8;
    let mut take = |handshake: &mut Handshake, payload: &[u8]| {
        let packet = Packet { length: payload.len() as u32, sequence: number, head: payload };
        let mut out = Vec::new();
        let step = handshake.take(&login, packet, &mut out);
        if step == Step::Encrypt {
            out.extend(handshake.login());
        }
        // In clear over a unix socket; certificates of these modes are not checked.
        assert!(local || !shows_password(&out), "{}", String::from_utf8_lossy(&out));
        number = number.wrapping_add(2);
        matches!(step, Step::Continue | Step::Encrypt)
    };
    if kind & 8 != 0 {
        let (plugin, others) = rest.split_at(rest.len().min(usize::from(kind >> 4) * 2));
        rest = others;
        if !take(&mut handshake, &[GREETING, plugin, b"\0"].concat()) {
            return;
        }
    }
    while let Some((&length, others)) = rest.split_first() {
        let (payload, others) = others.split_at(others.len().min(length.into()));
        rest = others;
        if !take(&mut handshake, payload) {
            return;
        }
    }
});
