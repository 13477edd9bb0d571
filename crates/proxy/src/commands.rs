//! Commands of a client whose session has a script. Main types: [`Commands`], [`Exchange`].
//!
//! A command becomes an exchange: it passes as it is, is answered by the script, or gives way to queries that the
//! script queued. They go to the server one after the other, each when the answer to the one before is complete;
//! one result reaches the client. Answers pass as they come unless the script asked to see them first.

use crate::frames::{Incoming, Packet, frame_length};
use crate::session::Phase;
use crate::session::{Next, Session, Turn};
use crate::side::Side;
use env::{Clock, RealClock};
use network::Receive;
use proxy_script::{Answer, AnswerReader, Decision, Dialect, Form, Injection, Level, Progress, Reply};
use rustix::io::Errno;
use wire::output::{FRAME_HEADER_BYTES, FRAME_PAYLOAD_BYTES_MAX, Output};

/// Most bytes of an answer that is held for a script.
const HELD_BYTES_MAX: usize = 1 << 30;
const ER_NET_PACKETS_OUT_OF_ORDER: u16 = 1156;
const COM_QUIT: u8 = 1;
const COM_INIT_DB: u8 = 2;
const COM_CHANGE_USER: u8 = 17;

/// The commands of one session.
#[derive(Debug)]
pub(crate) struct Commands {
    from_client: Incoming,
    exchange: Option<Exchange>,
}

/// One command until its answer is complete.
#[derive(Debug)]
struct Exchange {
    /// The number of the first packet of the answer.
    answer_sequence: u8,
    /// Whether the client waits for an answer.
    is_answered: bool,
    results_sent: u32,
    running: Option<Running>,
}

/// What the server works on.
#[derive(Debug)]
struct Running {
    /// The command's first byte.
    command: u8,
    /// The schema of COM_INIT_DB.
    schema: Option<Vec<u8>>,
    /// None for the client's own command.
    injection: Option<Injection>,
    reader: AnswerReader,
    /// The answer, if it is not sent as it comes.
    held: Option<Vec<u8>>,
    /// What the client was asked for in the middle of a held answer: a file.
    request: Vec<u8>,
    /// Whether it goes to the client.
    is_forwarded: bool,
    /// How much higher the client's numbers are than the server's.
    sequence_shift: u8,
    /// The server waits for the client: its packets go on to the server.
    is_clients_turn: bool,
    /// Monotonic microseconds when the first byte came.
    first_byte_at: Option<u64>,
}

/// What pumping an answer led to.
enum Pumped {
    /// Nothing more for now.
    Blocked,
    Done,
    Ended,
}

impl Running {
    /// Moves what the client sends in its turn. `Done`: there may be more of it at once; None when the turn is over.
    fn move_from_client(
        &mut self,
        from_client: &mut Incoming,
        client: &mut Side,
        server: &mut Side,
        turn: &mut Turn<'_>,
    ) -> Result<Option<Pumped>, Errno> {
        if server.is_full() {
            return Ok(Some(Pumped::Blocked));
        }
        let is_open = from_client.fill(client, turn)?;
        self.pass_on(from_client, server)?;
        Ok(match self.is_clients_turn {
            false => None,
            true if !is_open => Some(Pumped::Ended),
            true if client.is_readable && turn.may_receive() => Some(Pumped::Done),
            true => Some(Pumped::Blocked),
        })
    }

    /// Sends the client's packets to the server until it is the server's turn: behind one in a login, behind an empty one for a file.
    fn pass_on(&mut self, from_client: &mut Incoming, server: &mut Side) -> Result<(), Errno> {
        while let Ok(Some(packet)) = from_client.packet() {
            server.send(&from_client.bytes()[..packet.bytes])?;
            from_client.consume(packet.bytes);
            let is_login = self.command == COM_CHANGE_USER;
            if is_login || packet.bytes == FRAME_HEADER_BYTES {
                self.is_clients_turn = false;
                if !is_login {
                    self.reader.file_was_sent();
                }
                return Ok(());
            }
        }
        Ok(())
    }
}

