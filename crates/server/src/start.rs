//! `iruka serve` from the first argument to the last connection.

use crate::certificates;
use crate::config::Configuration;
use crate::data_folder;
use crate::descriptors::Descriptors;
use crate::error_log::{ErrorLog, Priority};
use crate::listen::listen;
use crate::port::SqlInstance;
use crate::reactor::Group;
use crate::scripts::ServerScript;
use crate::service_manager;
use crate::shared::Shared;
use crate::start_error::StartError;
use env::{Disk, DiskErrorKind, Environment, OpenMode};
use session::{Instance, InstanceOptions, ServerControl};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicU32};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use variables::id;
use wire::auth::cache::PasswordCache;

/// How long running statements may go on after the order to stop.
const STOP_GRACE: Duration = Duration::from_secs(30);
/// How soon a failed sync that no commit waits for ends the server.
const FAILURE_CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// The command `iruka serve`: what it ends with.
pub fn run(arguments: &[String]) -> ExitCode {
    match serve(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            if !error.is_told {
                // The disk of the log may be full, and the error is told by the exit code too.
                let _ = writeln!(std::io::stderr(), "iruka: {}", error.text);
            }
            error.exit_code()
        }
    }
}

/// Runs the server until it is told to stop.
fn serve(arguments: &[String]) -> Result<(), StartError> {
    let working_directory = std::env::current_dir()?;
    let configuration = Configuration::read(arguments, &working_directory).map_err(StartError::of_option)?;
    let warning = configuration.take_account().map_err(StartError::of_option)?;
    let environment = Environment::real(&configuration.data_directory);
    let log = Arc::new(open_log(&environment, &configuration)?);
    log.set_verbosity(configuration.log_verbosity);
    warning.iter().for_each(|text| log.warning(text));
    let result = start(&configuration, environment, &log).map_err(|error| error.with_advice(&configuration));
    result.map_err(|error| {
        log.error(&error.text);
        log.error("Aborting");
        StartError { is_told: configuration.log_file.is_none(), ..error }
    })
}

fn open_log(environment: &Environment, configuration: &Configuration) -> Result<ErrorLog, StartError> {
    let Some(path) = &configuration.log_file else { return Ok(ErrorLog::to_standard_error(environment)) };
    environment.disk.create_directory(Path::new(""))?;
    match environment.disk.open(path, OpenMode::CreateIfMissing) {
        Ok(file) => Ok(ErrorLog::to_file(environment, file)?),
        Err(error) if error.kind == DiskErrorKind::NoSpace => Ok(ErrorLog::to_standard_error(environment)),
        Err(error) => Err(error.into()),
    }
}

fn start(
    configuration: &Configuration,
    environment: Environment,
    log: &Arc<ErrorLog>,
) -> Result<(), StartError> {
    let version = env!("CARGO_PKG_VERSION");
    log.write(
        Priority::System,
        10116,
        &format!("iruka {version} starting as process {}", std::process::id()),
    );
    let descriptors = Descriptors::raised(configuration.descriptors_wanted);
    let options = InstanceOptions {
        settings: configuration.settings.clone(),
        data_directory: configuration.data_directory.display().to_string(),
        loopback_only: configuration.is_loopback_only(),
        descriptors_max: Some(descriptors.limit()),
        statements_only: false,
    };
    // A write beyond the limit of a file's size fails from here on, as on a full disk.
    signal_hook::flag::register(SIGXFSZ, Arc::default())?;
    data_folder::check(&configuration.data_directory)?;
    // A wrong option leaves no folder behind.
    Instance::check_options(&environment, &options).map_err(|wrong| StartError::of_variable(&wrong))?;
    configuration.check_folders().map_err(StartError::of_option)?;
    environment.disk.create_directory(Path::new(""))?;
    let instance =
        Instance::open(environment.clone(), options).map_err(|error| error.message().to_owned())?;
    let tell = || {
        log.set_verbosity(instance.global_number(id::LOG_ERROR_VERBOSITY));
        instance.take_messages().iter().for_each(|message| log.warning(message));
    };
    tell();
    instance.engine().take_notes().iter().for_each(|note| log.write(Priority::Note, 0, note));
    if configuration.initialize_only {
        return close(&instance);
    }
    let (stop, stopped) = StopOrder::new();
    let stop = Arc::new(stop);
    instance.set_server_control(Arc::clone(&stop) as Arc<dyn ServerControl>);
    watch_signals(&environment, &stop)?;
    let threads = environment.threads.available_parallelism();
    let shared = Arc::new(share(configuration, &environment, &instance, log, descriptors)?);
    let group = Group::start(Arc::clone(&shared), listen(configuration, log)?, threads)?;
    // A full disk is no reason not to serve.
    let _pid = PidFile::write(&environment, &configuration.pid_file)
        .inspect_err(|error| log.warning(&format!("The pid file cannot be written: {}", error.text)));
    announce(configuration, log);
    tell_manager(service_manager::READY, log);
    wait_for_order(&stopped, || {
        tell();
        instance.failure()
    })?;
    tell_manager(service_manager::STOPPING, log);
    log.write(Priority::System, 13172, "Received the order to stop; running statements may end.");
    instance.begin_shutdown();
    let left = group.stop(STOP_GRACE);
    if left > 0 {
        log.warning(&format!("{left} connections did not end in time"));
    }
    close(&instance)?;
    log.write(Priority::System, 10910, "Shutdown complete");
    Ok(())
}

