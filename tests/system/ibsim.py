"""A simulated InfiniBand fabric: `ibsim` and its clients, all with time limits."""

from __future__ import annotations

import itertools
import os
import selectors
import shutil
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from types import TracebackType
from typing import Self

LIBRARIES = ("/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib")
PROGRAMS = ("opensm", "ibsim", "ibnetdiscover", "perfquery", "ibqueryerrors", "ibccconfig")
CONGESTION_CONTROL = 0x21
"""Management class for congestion control."""
GET_RESP = 0x81
REQUEST = 288
"""Size of a packet between a client and ibsim in bytes: a header, and the MAD in the last 256 bytes."""
MAD = 256

_numbers = itertools.count()


def library() -> str | None:
    """Return the path of the library that turns programs into ibsim clients."""
    found = (Path(folder) / "umad2sim" / "libumad2sim.so" for folder in LIBRARIES)
    return next((str(path) for path in found if path.is_file()), None)


def missing() -> list[str]:
    """Return missing programs and libraries that these tests require."""
    programs = [program for program in PROGRAMS if shutil.which(program, path=_path()) is None]
    return programs + ([] if library() else ["libumad2sim.so"])


def _path() -> str:
    return f"{os.environ.get('PATH', '')}{os.pathsep}/usr/sbin"


def netfile(cables: list[tuple[str, int, str, int]], guids: Mapping[str, int]) -> str:
    """Return a fabric in ibsim's format.

    Args:
        cables: node, port, node, port; ports start at 1; names of adapters begin with `H`.
        guids: GUIDs of the nodes.

    """
    ports: dict[str, dict[int, tuple[str, int]]] = {name: {} for name in guids}
    for one, port, other, far in cables:
        ports[one][port] = (other, far)
        ports[other][far] = (one, port)
    hosts = {name for name in guids if name.startswith("H")}

    def node(name: str) -> str:
        return f'"{"H" if name in hosts else "S"}-{guids[name]:016x}"'

    lines = []
    for name, own in ports.items():
        host = name in hosts
        size, guid = max(own, default=1), guids[name]
        lines += ["", "vendid=0x2c9", f"devid={'0x6282' if host else '0xb924'}", f"sysimgguid=0x{guid:x}"]
        lines.append(f"caguid=0x{guid:x}" if host else f"switchguid=0x{guid:x}({guid:x})")
        if host:
            lines.append(f'Ca\t{size} {node(name)}\t\t# "{name} HCA-1"')
        else:
            lines.append(f'Switch\t{size} {node(name)}\t\t# "{name}" base port 0 lid 0 lmc 0')
        for port, (peer, far) in sorted(own.items()):
            end = f"({guid + port:x}) " if host else ""
            lines.append(f'[{port}]{end}\t{node(peer)}[{far}]\t\t# "{peer}" lid 0 4xQDR')
    return "\n".join(lines) + "\n"


class Simulator(AbstractContextManager["Simulator"]):
    """A running ibsim.

    Args:
        net: text of the fabric in ibsim's format.
        folder: folder for files of clients.
        commands: ibsim console commands, such as counter settings.

    """

    def __init__(self, net: Path, folder: Path, commands: list[str] | None = None) -> None:
        self.net = net
        self.folder = folder
        self.commands = commands or []
        self.name = f"becalm{os.getpid()}x{next(_numbers)}"

    def __enter__(self) -> Self:
        environment = {**os.environ, "IBSIM_SOCKNAME": self.name, "PATH": _path()}
        self.log = (self.folder / "ibsim.log").open("wb")
        self.process = subprocess.Popen(
            ["ibsim", "-s", "-N", "4096", "-S", "1024", "-P", "32768", str(self.net)],
            stdin=subprocess.PIPE,
            stdout=self.log,
            stderr=self.log,
            env=environment,
            cwd=self.folder,
        )
        try:
            self._wait()
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    def _wait(self) -> None:
        until = time.monotonic() + 30
        while f"@{self.name}:ctl" not in Path("/proc/net/unix").read_text():
            if time.monotonic() > until or self.process.poll() is not None:
                message = (self.folder / "ibsim.log").read_text()
                raise RuntimeError(f"ibsim did not start: {message[-500:]}")
            time.sleep(0.05)
        assert self.process.stdin is not None
        self.process.stdin.write("".join(f"{line}\n" for line in self.commands).encode())
        self.process.stdin.flush()
        if self.commands:
            time.sleep(0.3)

    def _end(self) -> None:
        self.process.kill()
        self.process.wait(10)
        if self.process.stdin is not None:
            self.process.stdin.close()
        self.log.close()

    def environment(self, name: str | None = None) -> dict[str, str]:
        """Return the environment of a client."""
        return {
            **os.environ,
            "PATH": _path(),
            "LD_PRELOAD": library() or "",
            "IBSIM_SOCKNAME": name or self.name,
            "OSM_TMP_DIR": str(self.folder),
            "OSM_CACHE_DIR": str(self.folder),
        }

    def client(
        self, *command: str, limit: float = 60.0, name: str | None = None, codes: tuple[int, ...] = (0,)
    ) -> str:
        """Run a client program and return its output; kill it after `limit` seconds."""
        done = subprocess.run(
            command,
            env=self.environment(name),
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=limit,
            check=False,
        )
        assert done.returncode in codes, f"{' '.join(command)}: {done.stdout[-500:]}{done.stderr[-500:]}"
        return done.stdout

    def subnet_manager(self, *options: str, configuration: str = "") -> SubnetManager:
        """Return a running OpenSM with further options and lines of its configuration."""
        return SubnetManager(self, options, configuration)


