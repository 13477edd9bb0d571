"""Backends that do what a test wants: pass everything to a server, refuse, hang, answer garbage, or die in a query."""
import contextlib
import socket
import threading


class Backend:
    """A port before a server. What its mode is decides about connections that come later, and about bytes."""

    def __init__(self, server):
        self.server = server
        self.mode = "up"
        self.accepted = 0
        # What clients sent, if somebody asks for it.
        self.sent = None
        self.open = []
        self.listener = None
        self.port = None
        self.up()

    def up(self):
        if self.listener is None:
            self.listener = socket.create_server(("127.0.0.1", self.port or 0))
            self.port = self.listener.getsockname()[1]
            threading.Thread(target=self.accept, args=(self.listener,), daemon=True).start()

    def set(self, mode):
        """up, down (nothing listens), silent (accepts and says nothing), garbage, dying (ends when a query has reached it)."""
        self.mode = mode
        if mode == "down":
            listener, self.listener = self.listener, None
            if listener:
                # The thread in accept() keeps a closed socket open.
                listener.shutdown(socket.SHUT_RDWR)
                listener.close()
            self.drop()
        else:
            self.up()

    def drop(self):
        for end in self.open:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()
        self.open = []

    def accept(self, listener):
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            self.accepted += 1
            self.open.append(client)
            if self.mode == "garbage":
                with contextlib.suppress(OSError):
                    client.sendall(b"SSH-2.0-garbage that is no greeting\r\n" * 4)
                continue
            if self.mode == "silent":
                continue
            server = socket.create_connection(self.server)
            self.open.append(server)
            for ends in ((client, server), (server, client)):
                threading.Thread(target=self.move, args=(*ends, ends[0] is client), daemon=True).start()

    def move(self, source, target, is_from_client):
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                if is_from_client and self.sent is not None:
                    self.sent += data
                # What counts is how things stood when the bytes came.
                mode = self.mode
                if mode == "dying" and is_from_client:
                    break
                if mode == "babbling" and not is_from_client:
                    data = b"\xff" * len(data)
                target.sendall(data)
                if mode == "halfway" and not is_from_client:
                    break
        for end in (source, target):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