impl Commands {
    /// The commands of a client that sent those bytes ahead.
    pub fn new(from_client: Incoming) -> Commands {
        Commands { from_client: from_client.after_login(), exchange: None }
    }
}

fn now_microseconds() -> u64 {
    RealClock.monotonic().as_micros() as u64
}

impl Session {
    pub(crate) fn run_commands(&mut self, turn: &mut Turn<'_>) -> Result<Next, Errno> {
        loop {
            let Phase::Commands(commands) = &mut self.phase else { return Ok(Next::Close) };
            if commands.exchange.is_none() {
                // Commands that were sent ahead take their turns, too; none begins while one before it is on its way.
                if self.client.is_full() || self.is_server_behind()? || !turn.may_receive() {
                    return Ok(Next::Stay);
                }
                let Phase::Commands(commands) = &mut self.phase else { return Ok(Next::Close) };
                let is_open = commands.from_client.fill(&mut self.client, turn)?;
                let Ok(packet) = commands.from_client.packet() else { return Ok(Next::Close) };
                match packet {
                    Some(packet) => {
                        if self.begin_command(turn, packet)? == Next::Close {
                            return Ok(Next::Close);
                        }
                    }
                    None if !is_open => return Ok(Next::Close),
                    None => return self.look_at_idle_server(turn),
                }
                continue;
            }
            match self.pump(turn)? {
                Pumped::Blocked => return Ok(Next::Stay),
                Pumped::Ended => return Ok(Next::Close),
                Pumped::Done => {
                    if self.end_answer(turn)? == Next::Close {
                        return Ok(Next::Close);
                    }
                }
            }
        }
    }

    /// Whether the server has not taken what was sent to it. A script may give it away with the next command, and then it must be whole.
    fn is_server_behind(&mut self) -> Result<bool, Errno> {
        let Some(server) = &mut self.server else { return Ok(false) };
        if server.waiting().is_some() {
            server.flush()?;
        }
        Ok(server.is_full())
    }

    /// A server that speaks unasked says goodbye: the client hears it.
    fn look_at_idle_server(&mut self, turn: &mut Turn<'_>) -> Result<Next, Errno> {
        let Some(server) = &mut self.server else { return Ok(Next::Stay) };
        while server.is_readable {
            match server.receive(turn.scratch)? {
                Receive::Bytes(count) => self.client.send(&turn.scratch[..count])?,
                Receive::Empty => break,
                Receive::Closed => return Ok(Next::Close),
            }
        }
        Ok(Next::Stay)
    }

    fn commands(&mut self) -> Option<&mut Commands> {
        match &mut self.phase {
            Phase::Commands(commands) => Some(commands),
            _ => None,
        }
    }

    fn exchange(&mut self) -> Option<&mut Exchange> {
        self.commands().and_then(|commands| commands.exchange.as_mut())
    }

    fn begin_command(&mut self, turn: &mut Turn<'_>, packet: Packet) -> Result<Next, Errno> {
        let dialect = Dialect { capabilities: self.capabilities };
        let Phase::Commands(commands) = &mut self.phase else { return Ok(Next::Close) };
        let payload = commands.from_client.payload(packet);
        let Some(&command) = payload.first() else { return Ok(Next::Close) };
        if packet.sequence != 0 {
            let text = format!("received packet-id {}, but expected 0 ... out of sync", packet.sequence);
            turn.shared.log.write(Level::Critical, &text);
            return Ok(Next::Close);
        }
        let decision =
            self.script.as_ref().map_or(Decision::Pass, |script| script.read_query(&payload, dialect));
        let schema = (command == COM_INIT_DB).then(|| payload[1..].to_vec());
        drop(payload);
        self.follow_server(turn)?;
        let answer_sequence = (packet.frames % 256) as u8;
        let is_answered = Form::of(command) != Form::None;
        let exchange = Exchange { answer_sequence, is_answered, results_sent: 0, running: None };
        let Some(commands) = self.commands() else { return Ok(Next::Close) };
        commands.exchange = Some(exchange);
        match decision {
            Decision::Reply(reply) => {
                self.consume(packet);
                self.reply(&reply, answer_sequence)?;
                self.end_exchange()
            }
            Decision::SendQueries => {
                self.consume(packet);
                self.next_injection(turn)
            }
            _ => self.pass(turn, packet, command, schema),
        }
    }