class SubnetManager(AbstractContextManager["SubnetManager"]):
    """An OpenSM that runs until the context exits."""

    def __init__(self, simulator: Simulator, options: tuple[str, ...] = (), configuration: str = "") -> None:
        self.simulator = simulator
        self.options = options
        self.configuration = configuration

    def __enter__(self) -> Self:
        log, options = (self.simulator.folder / name for name in ("opensm.log", "flush.conf"))
        options.write_text(f"force_log_flush TRUE\n{self.configuration}")
        self.process = subprocess.Popen(
            ["opensm", "-F", str(options), "-f", str(log), *self.options],
            env=self.simulator.environment(),
            cwd=self.simulator.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        until = time.monotonic() + 20
        while "SUBNET UP" not in (log.read_text(errors="replace") if log.exists() else ""):
            if time.monotonic() > until or self.process.poll() is not None:
                self.__exit__(None, None, None)
                raise RuntimeError("opensm did not bring up the subnet")
            time.sleep(0.1)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(10)


class Responder(AbstractContextManager["Responder"]):
    """A proxy between one client and ibsim that answers congestion control packets.

    ibsim's devices do not support these packets. The proxy forwards all other packets unchanged.
    """

    def __init__(self, simulator: Simulator) -> None:
        self.server = simulator.name
        self.name = f"{simulator.name}r"
        self.mads: list[bytes] = []
        """Congestion control packets from the client, 256 bytes each."""
        self.to: list[int] = []
        """Destination LIDs of these packets."""

    def __enter__(self) -> Self:
        self.selector = selectors.DefaultSelector()
        self.sockets: list[socket.socket] = []
        self.control = self._bound(self.name, "ctl", self._connect)
        self.done = threading.Event()
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.done.set()
        self.thread.join(10)
        self.selector.close()
        for each in self.sockets:
            each.close()

    def _bound(self, base: str, what: str, handle: object) -> socket.socket:
        made = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        made.bind(_address(base, what))
        self.sockets.append(made)
        self.selector.register(made, selectors.EVENT_READ, handle)
        return made

    def _serve(self) -> None:
        while not self.done.is_set():
            for key, _ in self.selector.select(0.1):
                assert isinstance(key.fileobj, socket.socket)
                data, sender = key.fileobj.recvfrom(65536)
                key.data(data, sender)

    def _connect(self, data: bytes, sender: bytes) -> None:
        """Handle a client's first packet: connect to ibsim, then forward all packets."""
        process = sender.strip(b"\0").decode().rpartition("ctl")[2]

        # ibsim connects to the client's second socket before it answers.
        into = self._bound(self.server, f"in{process}", None)
        known: list[int] = []

        def back(answer: bytes, _: bytes) -> None:
            # The first answer contains the client's number in ibsim.
            if not known:
                known.append(int.from_bytes(answer[16:20], "little"))
                self._data(process, known[0], into)
            self.control.sendto(answer, sender)

        out = self._bound(self.server, f"ctl{process}", back)
        self.selector.modify(
            self.control,
            selectors.EVENT_READ,
            lambda more, _: out.sendto(more, _address(self.server, "ctl")),
        )
        out.sendto(data, _address(self.server, "ctl"))

    def _data(self, process: str, client: int, into: socket.socket) -> None:
        def up(data: bytes, _: bytes) -> None:
            mad = data[-MAD:]
            if len(data) == REQUEST and mad[1] == CONGESTION_CONTROL:
                self.mads.append(mad)
                self.to.append(int.from_bytes(data[:2], "big"))
                answer = mad[:3] + bytes([GET_RESP]) + mad[4:]
                head = data[4:8] + data[0:4] + data[12:16] + data[8:12] + data[16 : REQUEST - MAD]
                out.sendto(head + answer, _address(self.name, f"in{process}"))
            else:
                into.sendto(data, _address(self.server, f"out{client}"))

        out = self._bound(self.name, f"out{client}", up)
        self.selector.modify(
            into, selectors.EVENT_READ, lambda data, _: out.sendto(data, _address(self.name, f"in{process}"))
        )


def _address(base: str, what: str) -> bytes:
    """Return the abstract address of a socket; ibsim includes the zero at the end of the name."""
    return f"\0{base}:{what}\0".encode()
