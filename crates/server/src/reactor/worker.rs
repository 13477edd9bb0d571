//! The threads that run reactors. Main type: [`Worker`].

use super::core::{Answer, Core, Work};
use super::{Group, Message, Reactor};
use crate::connection::{Connection, Next, Turn};
use crate::net::client_host;
use engine::FlushWaiter;
use errors::sql_error;
use network::Socket;
use session::{ClientHost, RefusedConnection};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use stdx::ids::Lsn;
use wire::output::Output;
use wire::response::push_error;

/// Starts a thread that runs a core.
pub(crate) fn start(group: &Arc<Group>, core: Box<Core>) {
    let threads = Arc::clone(&group.shared.environment.threads);
    let name = format!("reactor-{}", core.reactor.index);
    let thread_group = Arc::clone(group);
    let handed = Arc::new(std::sync::Mutex::new(Some(core)));
    let inside = Arc::clone(&handed);
    let body = move || {
        let core = super::lock(&inside).take();
        Worker::new(thread_group).run(core);
    };
    let started = threads.try_spawn(&name, Box::new(body));
    if let Ok(thread) = started {
        group.keep(thread);
    } else if let Some(core) = super::lock(&handed).take() {
        // No thread to be had: the statement's thread finds its core again and the reactor goes on after it.
        let reactor = Arc::clone(&core.reactor);
        let ticket = reactor.tickets.load(Ordering::Relaxed);
        *super::lock(&reactor.slot) = Some((ticket, core));
    }
}

/// A reactor that is lost in a panic would leave its clients hanging: better to stop and recover.
struct AbortOnPanic(Arc<Group>);

impl Drop for AbortOnPanic {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.shared.log.error("A reactor panicked. The server stops.");
            std::process::abort();
        }
    }
}

/// A thread's own state.
struct Worker {
    group: Arc<Group>,
    hook: Rc<Hook>,
}

/// Gives the reactor away when the statement is about to wait.
struct Hook {
    group: Arc<Group>,
    /// The reactor and ticket of the statement that runs; None while none does.
    running: RefCell<Option<Arc<Reactor>>>,
    ticket: Cell<u64>,
    /// Whose statement runs; 0 for none that could be killed.
    connection: Cell<u32>,
}

impl env::blocking::Hook for Hook {
    fn enter(&self) {
        let running = self.running.borrow();
        let Some(reactor) = running.as_ref().filter(|_| self.ticket.get() != 0) else { return };
        // With nobody else to serve a short wait is not worth two thread switches; a long one is seen by the monitor.
        if reactor.connection_count.load(Ordering::Relaxed) <= 1 {
            return;
        }
        if let Some(core) = reactor.reclaim(self.ticket.get()) {
            self.group.employ(core);
        }
    }

    fn exit(&self) {}

    fn is_interrupted(&self) -> bool {
        self.ticket.get() != 0 && self.group.shared.instance.is_killed(self.connection.get())
    }
}

impl Worker {
    fn new(group: Arc<Group>) -> Worker {
        let hook = Rc::new(Hook {
            group: Arc::clone(&group),
            running: RefCell::new(None),
            ticket: Cell::new(0),
            connection: Cell::new(0),
        });
        env::blocking::set_hook(Rc::clone(&hook) as Rc<dyn env::blocking::Hook>);
        Worker { group, hook }
    }

    /// Runs cores until none is left for this thread.
    fn run(&self, mut core: Option<Box<Core>>) {
        let _end = AbortOnPanic(Arc::clone(&self.group));
        let mut found = Vec::new();
        while let Some(mut held) = core.take().or_else(|| self.group.spares.wait()) {
            *self.hook.running.borrow_mut() = Some(Arc::clone(&held.reactor));
            loop {
                match self.round(held) {
                    Some(still_held) if !still_held.is_finished => held = still_held,
                    _ => break,
                }
                if let Err(error) = held.wait(&mut found) {
                    self.group.shared.log.error(&format!("A reactor cannot wait for sockets: {error}."));
                    std::process::abort();
                }
            }
        }
    }

