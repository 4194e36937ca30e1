"""RemoteRuntime of OpenHands 0.62, driven by lines (see lines.py).

Usage: client.py <url of the remote-runtime API> <key> <working directory>
"""
import sys

import lines
from absent import stand_in

stand_in(
    absent=[
        "PyPDF2", "aiohttp", "binaryornot", "boto3", "botocore", "dirhash", "docker", "docx", "fastapi", "google", "litellm",
        "openai", "openhands_aci", "pptx", "pylatexenc", "rapidfuzz", "tree_sitter_language_pack",
    ],
    # They import every place that a runtime can be in.
    bare=["openhands.runtime", "openhands.runtime.impl", "openhands.runtime.impl.remote"],
)

from openhands.core.config import OpenHandsConfig, SandboxConfig  # noqa: E402
from openhands.events import EventStream  # noqa: E402
from openhands.events.observation import Observation  # noqa: E402
from openhands.events.serialization import event_from_dict, event_to_dict  # noqa: E402
from openhands.runtime.impl.remote.remote_runtime import RemoteRuntime  # noqa: E402
from openhands.runtime.plugins import JupyterRequirement  # noqa: E402
from openhands.storage.memory import InMemoryFileStore  # noqa: E402

url, key, directory = sys.argv[1:]
runtimes = {}


async def connect(name, sid, options):
    """A client for a session. `options`: settings of its sandbox, and whether it attaches."""
    attach = options.pop("attach", False)
    sandbox = SandboxConfig(remote_runtime_api_url=url, api_key=key, **options)
    config = OpenHandsConfig(workspace_mount_path_in_sandbox=directory, enable_browser=False, sandbox=sandbox)
    runtime = RemoteRuntime(
        config,
        EventStream(sid, InMemoryFileStore()),
        None,  # no models: it would edit files with one
        sid=sid,
        plugins=[JupyterRequirement()],
        env_vars={"GREETING": "hi"},
        attach_to_existing=attach,
    )
    await runtime.connect()
    runtimes[name] = runtime
    return runtime.runtime_id


def act(name, event):
    return runtimes[name].run_action(event_from_dict(event))


def image_exists(name, image):
    return runtimes[name].runtime_builder.image_exists(image)


def build(name, path, image):
    return runtimes[name].runtime_builder.build(path, [image, image + "-too"])


def close(name):
    runtimes.pop(name).close()


def plain(value):
    return {**event_to_dict(value), "class": type(value).__name__} if isinstance(value, Observation) else value


lines.answer_lines(lambda name: globals()[name], plain)
