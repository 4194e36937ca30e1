"""Calls the published Python clients of E2B, synchronous and asynchronous, and prints what they answered as JSON."""

import asyncio
import json

from e2b import (
    AsyncSandbox,
    AuthenticationException,
    CommandExitException,
    FileNotFoundException,
    InvalidArgumentException,
    NotFoundException,
    Sandbox,
    SandboxNotFoundException,
    SandboxQuery,
    TimeoutException,
)
from e2b_code_interpreter import Sandbox as CodeSandbox

found = {}


def raised(call, *args, **options):
    try:
        call(*args, **options)
    except Exception as error:
        return type(error).__name__
    return None


def use(sandbox):
    result = sandbox.commands.run("echo out $GIVEN; echo err >&2", envs={"GIVEN": "yes"})
    found["run"] = [result.exit_code, result.stdout, result.stderr]
    found["exit"] = raised(sandbox.commands.run, "exit 3")
    found["timeout"] = raised(sandbox.commands.run, "sleep 1000", timeout=0.3)
    found["user"] = raised(sandbox.commands.run, "true", user="root")
    handle = sandbox.commands.run("cat", background=True, stdin=True)
    sandbox.commands.send_stdin(handle.pid, "one\n")
    sandbox.commands.close_stdin(handle.pid)
    found["stdin"] = handle.wait().stdout
    found["listed"] = [one.pid for one in sandbox.commands.list() if one.pid == handle.pid]
    sleeping = sandbox.commands.run("sleep 1000", background=True)
    found["killed"] = [sandbox.commands.kill(sleeping.pid), raised(sleeping.wait)]
    terminal = sandbox.pty.create(size=__import__("e2b").PtySize(rows=24, cols=80))
    sandbox.pty.send_stdin(terminal.pid, b"exit 4\n")
    found["terminal"] = raised(terminal.wait)
    files = sandbox.files
    files.write("folder/a.txt", "a")
    files.write_files([{"path": "folder/b.txt", "data": b"b"}])
    found["files"] = [files.read("folder/a.txt"), [entry.name for entry in files.list("folder")]]
    found["missing"] = raised(files.read, "missing")
    found["directory"] = [files.make_dir("folder/c"), files.make_dir("folder/c"), files.exists("folder/c")]
    watcher = files.watch_dir("folder", recursive=True)
    files.write("folder/c/new.txt", "n")
    names = set()
    while "c/new.txt" not in names:
        names |= {event.name for event in watcher.get_new_events()}
    watcher.stop()
    found["renamed"] = files.rename("folder/a.txt", "folder/z.txt").path
    files.remove("folder")
    found["info"] = sandbox.get_info().metadata
    page = Sandbox.list(query=SandboxQuery(metadata={"from": "py thon"})).next_items()
    found["list"] = [one.sandbox_id == sandbox.sandbox_id for one in page]
    found["metrics"] = len(sandbox.get_metrics())
    sandbox.set_timeout(600)
    sandbox.pause()
    found["paused"] = sandbox.is_running()
    found["connected"] = Sandbox.connect(sandbox.sandbox_id).commands.run("echo back").stdout


async def use_async():
    sandbox = await AsyncSandbox.create()
    found["async"] = (await sandbox.commands.run("echo async")).stdout
    seen = asyncio.Event()
    handle = await sandbox.files.watch_dir(".", lambda event: seen.set(), timeout=0)
    await sandbox.files.write("w.txt", "w")
    await seen.wait()
    await handle.stop()
    found["async killed"] = await sandbox.kill()


def use_code():
    sandbox = CodeSandbox.create()
    execution = sandbox.run_code("x = 41\nprint('printed')\nx + 1")
    found["code"] = [execution.text, execution.logs.stdout]
    found["code error"] = sandbox.run_code("1 / 0").error.name
    context = sandbox.create_code_context(cwd="/workspace")
    found["contexts"] = context.id in [one.id for one in sandbox.list_code_contexts()]
    sandbox.restart_code_context(context.id)
    sandbox.remove_code_context(context.id)
    sandbox.kill()


sandbox = Sandbox.create(metadata={"from": "py thon"})
use(sandbox)
found["gone"] = [sandbox.kill(), sandbox.kill(), raised(sandbox.get_info), raised(sandbox.set_timeout, 1)]
found["key"] = raised(Sandbox.create, api_key="wrong")
asyncio.run(use_async())
use_code()
assert issubclass(FileNotFoundException, NotFoundException) and InvalidArgumentException and TimeoutException
assert AuthenticationException and CommandExitException and SandboxNotFoundException
print(json.dumps(found))
