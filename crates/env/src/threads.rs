//! [`Threads`]: starting named threads, and how large the machine is. [`RealThreads`] is the operating system's.
#![allow(clippy::disallowed_methods)]

/// Starts threads. Usable from any thread.
pub trait Threads: Send + Sync {
    /// Starts a thread. The name is cut to 15 bytes by Linux.
    ///
    /// # Panics
    /// If the operating system refuses; use it at start-up, and [`Threads::try_spawn`] elsewhere.
    fn spawn(&self, name: &str, body: Box<dyn FnOnce() + Send>) -> JoinHandle {
        match self.try_spawn(name, body) {
            Ok(handle) => handle,
            Err(error) => panic!("thread '{name}' cannot be started: {error}"),
        }
    }
    /// Starts a thread, or says why not.
    fn try_spawn(&self, name: &str, body: Box<dyn FnOnce() + Send>) -> Result<JoinHandle, std::io::Error>;
    /// How many threads run at once; honours cgroup quotas and the affinity mask.
    fn available_parallelism(&self) -> usize;
    /// Bytes of memory this process may use: the smaller of the machine's and the cgroup's.
    fn memory_limit_bytes(&self) -> u64;
    /// Binds the calling thread to one CPU; false if the operating system refuses.
    fn pin_current(&self, cpu: usize) -> bool;
    /// The CPUs this process may run on.
    fn cpus(&self) -> Vec<usize>;
}

/// A started thread. Dropping it detaches the thread.
#[derive(Debug)]
pub struct JoinHandle(std::thread::JoinHandle<()>);

impl JoinHandle {
    /// Waits for the thread's end; false if it panicked.
    pub fn join(self) -> bool {
        self.0.join().is_ok()
    }

    /// Whether the thread has ended.
    pub fn is_finished(&self) -> bool {
        self.0.is_finished()
    }
}

/// The operating system's threads.
pub struct RealThreads;

/// Connection threads run recursive-descent parsing and planning with bounded depth; background threads need less.
const STACK_BYTES: usize = 2 << 20;

impl Threads for RealThreads {
    fn try_spawn(&self, name: &str, body: Box<dyn FnOnce() + Send>) -> Result<JoinHandle, std::io::Error> {
        let body = || {
            stdx::stack::note_start();
            body();
        };
        std::thread::Builder::new().name(name.to_string()).stack_size(STACK_BYTES).spawn(body).map(JoinHandle)
    }

    fn available_parallelism(&self) -> usize {
        std::thread::available_parallelism().map_or(1, |count| count.get())
    }

    fn memory_limit_bytes(&self) -> u64 {
        let physical = memory_total_bytes().unwrap_or(1 << 30);
        cgroup_limit_bytes().map_or(physical, |limit| limit.min(physical))
    }

    fn pin_current(&self, cpu: usize) -> bool {
        let mut set = rustix::thread::CpuSet::new();
        if cpu >= rustix::thread::CpuSet::MAX_CPU {
            return false;
        }
        set.set(cpu);
        rustix::thread::sched_setaffinity(None, &set).is_ok()
    }

    fn cpus(&self) -> Vec<usize> {
        match rustix::thread::sched_getaffinity(None) {
            Ok(set) => (0..rustix::thread::CpuSet::MAX_CPU).filter(|cpu| set.is_set(*cpu)).collect(),
            Err(_) => (0..self.available_parallelism()).collect(),
        }
    }
}

fn memory_total_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("MemTotal:"))?;
    let kibibytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    kibibytes.checked_mul(1024)
}

/// The limit of cgroup version 2, or else of version 1. "max" and absurdly large numbers mean none.
fn cgroup_limit_bytes() -> Option<u64> {
    let group = std::fs::read_to_string("/proc/self/cgroup").ok()?;
    let path = group.lines().find_map(|line| line.strip_prefix("0::")).unwrap_or("/");
    let candidates = [
        format!("/sys/fs/cgroup{}/memory.max", path.trim_end_matches('/')),
        "/sys/fs/cgroup/memory.max".to_string(),
        "/sys/fs/cgroup/memory/memory.limit_in_bytes".to_string(),
    ];
    candidates.iter().filter_map(|name| std::fs::read_to_string(name).ok()?.trim().parse().ok()).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_runs_under_its_name() {
        let (sender, receiver) = std::sync::mpsc::sync_channel(1);
        let body = move || sender.send(std::thread::current().name().map(str::to_string)).unwrap();
        let handle = RealThreads.spawn("flusher", Box::new(body));
        assert_eq!(receiver.recv().unwrap().as_deref(), Some("flusher"));
        assert!(handle.join());
    }

    #[test]
    fn the_machine_has_a_size() {
        assert!(RealThreads.available_parallelism() >= 1);
        assert!(RealThreads.memory_limit_bytes() >= 64 << 20);
        assert!(!RealThreads.cpus().is_empty());
    }
}
