"""The Python process of an FMU: it executes the calls of the FMU's library (see protocol.h) on pythonfmu slaves.

One process serves all instances of an FMU in a host, one call at a time. After an exception the call returns fmi2Error
with a message, and the instance remains usable.
"""

import atexit
import contextlib
import importlib
import importlib.util
import inspect
import math
import os
import struct
import sys
import threading
import time
import traceback

OK, WARNING, DISCARD, ERROR, FATAL = range(5)
CATEGORIES = ("logAll", "logStatusWarning", "logStatusDiscard", "logStatusError", "logStatusFatal")
REAL, INTEGER, BOOLEAN, STRING = range(4)
CODES = ("d", "i", "i")  # format characters of struct
HELLO = 0x6D656368

SPIN_TIME = 100e-6  # s of polling for the next call before a blocking wait: waking up takes longer than most calls
LONGEST_MESSAGE = 20_000  # characters
LARGEST_OUTPUT = 1 << 24  # bytes, after which the file for printed text is truncated
WATCHDOG_PERIOD = 0.2  # s between two checks that the host still runs

# methods of Server, in the order of the numbers in protocol.h
OPERATIONS = (
    *("instantiate", "free", "set_logging", "setup", "enter", "exit", "terminate", "reset"),
    *("get", "set", "step", "save", "restore", "forget", "serialize", "deserialize"),
)

U32, U64, F64 = struct.Struct("<I"), struct.Struct("<Q"), struct.Struct("<d")
HEAD = struct.Struct("<II")
STEP = struct.Struct("<ddI")
ANSWER = struct.Struct("<QII")


class CallError(Exception):
    """A call that fails; its text is the complete message for the host."""


# --- the channel ------------------------------------------------------------------------------------------------------


class Channel:
    """Messages over two descriptors, which may be the same."""

    def __init__(self, read, write):
        self.read_end, self.write_end = read, write
        self.spins = os.name == "posix"
        if self.spins:
            import select

            os.set_blocking(read, False)
            self.readable, self.writable = select.poll(), select.poll()
            self.readable.register(read, select.POLLIN)
            self.writable.register(write, select.POLLOUT)
        self.yield_processor = getattr(os, "sched_yield", lambda: None)

    def receive(self):
        """Return the next message, its size included, or None when the host has closed the channel."""
        data = self._read(65536)
        while len(data) < 8:
            more = self._read(65536)
            if not more:
                return None
            data += more
        missing = U64.unpack_from(data)[0] + 8 - len(data)
        if missing:
            parts = [data]
            while missing:
                more = self._read(min(missing, 1 << 24))
                if not more:
                    return None
                parts.append(more)
                missing -= len(more)
            data = b"".join(parts)
        return data

    def _read(self, most):
        if not self.spins:
            return os.read(self.read_end, most)
        try:
            return os.read(self.read_end, most)
        except BlockingIOError:
            pass
        spin_end = time.perf_counter() + SPIN_TIME
        while True:
            try:
                return os.read(self.read_end, most)
            except BlockingIOError:
                if time.perf_counter() < spin_end:
                    self.yield_processor()
                else:
                    self.readable.poll()

    def send(self, data):
        sent = self._write(data)
        if sent < len(data):
            view = memoryview(data)[sent:]
            while view:
                view = view[self._write(view) :]

    def _write(self, data):
        while True:
            try:
                return os.write(self.write_end, data)
            except BlockingIOError:
                self.writable.poll()


def text_bytes(text):
    return U64.pack(len(text)) + text + b"\0"


def read_text(data, at):
    """Return the bytes of the text at an offset of a message, and the offset after it."""
    size = U64.unpack_from(data, at)[0]
    return data[at + 8 : at + 8 + size], at + 9 + size


# --- printed text -----------------------------------------------------------------------------------------------------


