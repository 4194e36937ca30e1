"""The client of OpenHands 0.62, driven by lines (see lines.py).

Usage: client.py <url> <session key> <working directory>
"""
import sys
import zipfile

import lines
from absent import stand_in

stand_in(
    absent=[
        "PyPDF2", "aiohttp", "binaryornot", "boto3", "botocore", "docker", "docx", "fastapi", "google", "litellm",
        "openai", "openhands_aci", "pptx", "pylatexenc", "rapidfuzz", "tree_sitter_language_pack",
    ],
    # They import every place that a runtime can be in.
    bare=["openhands.runtime", "openhands.runtime.impl"],
)

from openhands.core.config import OpenHandsConfig  # noqa: E402
from openhands.core.config.mcp_config import MCPStdioServerConfig  # noqa: E402
from openhands.events import EventStream  # noqa: E402
from openhands.events.observation import Observation  # noqa: E402
from openhands.events.serialization import event_from_dict, event_to_dict  # noqa: E402
from openhands.runtime.impl.action_execution.action_execution_client import ActionExecutionClient  # noqa: E402
from openhands.runtime.plugins import JupyterRequirement, VSCodeRequirement  # noqa: E402
from openhands.storage.memory import InMemoryFileStore  # noqa: E402

url, key, directory = sys.argv[1:]


class Client(ActionExecutionClient):
    """Adds what runtimes of OpenHands add: where the server is, and the key that it asks for."""

    action_execution_server_url = url
    session_api_key = key

    async def connect(self):
        self.session.headers["X-Session-API-Key"] = key
        self.check_if_alive()
        self.setup_initial_env()
        self._runtime_initialized = True

    def act(self, event):
        """An action as its JSON, through the client's own classes and its whole way of running one."""
        return self.run_action(event_from_dict(event))

    async def call_tool(self, name, arguments):
        return await self.call_tool_mcp(event_from_dict({"action": "call_tool_mcp", "args": {"name": name, "arguments": arguments}}))

    def add_mcp_servers(self, servers):
        found = self.get_mcp_config([MCPStdioServerConfig(**server) for server in servers])
        self.config.mcp = found
        return [server.url for server in found.sse_servers]

    def download(self, path):
        archive = self.copy_from(path)
        try:
            with zipfile.ZipFile(archive) as files:
                return {name: files.read(name).decode() for name in sorted(files.namelist())}
        finally:
            archive.unlink()


def plain(value):
    if isinstance(value, Observation):
        return {**event_to_dict(value), "class": type(value).__name__, "text": str(value)}
    return value


config = OpenHandsConfig(workspace_mount_path_in_sandbox=directory)
client = Client(
    config,
    EventStream("session", InMemoryFileStore()),
    None,  # no models: it would edit files with one
    plugins=[JupyterRequirement(), VSCodeRequirement()],
    env_vars={"GREETING": 'hi "there"'},
)
lines.answer_lines(lambda name: getattr(client, name), plain)
client.close()