    fn consume(&mut self, packet: Packet) {
        if let Some(commands) = self.commands() {
            commands.from_client.consume(packet.bytes);
        }
    }

    /// Sends the client's command as it is.
    fn pass(
        &mut self,
        turn: &Turn<'_>,
        packet: Packet,
        command: u8,
        schema: Option<Vec<u8>>,
    ) -> Result<Next, Errno> {
        let Some(server) = &mut self.server else {
            self.log(turn, Level::Critical, "I have no server backend, closing connection");
            return Ok(Next::Close);
        };
        let Phase::Commands(commands) = &mut self.phase else { return Ok(Next::Close) };
        server.send(&commands.from_client.bytes()[..packet.bytes])?;
        commands.from_client.consume(packet.bytes);
        if command == COM_QUIT {
            return Ok(Next::Close);
        }
        let answer_sequence = (packet.frames % 256) as u8;
        let reader = AnswerReader::new(Form::of(command), self.capabilities).numbered_from(answer_sequence);
        if reader.expects_nothing() {
            return self.end_exchange();
        }
        let running = Running {
            command,
            schema,
            injection: None,
            reader,
            held: None,
            request: Vec::new(),
            is_forwarded: true,
            sequence_shift: 0,
            is_clients_turn: false,
            first_byte_at: None,
        };
        if let Some(exchange) = self.exchange() {
            exchange.running = Some(running);
        }
        Ok(Next::Stay)
    }

    /// Sends the next query of the queue; the exchange ends when there is none.
    fn next_injection(&mut self, turn: &Turn<'_>) -> Result<Next, Errno> {
        loop {
            let queued = self.connection.state().queries.pop_front();
            let Some(injection) = queued else { return self.end_queue(turn) };
            let Some(&command) = injection.packet.first() else {
                self.log(turn, Level::Critical, "a script queued an empty packet");
                return Ok(Next::Close);
            };
            let Some(server) = &mut self.server else {
                self.log(turn, Level::Critical, "I have no server backend, closing connection");
                return Ok(Next::Close);
            };
            let mut output = Output::new();
            output.packet(&injection.packet);
            server.send(output.bytes())?;
            if command == COM_QUIT {
                return Ok(Next::Close);
            }
            let frames = injection.packet.len() / FRAME_PAYLOAD_BYTES_MAX + 1;
            let reader =
                AnswerReader::new(Form::of(command), self.capabilities).numbered_from((frames % 256) as u8);
            if !reader.expects_nothing() {
                return self.run_injection(injection, command, reader);
            }
        }
    }

    fn run_injection(
        &mut self,
        injection: Injection,
        command: u8,
        reader: AnswerReader,
    ) -> Result<Next, Errno> {
        let has_hook = self.script.as_ref().is_some_and(|script| script.has("read_query_result"));
        let frames = injection.packet.len() / FRAME_PAYLOAD_BYTES_MAX + 1;
        let Some(exchange) = self.exchange() else { return Ok(Next::Close) };
        let sequence_shift = exchange.answer_sequence.wrapping_sub((frames % 256) as u8);
        let is_first = exchange.results_sent == 0;
        let is_needed = injection.resultset_is_needed;
        if !is_needed && !is_first && has_hook {
            if let Some(script) = &self.script {
                script.note_second_stream();
            }
            return Ok(Next::Close);
        }
        if !is_needed {
            exchange.results_sent += 1;
        }
        exchange.running = Some(Running {
            command,
            schema: (command == COM_INIT_DB).then(|| injection.packet[1..].to_vec()),
            injection: Some(injection),
            reader,
            held: (is_needed || sequence_shift != 0).then(Vec::new),
            request: Vec::new(),
            is_forwarded: !is_needed && is_first,
            sequence_shift,
            is_clients_turn: false,
            first_byte_at: None,
        });
        Ok(Next::Stay)
    }