class Output:
    """The file of standard output and error: what a slave prints becomes a log message.

    The position of the file is the end of what has been sent: if the process dies, the host reads the rest.
    """

    def __init__(self, file):
        self.file, self.at = file, 0

    def waiting(self):
        try:
            return os.fstat(self.file).st_size > self.at
        except OSError:  # closed by the slave
            return False

    def take(self):
        """Return what has been printed since the last call."""
        try:
            size = os.fstat(self.file).st_size - self.at
            printed = os.read(self.file, LONGEST_MESSAGE - 40)  # leaves room for the size
            self.at += size
            if self.at > LARGEST_OUTPUT:  # text that a thread prints at this moment is lost
                os.ftruncate(self.file, 0)
                self.at = 0
            os.lseek(self.file, self.at, os.SEEK_SET)
        except OSError:
            return ""
        text = printed.decode("utf-8", "replace").strip()
        return f"{text} ... ({size} bytes)" if size > len(printed) else text


# --- slaves -----------------------------------------------------------------------------------------------------------


def slave_class(folder):
    """Return the class that pythonfmu would use: in the slave's module the one with the most bases up to Fmi2Slave."""
    with open(os.path.join(folder, "slavemodule.txt"), encoding="utf-8") as file:
        name = file.readline().strip()
    module = importlib.import_module(name)
    slave = importlib.import_module("pythonfmu.fmi2slave").Fmi2Slave
    if not hasattr(slave, "_get_log_queue"):  # pythonfmu 0.6.0 logs through its own library
        slave.log = log_to_queue
    found, depth = None, 0
    for thing in list(vars(module).values()):
        if inspect.isclass(thing) and slave in thing.__mro__ and thing.__mro__.index(slave) > depth:
            found, depth = thing, thing.__mro__.index(slave)
    if found is None:
        raise CallError(f"there is no subclass of Fmi2Slave in {name}.py")
    return found


class Message:
    def __init__(self, status, category, text):
        self.status, self.category, self.msg = status, category, text


def log_to_queue(slave, msg, status=0, category=None, debug=False):
    slave.__dict__.setdefault("log_queue", []).append(Message(int(status), category, msg))


def describe(error, folder):
    """Return an exception as one line: type, text, and file and line in the FMU."""
    frames = traceback.extract_tb(error.__traceback__)
    frames = [f for f in frames if f.filename.startswith(folder) and not f.filename.startswith(__file__)]
    own = [f for f in frames if os.sep + "pythonfmu" + os.sep not in f.filename] or frames
    place = f" ({os.path.relpath(own[-1].filename, folder)}, line {own[-1].lineno})" if own else ""
    try:
        text = " ".join(str(error)[:LONGEST_MESSAGE].split())
    except BaseException as another:
        text = f"a message that cannot be shown ({type(another).__name__})"
    return type(error).__name__ + (f": {text}" if text else "") + place


class Instance:
    """One slave and its log settings."""

    def __init__(self, make, name, resources, visible, logging):
        self.make, self.name, self.resources, self.visible = make, name, resources, visible
        self.logging = logging
        self.categories = None  # all
        self.watched = ([], [], [])  # Real, Integer, Boolean references that the host reads after every step
        self.reset()

    def reset(self):
        self.slave = self.make(instance_name=self.name, resources=self.resources, logger=0, visible=self.visible)
        self.initialized = False
        self.getters = (self.slave.get_real, self.slave.get_integer, self.slave.get_boolean, self.slave.get_string)
        self.setters = (self.slave.set_real, self.slave.set_integer, self.slave.set_boolean, self.slave.set_string)

    def messages(self):
        """Return and clear what the slave has logged since the last call."""
        queue = self.slave.__dict__.get("log_queue")
        if not queue:
            return []
        taken = [(int(m.status), m.category or CATEGORIES[int(m.status)], str(m.msg)) for m in queue]
        del queue[:]
        return taken

    def logs(self, status, category):
        chosen = self.categories is None or category in self.categories or "logAll" in self.categories
        return status >= DISCARD or (self.logging and chosen)

    def check_known(self, references):
        known = self.slave.vars
        for reference in references:
            if known and reference not in known:
                last = len(known) - 1
                raise CallError(f"there is no variable with value reference {reference} (they go from 0 to {last})")

    def check_settable(self, references):
        """Check the rules of FMI 2.0, for variables that are registered with pythonfmu."""
        for reference in references:
            variable = self.slave.vars.get(reference)
            if variable is None:
                continue
            causality, variability = (getattr(getattr(variable, k), "name", None) for k in ("causality", "variability"))
            if variability == "constant" or variable.setter is None:
                raise CallError(f"{variable.name} cannot be set: it is constant")
            if self.initialized and causality == "parameter" and variability == "fixed":
                raise CallError(f"{variable.name} is a fixed parameter: it cannot be set after initialization")
            if self.initialized and causality in ("output", "local", "calculatedParameter"):
                name = variable.name
                raise CallError(f"{name} cannot be set after initialization: only inputs and tunable parameters can")


