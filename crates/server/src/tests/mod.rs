//! The server against a small SQL layer of its own: every command over real sockets, without an engine.

pub mod client;
mod compression;
pub mod fake;
mod logins;
mod protocol;
mod stock_clients;

use crate::error_log::ErrorLog;
use crate::reactor::Group;
use crate::rsa_key::RsaKey;
use crate::shared::Shared;
use env::Environment;
use fake::FakeInstance;
use network::Listener;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

/// A running server; stopped when dropped.
pub struct TestServer {
    pub port: u16,
    pub instance: Arc<FakeInstance>,
    shared: Arc<Shared>,
    group: Arc<Group>,
}

impl TestServer {
    pub fn start(instance: FakeInstance) -> TestServer {
        let instance = Arc::new(instance);
        let (shared, _) = shared(&instance);
        let listener = Listener::tcp("127.0.0.1:0".parse().unwrap(), 128).unwrap();
        let port = listener.port().unwrap();
        let group = Group::start(Arc::clone(&shared), vec![listener], 2).unwrap();
        TestServer { port, instance, shared, group }
    }
}

impl TestServer {
    /// Waits until no more than so many connections are open.
    pub fn until_only(&self, connections: u32) {
        while self.shared.connection_count.load(Ordering::Acquire) > connections {
            std::thread::yield_now();
        }
    }
}

/// What connections share, and the certificate of the authority that clients trust.
pub fn shared(instance: &Arc<FakeInstance>) -> (Arc<Shared>, String) {
    let environment = Environment::real(&std::env::temp_dir());
    let log = Arc::new(ErrorLog::to_standard_error(&environment));
    let certificates = crate::tls::generate().unwrap();
    let shared = Shared {
        script: None,
        instance: Arc::clone(instance) as Arc<dyn crate::port::SqlInstance>,
        environment,
        log,
        passwords: Default::default(),
        key: Some(RsaKey::generate().unwrap().0),
        tls: Some(crate::tls::server_config(&certificates.certificate, &certificates.key).unwrap()),
        connection_count: AtomicU32::new(0),
        descriptors: crate::descriptors::Descriptors::of(1 << 20),
        is_stopping: AtomicBool::new(false),
    };
    (Arc::new(shared), certificates.authority)
}

impl Drop for TestServer {
    fn drop(&mut self) {
        assert_eq!(self.group.stop(Duration::from_secs(10)), 0, "connections are left");
    }
}

/// Serves for as long as IRUKA_TEST_SERVE_SECONDS says, on the port that it prints: for load generators.
#[test]
fn serve_for_load_generators() {
    let Some(seconds) = std::env::var("IRUKA_TEST_SERVE_SECONDS").ok().and_then(|text| text.parse().ok())
    else {
        return;
    };
    let server = TestServer::start(FakeInstance::default());
    println!("port {}", server.port);
    std::thread::park_timeout(Duration::from_secs(seconds));
}
