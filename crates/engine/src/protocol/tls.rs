//! TLS between the engine and a server: what is checked, and the bytes of one session.
//!
//! The modes are those of the MySQL clients (MySQL Reference Manual, "Command Options for Encrypted
//! Connections"). Sessions are not resumed: the clients of MySQL make a full handshake for each connection.

use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{
    ClientConnection, Resumption, verify_server_cert_signed_by_trust_anchor, verify_server_name,
};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme,
};

use super::{ServerError, code};
use crate::job::{TlsJob, TlsMode};

/// How the connections to one server are encrypted.
#[derive(Clone, Debug)]
pub struct Tls {
    config: Arc<ClientConfig>,
    name: ServerName<'static>,
    /// Without encryption there is no connection.
    pub required: bool,
    /// The server's certificate is checked: a password may be sent.
    pub verified: bool,
}

impl Tls {
    /// Reads the certificates; `host` is the server's name or address.
    ///
    /// # Errors
    /// A sentence about the file or name that cannot be used.
    pub fn new(job: &TlsJob, host: &str) -> Result<Self, String> {
        let provider = Arc::new(ring::default_provider());
        let verified = matches!(job.mode, TlsMode::VerifyCa | TlsMode::VerifyIdentity);
        let authorities = match verified {
            true => Some(authorities(job.ca.as_deref())?),
            false => None,
        };
        let identity = job.mode == TlsMode::VerifyIdentity;
        let verifier = Verifier { authorities, identity, provider: provider.clone() };
        let builder = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier));
        let mut config = match (&job.cert, &job.key) {
            (Some(cert), key) => {
                let key = key.as_deref().unwrap_or(cert);
                let certificates = certificates(cert)?;
                let private = PrivateKeyDer::from_pem_file(key)
                    .map_err(|error| unusable(key, "private key", error))?;
                builder
                    .with_client_auth_cert(certificates, private)
                    .map_err(|error| unusable(cert, "client certificate", error))?
            }
            (None, _) => builder.with_no_client_auth(),
        };
        config.resumption = Resumption::disabled();
        let name = ServerName::try_from(host.to_owned())
            .map_err(|_| format!("{host} is not a host name or address that TLS can check"))?;
        let required = job.mode != TlsMode::Preferred;
        Ok(Self { config: Arc::new(config), name, required, verified })
    }

    pub fn session(&self) -> Result<Session, ServerError> {
        let session = ClientConnection::new(self.config.clone(), self.name.clone());
        let mut session = session.map_err(failed)?;
        // Commands may be longer than the default; they wait here only until the handshake is over.
        session.set_buffer_limit(None);
        Ok(Session(Box::new(session)))
    }
}

/// The state of one encrypted connection.
pub struct Session(Box<ClientConnection>);

impl Session {
    /// Appends `plain` to `out`, encrypted; during the handshake it is kept until the server has proved
    /// itself.
    pub fn seal(&mut self, plain: &[u8], out: &mut Vec<u8>) {
        self.0.writer().write_all(plain).expect("the buffer has no limit");
        self.flush(out);
    }

    /// Decrypts what came from the server and appends it to `plain`; what TLS itself answers is appended
    /// to `out`.
    ///
    /// # Errors
    /// The server's certificate is not accepted, or what came is not valid TLS; `out` then has the alert.
    pub fn open(
        &mut self,
        mut sealed: &[u8],
        plain: &mut Vec<u8>,
        out: &mut Vec<u8>,
    ) -> Result<(), ServerError> {
        while !sealed.is_empty() {
            let taken = self.0.read_tls(&mut sealed).map_err(|error| malformed(&error))?;
            let state = self.0.process_new_packets();
            self.flush(out);
            let ready = state.map_err(failed)?.plaintext_bytes_to_read();
            let start = plain.len();
            plain.resize(start + ready, 0);
            self.0.reader().read_exact(&mut plain[start..]).map_err(|error| malformed(&error))?;
            if taken == 0 {
                // The server has said that it sends nothing more.
                break;
            }
        }
        Ok(())
    }

    /// The blocking stream over `socket`.
    pub fn over<S: Read + Write>(self, socket: S) -> rustls::StreamOwned<ClientConnection, S> {
        rustls::StreamOwned::new(*self.0, socket)
    }