# --- calls ------------------------------------------------------------------------------------------------------------


class Server:
    """Executes calls: one method for each operation, which returns the results and may change `status`."""

    def __init__(self, channel, output, make, folder):
        self.channel, self.make, self.folder = channel, make, folder
        self.instances, self.states = {}, {}
        self.output = output
        # pythonfmu 0.6 has no stop time and no tolerance
        self.experiment_arguments = len(inspect.signature(make.setup_experiment).parameters) - 1
        self.own_errors = (CallError, *getattr(make, "user_errors", ()))
        self.operations = tuple(getattr(self, name) for name in OPERATIONS)

    def serve(self):
        receive, send, answer = self.channel.receive, self.channel.send, self.answer
        while True:
            request = receive()
            if not request:
                return
            send(answer(request))

    def answer(self, request):
        operation, number = HEAD.unpack_from(request, 8)
        instance = self.instances.get(number)
        self.status, body, messages = OK, b"", []
        try:
            body = self.operations[operation](request, 16, number, instance)
        except BaseException as error:  # also SystemExit: the other instances remain usable
            self.status, body = ERROR, b""
            text = str(error) if isinstance(error, self.own_errors) else describe(error, self.folder)
            messages = [(ERROR, CATEGORIES[ERROR], text)]
        instance = instance or self.instances.get(number)
        logged = instance.messages() if instance else []
        if logged or messages or self.output.waiting():
            return self.with_messages(instance, logged + messages, body)
        return ANSWER.pack(8 + len(body), self.status, 0) + body

    def with_messages(self, instance, messages, body):
        if self.status == OK and any(status == WARNING for status, _, _ in messages):
            self.status = WARNING
        printed = self.output.take()
        if printed:
            messages.insert(0, (OK, "logAll", printed))
        parts, count = [], 0
        for status, category, text in messages:
            if instance is None or instance.logs(status, category):
                if len(text) > LONGEST_MESSAGE:
                    text = f"{text[:LONGEST_MESSAGE]} ... ({len(text)} characters)"
                category = str(category).encode("utf-8", "replace")
                text = text.replace("\0", " ").encode("utf-8", "replace")
                parts.append(struct.pack("<III", status, len(category), len(text)) + category + b"\0" + text + b"\0")
                count += 1
        log = b"".join(parts)
        return ANSWER.pack(8 + len(log) + len(body), self.status, count) + log + body

    # lifecycle

    def instantiate(self, request, at, number, _):
        name, at = read_text(request, at)
        resources, at = read_text(request, at)
        visible, logging = HEAD.unpack_from(request, at)
        name, resources = name.decode("utf-8", "replace"), os.fsdecode(resources)
        self.instances[number] = Instance(self.make, name, resources, visible, bool(logging))
        return b""

    def free(self, request, at, number, instance):
        self.instances.pop(number, None)
        for state in [k for k, (owner, _, _) in self.states.items() if owner == number]:
            del self.states[state]
        return b""

    def set_logging(self, request, at, number, instance):
        on, n = HEAD.unpack_from(request, at)
        at += 8
        known, chosen = {*self.make.log_categories, *CATEGORIES}, set()
        for _ in range(n):
            category, at = read_text(request, at)
            category = category.decode("utf-8", "replace")
            if category not in known:
                raise CallError(f"there is no log category {category}")
            chosen.add(category)
        instance.logging, instance.categories = bool(on), chosen or None
        return b""

    def setup(self, request, at, number, instance):
        tolerance, start, stop = struct.unpack_from("<3d", request, at)
        arguments = (start, None if math.isnan(stop) else stop, None if math.isnan(tolerance) else tolerance)
        instance.slave.setup_experiment(*arguments[: self.experiment_arguments])
        return b""

    def enter(self, request, at, number, instance):
        instance.slave.enter_initialization_mode()
        return b""

    def exit(self, request, at, number, instance):
        instance.slave.exit_initialization_mode()
        instance.initialized = True
        return b""

    def terminate(self, request, at, number, instance):
        instance.slave.terminate()
        return b""

    def reset(self, request, at, number, instance):
        instance.reset()
        return b""

    def step(self, request, at, number, instance):
        t, h, lists = STEP.unpack_from(request, at)
        if lists:
            at += STEP.size
            watched = []
            for _ in range(3):
                (n,) = U32.unpack_from(request, at)
                watched.append(list(struct.unpack_from(f"<{n}I", request, at + 4)))
                at += 4 + 4 * n
            instance.watched = tuple(watched)
        done = instance.slave.do_step(t, h)
        if not done:
            self.status = DISCARD
            if done is None:
                text = "do_step has returned None: it must return True when the step was made"
                log_to_queue(instance.slave, text, DISCARD)
            return HEAD.pack(getattr(self.make, "discard_is_end", True), 0)
        try:
            values = [
                struct.pack(f"<{len(references)}{code}", *get(references))
                for references, get, code in zip(instance.watched, instance.getters, CODES)
                if references
            ]
        except BaseException:  # reported when the host reads the values
            return HEAD.pack(0, 0)
        return HEAD.pack(0, 1) + b"".join(values)

    # values

    def get(self, request, at, number, instance):
        kind, n = HEAD.unpack_from(request, at)
        references = list(struct.unpack_from(f"<{n}I", request, at + 8))
        instance.check_known(references)
        values = instance.getters[kind](references)
        if len(values) != n:
            raise CallError(f"the slave has returned {len(values)} values instead of {n}")
        if kind == STRING:
            return b"".join(text_bytes(str(value).encode("utf-8", "replace")) for value in values)
        return struct.pack(f"<{n}{CODES[kind]}", *values)

    def set(self, request, at, number, instance):
        kind, n = HEAD.unpack_from(request, at)
        references = list(struct.unpack_from(f"<{n}I", request, at + 8))
        at += 8 + 4 * n
        if kind == STRING:
            values = []
            for _ in range(n):
                text, at = read_text(request, at)
                values.append(text.decode("utf-8", "replace"))
        else:
            values = list(struct.unpack_from(f"<{n}{CODES[kind]}", request, at))
            if kind == BOOLEAN:
                values = [bool(v) for v in values]
        instance.check_known(references)
        instance.check_settable(references)
        instance.setters[kind](references, values)
        return b""

    # FMU state

    def save(self, request, at, number, instance):
        (state,) = U32.unpack_from(request, at)
        self.states[state] = (number, instance.slave._get_fmu_state(), instance.initialized)
        return b""

    def restore(self, request, at, number, instance):
        _, saved, initialized = self.states[U32.unpack_from(request, at)[0]]
        instance.slave._set_fmu_state(saved)
        instance.initialized = initialized
        return b""

    def forget(self, request, at, number, instance):
        self.states.pop(U32.unpack_from(request, at)[0], None)
        return b""

    def serialize(self, request, at, number, instance):
        _, saved, initialized = self.states[U32.unpack_from(request, at)[0]]
        return text_bytes(bytes([initialized]) + self.make._fmu_state_to_bytes(saved))

    def deserialize(self, request, at, number, instance):
        (state,) = U32.unpack_from(request, at)
        data, _ = read_text(request, at + 4)
        self.states[state] = (number, self.make._fmu_state_from_bytes(bytes(data[1:])), bool(data[0]))
        return b""