/// What all connections share, with the keys of the data directory or of the options.
fn share(
    configuration: &Configuration,
    environment: &Environment,
    instance: &Arc<Instance>,
    log: &Arc<ErrorLog>,
    descriptors: Descriptors,
) -> Result<Shared, StartError> {
    let disk = &*environment.disk;
    let tell = |text: &str| log.warning(text);
    Ok(Shared {
        instance: Arc::new(Arc::clone(instance)) as Arc<dyn SqlInstance>,
        log: Arc::clone(log),
        passwords: PasswordCache::default(),
        key: Some(certificates::password_key(disk, &tell)?),
        tls: certificates::tls_configuration(disk, configuration, &tell)?,
        script: ServerScript::new(configuration, log)?,
        connection_count: AtomicU32::new(0),
        descriptors,
        is_stopping: AtomicBool::new(false),
        environment: environment.clone(),
    })
}

/// Waits for the order to stop. Commits notice a disk that fails by themselves; this notices the failure of a sync that
/// no commit waits for (page files, checkpoints): the error ends the process, and recovery decides what is true (I2). `failure`
/// is asked again and again.
fn wait_for_order(stopped: &Receiver<()>, failure: impl Fn() -> Option<String>) -> Result<(), StartError> {
    loop {
        match stopped.recv_timeout(FAILURE_CHECK_INTERVAL) {
            Err(RecvTimeoutError::Timeout) => {
                if let Some(reason) = failure() {
                    return Err(StartError::from(format!("The data directory cannot be written: {reason}.")));
                }
            }
            // The sender lives as long as the server.
            Ok(()) | Err(RecvTimeoutError::Disconnected) => return Ok(()),
        }
    }
}

/// Writes everything, so that the next start has nothing to recover. Old rows are left to it, unless innodb_fast_shutdown is 0.
fn close(instance: &Instance) -> Result<(), StartError> {
    if instance.purges_at_stop() {
        // What cannot be removed (a damaged page) is no reason not to write the rest.
        let _ = instance.engine().purge();
    }
    instance
        .engine()
        .shutdown()
        .map_err(|error| StartError::from(format!("The engine did not close: {error}")))
}

fn announce(configuration: &Configuration, log: &ErrorLog) {
    let port = configuration.addresses.first().map_or(0, std::net::SocketAddr::port);
    let socket = configuration.socket.display();
    let text = format!("ready for connections. socket: '{socket}'  port: {port}");
    log.write(Priority::System, 10931, &text);
}

/// A service manager that cannot be told is no reason not to serve.
fn tell_manager(state: &str, log: &ErrorLog) {
    if let Err(text) = service_manager::tell(state) {
        log.warning(&text);
    }
}

/// The order to stop, from a signal or from SHUTDOWN.
struct StopOrder(Mutex<SyncSender<()>>);

impl StopOrder {
    fn new() -> (StopOrder, Receiver<()>) {
        let (sender, receiver) = sync_channel(1);
        (StopOrder(Mutex::new(sender)), receiver)
    }
}

impl ServerControl for StopOrder {
    fn shutdown(&self) {
        // Full means that the order was given already.
        let _ = self.0.lock().unwrap_or_else(PoisonError::into_inner).try_send(());
    }
}

/// SIGTERM and SIGINT stop the server; SIGHUP does nothing. Nor does SIGXFSZ: a write beyond the limit of a file's size (ulimit -f) fails
/// as on a full disk.
fn watch_signals(environment: &Environment, stop: &Arc<StopOrder>) -> Result<(), StartError> {
    let mut signals = signal_hook::iterator::Signals::new([SIGTERM, SIGINT, SIGHUP, SIGXFSZ])?;
    let stop = Arc::clone(stop);
    let body = move || {
        for signal in signals.forever() {
            if matches!(signal, SIGTERM | SIGINT) {
                stop.shutdown();
            }
        }
    };
    environment.threads.try_spawn("signals", Box::new(body))?;
    Ok(())
}

/// The file with the process's number; removed at the end.
struct PidFile {
    disk: Arc<dyn Disk>,
    path: PathBuf,
}

impl PidFile {
    fn write(environment: &Environment, path: &Path) -> Result<PidFile, StartError> {
        let disk = Arc::clone(&environment.disk);
        let file = disk.open(path, OpenMode::CreateIfMissing)?;
        file.set_len(0)?;
        file.write_at(format!("{}\n", std::process::id()).as_bytes(), 0)?;
        Ok(PidFile { disk, path: path.to_path_buf() })
    }
}

impl Drop for PidFile {
    fn drop(&mut self) {
        // It may have been removed by hand.
        let _ = self.disk.remove(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_ends_the_server_well_and_a_failed_disk_ends_it_badly() {
        let (order, stopped) = StopOrder::new();
        let failed = wait_for_order(&stopped, || Some("no luck".to_owned())).unwrap_err();
        assert_eq!(failed.text, "The data directory cannot be written: no luck.");
        order.shutdown();
        assert!(wait_for_order(&stopped, || None).is_ok());
    }
}