    fn flush(&mut self, out: &mut Vec<u8>) {
        while self.0.wants_write() {
            self.0.write_tls(out).expect("memory takes every byte");
        }
    }
}

/// The error of a blocking stream, where TLS is its cause.
pub fn cause(error: &io::Error) -> Option<ServerError> {
    let cause = error.get_ref()?.downcast_ref::<rustls::Error>()?;
    Some(failed(cause.clone()))
}

/// The server does not offer what the job requires.
pub fn not_offered() -> ServerError {
    ServerError::new(code::TLS, "the server does not offer TLS")
}

/// Something came in clear after the server's greeting: anybody on the way may have added it.
pub fn not_encrypted() -> ServerError {
    ServerError::new(code::TLS, "unencrypted bytes came where TLS was to begin")
}

fn failed(error: rustls::Error) -> ServerError {
    if let rustls::Error::InvalidCertificate(CertificateError::NotValidForNameContext {
        expected,
        presented,
    }) = &error
        && presented.is_empty()
    {
        return nameless(expected);
    }
    ServerError::new(code::TLS, format!("TLS failed: {error}"))
}

/// Those that MySQL makes for itself are such.
fn nameless(expected: &ServerName<'_>) -> ServerError {
    let kind = if matches!(expected, ServerName::IpAddress(_)) { "IP" } else { "DNS" };
    let host = expected.to_str();
    let message = format!(
        "TLS failed: the server's certificate has no subject alternative name, and its common name (CN) is \
         not compared with {host}: use VERIFY_CA, or give the server a certificate with subjectAltName = \
         {kind}:{host}"
    );
    ServerError::new(code::TLS, message)
}

fn malformed(error: &io::Error) -> ServerError {
    ServerError::new(code::TLS, format!("TLS failed: {error}"))
}

/// Checks what the mode asks for. Signatures of the handshake are always checked.
#[derive(Debug)]
struct Verifier {
    /// None: any certificate will do.
    authorities: Option<RootCertStore>,
    /// The certificate must be that of the host.
    identity: bool,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        if let Some(authorities) = &self.authorities {
            let certificate = ParsedCertificate::try_from(end_entity)?;
            let algorithms = self.provider.signature_verification_algorithms.all;
            verify_server_cert_signed_by_trust_anchor(
                &certificate,
                authorities,
                intermediates,
                now,
                algorithms,
            )?;
            if self.identity {
                verify_server_name(&certificate, server_name)?;
            }
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, cert, dss, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, cert, dss, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

/// The authorities of a file, or those of this system.
fn authorities(ca: Option<&Path>) -> Result<RootCertStore, String> {
    let mut store = RootCertStore::empty();
    let found = match ca {
        Some(path) => certificates(path)?,
        None => rustls_native_certs::load_native_certs().certs,
    };
    let (added, _) = store.add_parsable_certificates(found);
    match (added, ca) {
        (0, Some(path)) => Err(format!("{} has no certificate of an authority", path.display())),
        (0, None) => Err("this system has no certificates of authorities (ca-certificates)".into()),
        _ => Ok(store),
    }
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    CertificateDer::pem_file_iter(path)
        .and_then(Iterator::collect)
        .map_err(|error| unusable(path, "certificate", error))
}

fn unusable(path: &Path, what: &str, error: impl std::fmt::Display) -> String {
    format!("{}: not a usable {what} in PEM: {error}", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_certificate_without_an_alternative_name_is_explained_with_what_helps() {
        for (host, name) in [("db1.example", "DNS:db1.example"), ("127.0.0.1", "IP:127.0.0.1")] {
            let expected = ServerName::try_from(host).unwrap().to_owned();
            let context = |presented| {
                let expected = expected.clone();
                failed(rustls::Error::InvalidCertificate(
                    CertificateError::NotValidForNameContext { expected, presented },
                ))
            };
            let message = context(Vec::new()).message;
            for part in [
                "no subject alternative name",
                "use VERIFY_CA",
                &format!("subjectAltName = {name}"),
            ] {
                assert!(message.contains(part), "{message}");
            }
            let other = context(vec!["DnsName(\"db2\")".to_owned()]).message;
            assert!(other.contains("db2") && !other.contains("subjectAltName"), "{other}");
        }
    }
}