# --- the process ------------------------------------------------------------------------------------------------------


def tie_to_host(lifeline, host):
    """End this process with the host, whatever it is doing then.

    The lifeline is a pipe that closes with the host, upon which the system sends a signal. A thread handles the rare
    case that a forked copy of the host keeps the pipe open.
    """
    import fcntl
    import signal

    parent = os.getppid()  # the host, or a script by which it starts Python

    def watchdog():
        with contextlib.suppress(ProcessLookupError, PermissionError):
            while os.getppid() == parent:
                os.kill(host, 0)
                time.sleep(WATCHDOG_PERIOD)
        os.kill(os.getpid(), signal.SIGKILL)

    with contextlib.suppress(OSError, AttributeError):  # without signals from pipes the thread suffices
        fcntl.fcntl(lifeline, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(lifeline, fcntl.F_SETFL, fcntl.fcntl(lifeline, fcntl.F_GETFL) | os.O_ASYNC)
    threading.Thread(target=watchdog, daemon=True).start()


def open_ends(read, write, lifeline, output, host):
    """Return the channel and the file for printed text."""
    if os.name == "nt":  # the host's job object ends this process
        import msvcrt

        for handle in (read, write, output):
            os.set_handle_inheritable(handle, False)  # a program that the slave starts must not keep the channel open
        read, write, output = (
            msvcrt.open_osfhandle(h, mode)
            for h, mode in ((read, os.O_RDONLY), (write, os.O_WRONLY), (output, os.O_RDWR))
        )
        return Channel(read, write), Output(output)
    for descriptor in (int(name) for name in os.listdir("/dev/fd")):
        if descriptor > max(2, read, write, lifeline, output):
            with contextlib.suppress(OSError):  # the descriptor of the listing itself
                os.close(descriptor)  # inherited from the host by accident
    for descriptor in {read, write, lifeline, output}:
        os.set_inheritable(descriptor, False)
    tie_to_host(lifeline, host)
    return Channel(read, write), Output(output)


def missing(packages):
    return [name for name in packages if importlib.util.find_spec(name) is None]


def fail(reason):
    sys.stderr.write(f"Python {sys.version_info[0]}.{sys.version_info[1]} {reason}\n")
    sys.stderr.flush()
    os._exit(1)


def load(folder, settings):
    lacking = missing(settings["requires"])
    if lacking:
        fail("lacks " + ", ".join(lacking))
    try:
        return slave_class(folder)
    except CallError as error:
        fail(f"cannot run it: {error}")
    except ModuleNotFoundError as error:
        fail(f"lacks {error.name}")
    except (Exception, SystemExit) as error:
        fail("cannot load the slave: " + describe(error, folder))


def limit(settings):
    """Return the time limit of a call in seconds, from the environment or else from the FMU; 0: none."""
    return float(os.environ.get("MECHFMU_CALL_TIMEOUT") or settings.get("call_timeout") or 0)


def main(folder, settings, numbers):
    for stream in filter(None, (sys.stdout, sys.stderr)):  # UTF-8 on every system, and complete when the process dies
        stream.reconfigure(encoding="utf-8", errors="backslashreplace", newline="\n", line_buffering=True)
    channel, output = open_ends(*numbers)
    sys.argv = [os.path.join(folder, "mechfmu_start.py")]
    server = Server(channel, output, load(folder, settings), folder)
    guid = settings["guid"].encode("utf-8")
    hello = U32.pack(HELLO) + F64.pack(limit(settings)) + text_bytes(guid)
    channel.send(U64.pack(len(hello)) + hello)
    with contextlib.suppress(OSError):  # the host has closed the channel
        server.serve()
    atexit._run_exitfuncs()
    os._exit(0)
