"""Calls each public method of the published Python clients of E2B, synchronous and asynchronous, and prints as JSON what they
answered, and which methods were left out."""

import asyncio
import inspect
import json
import urllib.request

import e2b
import e2b_code_interpreter


class Noted:
    """Passes calls on to an object, and notes which methods they were for."""

    called: set[str] = set()

    def __init__(self, subject, name):
        self.subject, self.name = subject, name

    def __getattr__(self, method):
        Noted.called.add(f"{self.name}.{method}")
        return getattr(self.subject, method)


def public(kind, name, without=()):
    """The methods of a class, without what it has from other packages."""
    found = set()
    for part in inspect.getmro(kind):
        if part.__module__.startswith("e2b"):
            for method, value in vars(part).items():
                is_method = callable(value) or hasattr(value, "__get__") and not isinstance(value, property)
                if not method.startswith("_") and is_method and method not in without:
                    found.add(f"{name}.{method}")
    return found


async def settled(value):
    return await value if inspect.isawaitable(value) else value


async def failure(call, *args, **options):
    try:
        await settled(call(*args, **options))
    except Exception as error:
        return type(error).__name__
    return None


def fetched(url):
    return urllib.request.urlopen(url).read().decode()


async def exercise(mode, sandbox_class, volume_class, secret_class, template_class):
    """`mode` stands before the names of classes."""
    answers, every = {}, set()

    def note(subject, name, without=()):
        every.update(public(type(subject), f"{mode}.{name}", without))
        return Noted(subject, f"{mode}.{name}")

    async def fed(part, pid, pieces):
        if mode == "sync":
            return part.stream_input(pid, pieces)
        handle = note(part.stream_input(pid), "CommandInputHandle")
        for piece in pieces:
            await handle.send(piece)
        await handle.close()

    raw = await settled(sandbox_class.create(timeout=600))
    every.update(public(sandbox_class, f"{mode}.Sandbox", ("commands", "files", "pty", "git")))
    classes = Noted(sandbox_class, f"{mode}.Sandbox")
    sandbox = Noted(raw, f"{mode}.Sandbox")
    other = await settled(classes.create())
    answers["create"] = other.sandbox_id != raw.sandbox_id
    answers["kill"] = [await settled(other.kill()), await settled(classes.kill(other.sandbox_id))]
    answers["host"] = raw.sandbox_id in sandbox.get_host(3000)
    answers["running"] = await settled(sandbox.is_running())
    answers["info"] = (await settled(sandbox.get_info())).sandbox_id == raw.sandbox_id
    answers["metrics"] = len(await settled(sandbox.get_metrics()))
    await settled(sandbox.set_timeout(900))
    page = await settled(classes.list().next_items())
    answers["list"] = [one.sandbox_id == raw.sandbox_id for one in page]
    await settled(sandbox.pause())
    answers["paused again"] = await failure(sandbox.beta_pause)
    answers["connect"] = (await settled(sandbox.connect())).sandbox_id == raw.sandbox_id
    answers["network"] = await failure(sandbox.update_network, {"allow_out": ["example.com"]})
    await settled(raw.files.write("kept.txt", "before"))
    snapshot = await settled(sandbox.create_snapshot())
    await settled(raw.files.write("kept.txt", "after"))
    begun = await settled(classes.create(snapshot.snapshot_id))
    page = await settled(sandbox.list_snapshots().next_items())
    answers["snapshots"] = [
        [one.snapshot_id == snapshot.snapshot_id for one in page],
        await settled(begun.files.read("kept.txt")),
        await settled(classes.delete_snapshot(snapshot.snapshot_id)),
        await settled(classes.delete_snapshot("none")),
    ]
    forks = await settled(sandbox.fork(count=2))
    answers["fork"] = [await settled(one.files.read("kept.txt")) for one in forks]
    for one in [begun, *forks]:
        await settled(one.kill())
    await settled(raw.files.remove("kept.txt"))
    answers["mcp"] = [raw.sandbox_id in sandbox.get_mcp_url(), await failure(sandbox.get_mcp_token)]

    commands = note(raw.commands, "Commands")
    handle = await settled(commands.run("cat", background=True, stdin=True))
    cat = note(handle, "CommandHandle")
    answers["pid"] = [one.pid == cat.pid for one in await settled(commands.list())]
    await settled(commands.send_stdin(handle.pid, "one\n"))
    await settled(cat.disconnect())
    again = note(await settled(commands.connect(handle.pid)), "CommandHandle")
    if "send_stdin" in dir(handle):
        await settled(again.send_stdin("two\n"))
    await fed(commands, handle.pid, ["three\n", b"four\n"])
    answers["no such process"] = await failure(fed, commands, 4_000_000, ["x"])
    await settled(commands.close_stdin(handle.pid))
    ended = await settled(again.wait())
    answers["ended"] = [ended.exit_code, ended.stdout.endswith("three\nfour\n")]
    if "close_stdin" in dir(handle):
        closing = note(await settled(commands.run("cat", background=True, stdin=True)), "CommandHandle")
        await settled(closing.close_stdin())
        await settled(closing.wait())
    sleeping = note(await settled(commands.run("sleep 1000", background=True)), "CommandHandle")
    pid = sleeping.pid
    answers["killed"] = [
        await settled(sleeping.kill()),
        await failure(sleeping.wait),
        await settled(commands.kill(pid)),
    ]

    pty = note(raw.pty, "Pty")
    output = {} if mode == "sync" else {"on_data": lambda data: None}
    terminal = await settled(pty.create(size=e2b.PtySize(rows=24, cols=80), **output))
    await settled(pty.resize(terminal.pid, e2b.PtySize(rows=40, cols=100)))
    connected = await settled(pty.connect(terminal.pid, **output))
    await settled(pty.send_stdin(terminal.pid, b"cd /tmp\n"))
    await fed(pty, terminal.pid, [b"exit ", b"4\n"])
    answers["terminal"] = [await failure(connected.wait), await settled(pty.kill(terminal.pid))]

    files = note(raw.files, "Filesystem")
    await settled(files.write("folder/a.txt", "a"))
    await settled(files.write_files([{"path": "folder/b.txt", "data": "b"}]))
    answers["files"] = [
        await settled(files.read("folder/a.txt")),
        [entry.name for entry in await settled(files.list("folder"))],
        await settled(files.make_dir("folder/c")),
        (await settled(files.rename("folder/a.txt", "folder/z.txt"))).name,
        (await settled(files.get_info("folder/z.txt"))).size,
        await asyncio.to_thread(fetched, await settled(sandbox.download_url("folder/z.txt"))),
 "signature" in await settled(sandbox.upload_url("folder/u.txt")),
    ]
    listener = () if mode == "sync" else (lambda event: None,)
    watch = note(await settled(files.watch_dir("folder", *listener)), "WatchHandle")
    if mode == "sync":
        answers["events"] = watch.get_new_events() == []
    await settled(watch.stop())
    await settled(files.remove("folder"))
    answers["removed"] = await settled(files.exists("folder"))

    git = note(raw.git, "Git")
    origin, copy = "/workspace/origin", "/workspace/copy"
    await settled(git.init(origin, bare=True, initial_branch="main"))
    await settled(git.configure_user("An Agent", "agent@example.com"))
    await settled(git.clone(origin, path=copy))
    await settled(git.set_config("workcell.test", "yes", scope="local", path=copy))
    answers["config"] = await settled(git.get_config("workcell.test", scope="local", path=copy))
    await settled(raw.files.write(f"{copy}/a.txt", "a"))
    await settled(git.add(copy))
    await settled(git.commit(copy, "first"))
    await settled(git.push(copy, remote="origin", branch="main"))
    await settled(git.create_branch(copy, "other"))
    await settled(raw.files.write(f"{copy}/a.txt", "b"))
    await settled(git.restore(copy, paths=["a.txt"]))
    answers["restored"] = await settled(raw.files.read(f"{copy}/a.txt"))
    await settled(raw.files.write(f"{copy}/b.txt", "b"))
    await settled(git.add(copy))
    await settled(git.reset(copy))
    answers["status"] = (await settled(git.status(copy))).current_branch
    await settled(git.checkout_branch(copy, "main"))
    await settled(git.delete_branch(copy, "other", force=True))
    answers["branches"] = (await settled(git.branches(copy))).branches
    await settled(git.pull(copy, remote="origin", branch="main"))
    await settled(git.remote_add(copy, "elsewhere", "https://example.com/x.git"))
    answers["remote"] = await settled(git.remote_get(copy, "elsewhere"))
    await settled(git.dangerously_authenticate(username="an-agent", password="a-token", host="example.com"))

    every.update(
        {f"{mode}.Volume.{one}" for one in ("create", "connect", "destroy")}
        | {f"{mode}.Secret.{one}" for one in ("create", "update", "get_info", "list", "exists", "destroy")}
        | {f"{mode}.Template.{one}" for one in ("build", "build_in_background", "exists", "get_tags")}
    )
    volumes = Noted(volume_class, f"{mode}.Volume")
    answers["volumes"] = [
        await failure(volumes.create, "mine"),
        await failure(volumes.connect, "mine"),
        await settled(volumes.destroy("mine")),
    ]
    secrets = Noted(secret_class, f"{mode}.Secret")
    answers["secrets"] = [
        await failure(secrets.create, "mine", "x"),
        await failure(secrets.update, "mine", "x"),
        await failure(secrets.get_info, "mine"),
        await failure(lambda: secrets.list().next_items()),
        await settled(secrets.exists("mine")),
        await settled(secrets.destroy("mine")),
    ]
    templates = Noted(template_class, f"{mode}.Template")
    description = template_class().from_image("debian")
    answers["templates"] = [
        await failure(templates.build, description, "mine"),
        await failure(templates.build_in_background, description, "mine"),
        await settled(templates.exists("base")),
        await failure(templates.get_tags, "base"),
    ]
    await settled(raw.kill())
    left_out = sorted(every - Noted.called)
    return {"answers": answers, "left out": left_out, "methods": len(every) > 60}