    /// Nothing is queued any more.
    fn end_queue(&mut self, turn: &Turn<'_>) -> Result<Next, Errno> {
        let Some(exchange) = self.exchange() else { return Ok(Next::Close) };
        if exchange.is_answered && exchange.results_sent == 0 {
            // The client would wait for ever.
            let sequence = exchange.answer_sequence;
            self.log(
                turn,
                Level::Critical,
                "a script ignored all results of a command: the client gets an error",
            );
            self.reply(
                &Reply::proxy_error("(proxy) the script ignored all results of this command"),
                sequence,
            )?;
        }
        self.end_exchange()
    }

    fn end_exchange(&mut self) -> Result<Next, Errno> {
        if let Some(commands) = self.commands() {
            commands.exchange = None;
        }
        Ok(if self.connection.state().closes { Next::Close } else { Next::Stay })
    }

    /// Moves what the server, or in its turn the client, has sent.
    fn pump(&mut self, turn: &mut Turn<'_>) -> Result<Pumped, Errno> {
        loop {
            let Phase::Commands(Commands { from_client, exchange: Some(exchange) }) = &mut self.phase else {
                return Ok(Pumped::Ended);
            };
            let (Some(running), Some(server)) = (&mut exchange.running, &mut self.server) else {
                return Ok(Pumped::Ended);
            };
            if running.is_clients_turn {
                match running.move_from_client(from_client, &mut self.client, server, turn)? {
                    Some(Pumped::Done) => continue,
                    Some(pumped) => return Ok(pumped),
                    None => {}
                }
            }
            let is_stopped = running.held.is_none() && self.client.is_full();
            if !server.is_readable || is_stopped || !turn.may_receive() {
                return Ok(Pumped::Blocked);
            }
            let count = match server.receive(turn.scratch)? {
                Receive::Bytes(count) => count,
                Receive::Empty => return Ok(Pumped::Blocked),
                Receive::Closed => return Ok(Pumped::Ended),
            };
            let is_unsent = running.held.is_some() || running.first_byte_at.is_none();
            running.first_byte_at.get_or_insert_with(now_microseconds);
            let (used, progress) = running.reader.read(&turn.scratch[..count]);
            if progress == Progress::Broken {
                return self.give_up_on_server(turn, is_unsent).map(|()| Pumped::Ended);
            }
            let bytes = &turn.scratch[..used];
            match &mut running.held {
                Some(held) if held.len() + used > HELD_BYTES_MAX => {
                    turn.shared.log.write(Level::Critical, "an answer is too long to be held for a script");
                    return Ok(Pumped::Ended);
                }
                Some(held) => held.extend_from_slice(bytes),
                None if running.is_forwarded => self.client.send(bytes)?,
                None => {}
            }
            if used < count {
                turn.shared
                    .log
                    .write(Level::Critical, "a server sent more than its answer: the connection is closed");
                return Ok(Pumped::Ended);
            }
            match progress {
                Progress::Open | Progress::Broken => {}
                Progress::Done => return Ok(Pumped::Done),
                Progress::ClientsTurn => {
                    running.is_clients_turn = true;
                    // The client must see the request before it can answer.
                    if let Some(held) = running.held.take() {
                        self.client.send(&held)?;
                        exchange.results_sent += u32::from(!running.is_forwarded);
                        running.is_forwarded = true;
                        running.request = held;
                    }
                }
            }
        }
    }

