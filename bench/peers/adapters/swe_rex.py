"""SWE-ReX with its local deployment: a bash session on this machine."""
import os
import shutil
import tempfile

from adapter import serve
from swerex.deployment.local import LocalDeployment
from swerex.runtime.abstract import BashAction, CreateBashSessionRequest, ReadFileRequest, WriteFileRequest


class Place:
    async def run(self, command):
        return (await self.runtime.run_in_session(BashAction(command=command))).output

    async def write(self, path, content):
        await self.runtime.write_file(WriteFileRequest(path=os.path.join(self.folder, path), content=content))

    async def read(self, path):
        return (await self.runtime.read_file(ReadFileRequest(path=os.path.join(self.folder, path)))).content

    async def close(self):
        await self.deployment.stop()
        shutil.rmtree(self.folder, ignore_errors=True)


async def open_place():
    place = Place()
    place.folder = tempfile.mkdtemp(prefix="bench-peer-")
    place.deployment = LocalDeployment()
    await place.deployment.start()
    place.runtime = place.deployment.runtime
    await place.runtime.create_session(CreateBashSessionRequest())
    return place


serve(open_place)
