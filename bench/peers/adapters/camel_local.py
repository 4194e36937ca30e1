"""CAMEL with its own toolkits on this machine: TerminalToolkit, FileToolkit and the Jupyter interpreter."""
import shutil
import tempfile
from pathlib import Path

from adapter import serve
from camel.interpreters import JupyterKernelInterpreter
from camel.toolkits import FileToolkit, TerminalToolkit


class Place:
    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="bench-peer-")
        self.terminal = TerminalToolkit(working_directory=self.folder, safe_mode=False)
        self.files = FileToolkit(working_directory=self.folder)
        self.interpreter = None

    def run(self, command):
        return self.terminal.shell_exec(id="main", command=command, block=True)

    def write(self, path, content):
        self.files.write_to_file(title="", content=content, filename=path)

    def read(self, path):
        # FileToolkit numbers the lines that it reads, so this is what an agent's program does.
        return Path(self.folder, path).read_text()

    def code(self, source):
        if self.interpreter is None:
            self.interpreter = JupyterKernelInterpreter(require_confirm=False, print_stdout=False)
        return self.interpreter.run(source, "python")

    def close(self):
        self.terminal.cleanup()
        self.interpreter = None
        shutil.rmtree(self.folder, ignore_errors=True)


serve(Place)
