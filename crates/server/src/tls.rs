//! TLS: the server's configuration, and the certificates made on the first start.

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, KeyUsagePurpose};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::sync::Arc;

/// PEM texts of a self-made certificate authority and of the server's certificate signed by it.
pub struct Certificates {
    /// ca.pem.
    pub authority: String,
    /// server-cert.pem.
    pub certificate: String,
    /// server-key.pem.
    pub key: String,
}

/// Makes certificates that last for ten years.
pub fn generate() -> Result<Certificates, rcgen::Error> {
    let mut parameters = CertificateParams::new(Vec::new())?;
    parameters.distinguished_name.push(DnType::CommonName, "Iruka_Server_Auto_Generated_CA_Certificate");
    parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    parameters.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    let authority_key = KeyPair::generate()?;
    let authority = parameters.self_signed(&authority_key)?;
    let issuer = Issuer::new(parameters, authority_key);

    let mut parameters = CertificateParams::new(vec!["localhost".to_owned()])?;
    parameters.distinguished_name.push(DnType::CommonName, "Iruka_Server_Auto_Generated_Server_Certificate");
    let key = KeyPair::generate()?;
    let certificate = parameters.signed_by(&key, &issuer)?;
    Ok(Certificates { authority: authority.pem(), certificate: certificate.pem(), key: key.serialize_pem() })
}

/// The configuration of a server with that certificate chain and key (PEM). TLS 1.2 and 1.3, safe suites only.
pub fn server_config(certificates: &str, key: &str) -> Result<Arc<rustls::ServerConfig>, String> {
    let chain = CertificateDer::pem_slice_iter(certificates.as_bytes()).collect::<Result<Vec<_>, _>>();
    let chain = chain.map_err(|error| format!("the certificate cannot be read: {error}"))?;
    let key = PrivateKeyDer::from_pem_slice(key.as_bytes());
    let key = key.map_err(|error| format!("the key cannot be read: {error}"))?;
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .map_err(|error| format!("certificate and key do not fit: {error}"))?;
    Ok(Arc::new(config))
}