    /// Everything that is ready; None if the core went to another thread meanwhile.
    fn round(&self, mut core: Box<Core>) -> Option<Box<Core>> {
        core.now = self.group.shared.environment.clock.monotonic();
        core.resume_listeners();
        for _ in 0..core.ready_count() {
            let Some((slot, connection)) = core.take_ready() else { break };
            core = self.take_turn(core, slot, connection)?;
        }
        while let Some(work) = core.next_work() {
            core = match work {
                Work::Inbox => self.read_inbox(core)?,
                Work::Accept(index) => {
                    self.accept(&mut core, index);
                    core
                }
                Work::Turn(slot, connection) => self.take_turn(core, slot, connection)?,
                Work::TimedOut(slot, connection) => self.close(core, slot, connection)?,
            };
        }
        core = self.send_answers(core)?;
        while let Some(Work::TimedOut(slot, mut connection)) = core.take_timed_out() {
            connection.time_out();
            core = self.close(core, slot, connection)?;
        }
        Some(core)
    }

    /// Runs something that may take long, with the core where others can take it.
    fn lending<T>(&self, core: Box<Core>, body: impl FnOnce() -> T) -> (Option<Box<Core>>, T) {
        let reactor = Arc::clone(&core.reactor);
        let ticket = reactor.lend(core);
        self.group.monitor.ring();
        self.hook.ticket.set(ticket);
        let value = body();
        self.hook.ticket.set(0);
        (reactor.reclaim(ticket), value)
    }

    /// A connection reads, executes, and leaves its answer for the end of the round.
    fn take_turn(&self, core: Box<Core>, slot: u32, mut connection: Box<Connection>) -> Option<Box<Core>> {
        let reactor = Arc::clone(&core.reactor);
        let now = core.now;
        self.hook.connection.set(connection.id());
        let (core, turn) = self.lending(core, || connection.turn(now));
        match core {
            Some(mut core) => {
                core.hold_answer(slot, connection, turn);
                Some(core)
            }
            None => {
                self.answer_alone(&reactor, slot, connection, turn);
                None
            }
        }
    }

    /// This thread lost its reactor: it serves its client to the end of this answer and returns the connection.
    fn answer_alone(&self, reactor: &Reactor, slot: u32, mut connection: Box<Connection>, turn: Turn) {
        if turn.lsn > Lsn(0) {
            self.group.shared.flush_log(turn.lsn);
        }
        let sent = connection.send_waiting();
        if turn.next == Next::Close || sent.is_err() {
            self.drop_connection(connection);
            reactor.post(Message::Gone(slot));
        } else {
            reactor.post(Message::Return(slot, connection));
        }
    }

    /// Sends what may leave at once, then flushes the log for the rest, unless another reactor's flush goes on.
    fn send_answers(&self, core: Box<Core>) -> Option<Box<Core>> {
        let mut core = self.send_safe(core)?;
        if core.answers.is_empty() || core.awaits_flush {
            return Some(core);
        }
        let lsn = core.answers.iter().map(|answer| answer.lsn).max().unwrap_or(Lsn(0));
        let answers = std::mem::take(&mut core.answers);
        let reactor = Arc::clone(&core.reactor);
        let waiter = Arc::clone(&reactor) as Arc<dyn FlushWaiter>;
        // Not the hook's business: the requests that arrive during the flush are the next group.
        let ticket = reactor.lend(core);
        self.group.monitor.ring();
        let is_flushed = self.group.shared.flush_log_or_subscribe(lsn, &waiter);
        match reactor.reclaim(ticket) {
            Some(mut core) => {
                core.answers = answers;
                core.awaits_flush = !is_flushed;
                if is_flushed { self.send_safe(core) } else { Some(core) }
            }
            None => {
                for Answer { lsn, slot, connection, next } in answers {
                    self.answer_alone(&reactor, slot, connection, Turn { lsn, next });
                }
                None
            }
        }
    }

    /// Sends the answers for which the log is durable by now.
    fn send_safe(&self, mut core: Box<Core>) -> Option<Box<Core>> {
        let needs_log = core.answers.iter().any(|answer| answer.lsn > Lsn(0));
        let durable = if needs_log { self.group.shared.instance.durable_lsn() } else { Lsn(0) };
        let mut answers = std::mem::take(&mut core.answers);
        let mut closing = Vec::new();
        let leaving: Vec<Answer> = answers.extract_if(.., |answer| answer.lsn <= durable).collect();
        let sends: Vec<_> = leaving.iter().map(|answer| answer.connection.plain_answer()).collect();
        core.sender.send_each(&sends);
        drop(sends);
        for (index, Answer { slot, mut connection, next, .. }) in leaving.into_iter().enumerate() {
            match connection.note_sent(core.sender.result(index), core.now) {
                Ok(_) if next != Next::Close && !core.is_stopping => core.put_back(slot, connection, next),
                _ => {
                    core.take_memory_back(&mut connection);
                    closing.push((slot, connection));
                }
            }
        }
        core.answers = answers;
        let reactor = Arc::clone(&core.reactor);
        let mut core = Some(core);
        for (slot, connection) in closing {
            match core.take() {
                Some(held) => core = self.close(held, slot, connection),
                None => {
                    self.drop_connection(connection);
                    reactor.post(Message::Gone(slot));
                }
            }
        }
        core
    }

