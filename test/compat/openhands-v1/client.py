"""The workspace of the OpenHands SDK 1.43, driven by lines (see lines.py); "async." before a method asks the other kind.

Usage: client.py <url> <session key> <working directory>
"""
import sys

import lines
from absent import stand_in

stand_in(
    absent=[
        "litellm", "openhands.sdk.conversation", "openhands.sdk.event", "openhands.sdk.mcp", "openhands.sdk.settings",
    ],
    bare=["openhands.sdk", "openhands.sdk.git", "openhands.sdk.utils", "openhands.sdk.workspace"],
)

from openhands.sdk.workspace.remote.async_remote_workspace import AsyncRemoteWorkspace  # noqa: E402
from openhands.sdk.workspace.remote.base import RemoteWorkspace  # noqa: E402
from pydantic import BaseModel  # noqa: E402

url, key, directory = sys.argv[1:]
place = {"host": url, "api_key": key, "working_dir": directory}
workspaces = {"": RemoteWorkspace(**place), "async": AsyncRemoteWorkspace(**place)}


def find(name):
    kind, _, method = name.rpartition(".")
    return getattr(workspaces[kind], method)


def plain(value):
    if isinstance(value, list):
        return [plain(item) for item in value]
    return value.model_dump(mode="json") if isinstance(value, BaseModel) else value


lines.answer_lines(find, plain)
