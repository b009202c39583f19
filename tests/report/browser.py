"""Headless Chromium by its own protocol over two pipes: no driver, no port, no network."""

import json
import os
import select
import shutil
import signal
import time
from contextlib import contextmanager

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
OPTIONS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-extensions",
    "--disable-background-networking",
    "--no-first-run",
    "--remote-debugging-pipe",
    # whatever a page asked for would fail, and be heard of
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "about:blank",
)
PATIENCE = 90.0


class Browser:
    """One page at a time: `open` loads a file and empties `messages` and `requests`."""

    def __init__(self, profile):
        ours, theirs = os.pipe(), os.pipe()  # commands, answers
        self.commands, self.answers = ours[1], theirs[0]
        arguments = [CHROMIUM, f"--user-data-dir={profile}", *OPTIONS]
        # the browser reads from 3 and writes to 4; first both go where neither is in the other's
        # way
        high = [fd_above(ours[0]), fd_above(theirs[1])]
        actions = [(os.POSIX_SPAWN_DUP2, high[0], 3), (os.POSIX_SPAWN_DUP2, high[1], 4)]
        actions += [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_RDWR, 0) for fd in (0, 1, 2)]
        self.process = os.posix_spawn(
            CHROMIUM, arguments, os.environ, file_actions=actions, setsid=True
        )
        for fd in (ours[0], theirs[1], *high):
            os.close(fd)
        self.buffer, self.number, self.session = b"", 0, None
        self.messages, self.requests = [], []
        target = self("Target.createTarget", url="about:blank")["targetId"]
        self.session = self("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network", "Accessibility", "DOM"):
            self(f"{domain}.enable")

    def __call__(self, method, **parameters):
        """The result of one command."""
        self.number += 1
        command = {"id": self.number, "method": method, "params": parameters}
        if self.session is not None:
            command["sessionId"] = self.session
        os.write(self.commands, json.dumps(command).encode() + b"\0")
        answer = self._until(lambda message: message.get("id") == self.number)
        assert "error" not in answer, answer
        return answer["result"]

    def _until(self, wanted):
        """The next message of that kind; what the page says meanwhile is kept."""
        until = time.monotonic() + PATIENCE
        while True:
            while b"\0" not in self.buffer:
                ready, _, _ = select.select(
                    [self.answers], [], [], max(0.0, until - time.monotonic())
                )
                assert ready, "the browser does not answer"
                part = os.read(self.answers, 1 << 16)
                assert part, "the browser is gone"
                self.buffer += part
            text, self.buffer = self.buffer.split(b"\0", 1)
            message = json.loads(text)
            self._keep(message.get("method"), message.get("params"))
            if wanted(message):
                return message

    def _keep(self, method, parameters):
        if method == "Log.entryAdded":
            self.messages.append(parameters["entry"]["text"])
        elif method == "Runtime.consoleAPICalled":
            self.messages.append(" ".join(str(one.get("value")) for one in parameters["args"]))
        elif method == "Runtime.exceptionThrown":
            self.messages.append(parameters["exceptionDetails"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])

    def open(self, path, width=1100, media="screen", scheme="light"):
        """Load a file as from disk, in a window so wide (CSS pixels), as on screen or on paper.

        scheme : "light" or "dark", as the reader prefers.
        """
        self.messages, self.requests = [], []
        self(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=900,
            deviceScaleFactor=1,
            mobile=False,
        )
        self("Emulation.setScrollbarsHidden", hidden=media == "print")
        preferred = [{"name": "prefers-color-scheme", "value": scheme}]
        self("Emulation.setEmulatedMedia", media=media, features=preferred)
        self("Page.navigate", url=path.as_uri())
        self._until(lambda message: message.get("method") == "Page.loadEventFired")
        return self

    def evaluate(self, script):
        """The value of an expression in the page; the page's own policy does not bind it."""
        found = self("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def press(self, key, code):
        """One key, down and up."""
        for kind in ("keyDown", "keyUp"):
            self("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code)

    def close(self):
        """End it and what it started: it leads a process group of its own."""
        os.close(self.commands)
        os.close(self.answers)
        os.killpg(self.process, signal.SIGKILL)
        os.waitpid(self.process, 0)


def fd_above(fd, least=10):
    """The same file under a number out of the way of 3 and 4."""
    import fcntl

    return fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, least)


@contextmanager
def running(profile):
    """A browser, ended whatever happens."""
    browser = Browser(profile)
    try:
        yield browser
    finally:
        browser.close()