    /// What a server sends is no answer. The client is told if it has seen nothing of it.
    fn give_up_on_server(&mut self, turn: &Turn<'_>, is_unsent: bool) -> Result<(), Errno> {
        self.log(turn, Level::Critical, "a server's packets are out of order: the connection is closed");
        let sequence = self.exchange().map_or(0, |exchange| exchange.answer_sequence);
        if !is_unsent {
            return Ok(());
        }
        self.reply(
            &Reply::error(ER_NET_PACKETS_OUT_OF_ORDER, b"08S01", b"Got packets out of order"),
            sequence,
        )
    }

    /// The answer is complete: the script sees it, and the next query goes out.
    fn end_answer(&mut self, turn: &mut Turn<'_>) -> Result<Next, Errno> {
        let Some(running) = self.exchange().and_then(|exchange| exchange.running.take()) else {
            return Ok(Next::Close);
        };
        if let (Some(schema), false) = (&running.schema, running.reader.summary.is_error) {
            self.note_schema(schema);
        }
        let Some(injection) = running.injection else { return self.end_exchange() };
        let held = running.held;
        let is_forwarded = running.is_forwarded;
        let id = injection.id;
        // A file was asked for: the script sees the question, the client has had it.
        let was_asked = !running.request.is_empty();
        let now = now_microseconds();
        let (decision, bytes) = match &self.script {
            Some(script) => {
                let queued_at = injection.queued_at;
                let answer = Answer {
                    injection,
                    bytes: held.unwrap_or(running.request),
                    summary: running.reader.summary,
                    capabilities: self.capabilities,
                    query_time: running.first_byte_at.unwrap_or(now).saturating_sub(queued_at),
                    response_time: now.saturating_sub(queued_at),
                };
                let dialect = Dialect { capabilities: self.capabilities };
                script.read_query_result(answer, dialect)
            }
            None => (Decision::Pass, held.unwrap_or_default()),
        };
        self.follow_server(turn)?;
        let bytes = if was_asked { Vec::new() } else { bytes };
        self.send_result(decision, bytes, is_forwarded, running.sequence_shift, id)?;
        self.next_injection(turn)
    }

    fn send_result(
        &mut self,
        decision: Decision,
        mut held: Vec<u8>,
        is_forwarded: bool,
        sequence_shift: u8,
        injection_id: i64,
    ) -> Result<(), Errno> {
        if is_forwarded {
            if matches!(decision, Decision::Reply(_) | Decision::Ignore)
                && let Some(script) = &self.script
            {
                script.note_late_change();
            }
            renumber(&mut held, sequence_shift);
            return self.client.send(&held);
        }
        if decision == Decision::Ignore || (held.is_empty() && !matches!(decision, Decision::Reply(_))) {
            return Ok(());
        }
        let Some(exchange) = self.exchange() else { return Ok(()) };
        let sequence = exchange.answer_sequence;
        if exchange.results_sent > 0 {
            let sent = exchange.results_sent;
            if let Some(script) = &self.script {
                script.note_extra_result(sent, injection_id);
            }
            return Ok(());
        }
        exchange.results_sent += 1;
        match decision {
            Decision::Reply(reply) => self.reply(&reply, sequence),
            _ => {
                renumber(&mut held, sequence_shift);
                self.client.send(&held)
            }
        }
    }

    fn note_schema(&mut self, schema: &[u8]) {
        let mut state = self.connection.state();
        state.client.default_schema = Some(schema.to_vec());
        if let Some(link) = &mut state.server {
            link.endpoint.default_schema = Some(schema.to_vec());
        }
    }
}

/// Adds to the numbers of whole frames.
fn renumber(frames: &mut [u8], shift: u8) {
    if shift == 0 {
        return;
    }
    let mut at = 0;
    while let Some(header) = frames.get_mut(at..at + FRAME_HEADER_BYTES) {
        header[3] = header[3].wrapping_add(shift);
        at += FRAME_HEADER_BYTES + frame_length(header);
    }
}