async def code(mode, sandbox_class):
    raw = await settled(sandbox_class.create())
    sandbox = Noted(raw, f"{mode}.CodeSandbox")
    own = {f"{mode}.CodeSandbox.{one}" for one in vars(sandbox_class) if not one.startswith("_")}
    context = await settled(sandbox.create_code_context(cwd="/workspace"))
    text = (await settled(sandbox.run_code("20 + 22", context=context))).text
    contexts = [one.id for one in await settled(sandbox.list_code_contexts())]
    await settled(sandbox.restart_code_context(context.id))
    await settled(sandbox.remove_code_context(context.id))
    await settled(raw.kill())
    left_out = sorted(own - Noted.called - {f"{mode}.CodeSandbox.default_template"})
    return {"text": text, "context": context.id in contexts, "left out": left_out}


async def main():
    synchronous = await exercise("sync", e2b.Sandbox, e2b.Volume, e2b.Secret, e2b.Template)
    asynchronous = await exercise("async", e2b.AsyncSandbox, e2b.AsyncVolume, e2b.AsyncSecret, e2b.AsyncTemplate)
    return {
        "sync": synchronous,
        "async": asynchronous,
        "code": await code("sync", e2b_code_interpreter.Sandbox),
        "async code": await code("async", e2b_code_interpreter.AsyncSandbox),
    }


print(json.dumps(asyncio.run(main())))
