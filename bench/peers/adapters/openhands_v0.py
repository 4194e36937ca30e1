"""OpenHands 0.62: its action execution server on this machine, asked as its clients ask it."""
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time

import requests
from adapter import serve

key = "a-key-for-measuring-only"


class Place:
    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="bench-peer-")
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            port = taken.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        self.session = requests.Session()
        self.session.headers["X-Session-API-Key"] = key
        bash = ["--working-dir", self.folder, "--username", "root", "--user-id", "0", "--no-enable-browser"]
        self.server = subprocess.Popen(
            [sys.executable, "-m", "openhands.runtime.action_execution_server", str(port), *bash, "--plugins", "jupyter"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "SESSION_API_KEY": key, "LOCAL_RUNTIME_MODE": "1", "OPENHANDS_REPO_PATH": self.folder},
        )
        while not self.is_ready():
            if self.server.poll() is not None:
                raise RuntimeError(f"The server ended with {self.server.returncode}.")
            time.sleep(0.02)

    def is_ready(self):
        try:
            return self.session.get(f"{self.url}/server_info", timeout=5).ok and self.act("run", command="true") is not None
        except requests.RequestException:
            return False

    def act(self, action, **args):
        answer = self.session.post(f"{self.url}/execute_action", json={"action": {"action": action, "args": args}}, timeout=120)
        answer.raise_for_status()
        return answer.json()

    def run(self, command):
        return self.act("run", command=command)["content"]

    def write(self, path, content):
        answer = self.act("write", path=os.path.join(self.folder, path), content=content)
        if answer["observation"] != "write":
            raise RuntimeError(str(answer)[:200])

    def read(self, path):
        return self.act("read", path=os.path.join(self.folder, path))["content"].rstrip("\n")

    def code(self, source):
        return self.act("run_ipython", code=source, include_extra=False)["content"]

    def close(self):
        self.server.terminate()
        try:
            self.server.wait(10)
        except subprocess.TimeoutExpired:
            self.server.kill()
            self.server.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


serve(Place)