    /// Closes a connection. Its rollback may take long.
    fn close(&self, core: Box<Core>, slot: u32, connection: Box<Connection>) -> Option<Box<Core>> {
        let reactor = Arc::clone(&core.reactor);
        self.hook.connection.set(0);
        let (core, ()) = self.lending(core, || self.drop_connection(connection));
        match core {
            Some(mut core) => {
                core.release(slot);
                Some(core)
            }
            None => {
                reactor.post(Message::Gone(slot));
                None
            }
        }
    }

    fn drop_connection(&self, connection: Box<Connection>) {
        connection.count_end();
        drop(connection);
        self.group.count_closed();
    }

    fn read_inbox(&self, mut core: Box<Core>) -> Option<Box<Core>> {
        let messages = core.take_messages();
        if core.reactor.take_flush_ended() {
            core.awaits_flush = false;
        }
        for message in messages {
            match message {
                Message::Adopt(..) if core.is_stopping => self.group.count_closed(),
                Message::Adopt(socket, host) => self.welcome(&mut core, socket, host),
                // Its events were missed while it was away.
                Message::Return(slot, connection) => core.put_back(slot, connection, Next::Again),
                Message::Gone(slot) => core.release(slot),
                Message::Stop => core.stop_accepting(),
                Message::Finish => core.is_finished = true,
            }
        }
        if !core.is_stopping {
            return Some(core);
        }
        let mut held = Some(core);
        while let Some(mut core) = held.take() {
            let Some((slot, mut connection)) = core.take_any() else { return Some(core) };
            connection.say_shutdown();
            held = self.close(core, slot, connection);
        }
        None
    }

    /// Takes one connection. If more wait, epoll says so again with the next round: cheaper than a call that finds none.
    fn accept(&self, core: &mut Core, index: usize) {
        let (socket, address) = match core.listener(index).map(|listener| listener.accept()) {
            Some(Ok(Some(accepted))) => accepted,
            Some(Err(error)) => {
                let what = format!("Connections cannot be accepted at present: {error}");
                self.group.shared.descriptors.note_shortage(&self.group.shared.log, core.now, &what);
                return core.pause_listener(index);
            }
            _ => return,
        };
        let host = client_host(&socket, address);
        let shared = &self.group.shared;
        let count = shared.connection_count.fetch_add(1, Ordering::AcqRel) + 1;
        if !shared.descriptors.may_be_connection(&socket.descriptor()) {
            let what = "Connections are refused, because nearly all file descriptors are in use";
            shared.descriptors.note_shortage(&shared.log, core.now, what);
            return self.turn_away(&socket);
        }
        // The session decides about the last one: it is for an administrator.
        if count > shared.instance.settings().connections_max.saturating_add(1) {
            return self.turn_away(&socket);
        }
        let chosen = self.group.choose(&core.reactor);
        if Arc::ptr_eq(chosen, &core.reactor) {
            self.welcome(core, socket, host);
        } else {
            chosen.post(Message::Adopt(socket, host));
        }
    }

    /// Error 1040 in place of a greeting.
    fn turn_away(&self, socket: &Socket) {
        let mut output = Output::new();
        push_error(output.begin_packet(), &sql_error!(ER_CON_COUNT_ERROR), 0);
        output.end_packet();
        // The client may be gone already.
        let _ = socket.send(output.bytes());
        self.group.shared.instance.count_refused(RefusedConnection::TooMany);
        self.group.count_closed();
    }

    /// Greets a new client.
    fn welcome(&self, core: &mut Core, socket: Socket, host: ClientHost) {
        let mut connection = Box::new(Connection::new(socket, host, &self.group.shared, core.now));
        // A client that is gone already is found by its first event.
        let _ = connection.send(core.now);
        if let Err(error) = core.insert(connection) {
            self.group.shared.log.warning(&format!("A connection cannot be watched: {error}."));
            self.group.count_closed();
        }
    }
}
