"""Stands in for packages that OpenHands imports and that its client of a server never uses: models, clouds, documents.

The client's own packages, and all that it sends and reads with, are real.
"""
import importlib.abc
import importlib.machinery
import importlib.util
import sys
import types

from pydantic_core import core_schema

ABSENT = {
    "PyPDF2", "aiohttp", "binaryornot", "boto3", "botocore", "docker", "docx", "fastapi", "google", "litellm",
    "openai", "openhands_aci", "pptx", "pylatexenc", "rapidfuzz", "tree_sitter_language_pack",
}
# Packages whose __init__ imports every place that a runtime can be in.
BARE = ("openhands.runtime", "openhands.runtime.impl")


class Thing(Exception):
    """A class, an exception or a function of an absent package, whichever the importer takes it for."""

    def __init__(self, *_, **__):
        pass

    @classmethod
    def __get_pydantic_core_schema__(cls, *_):
        return core_schema.any_schema()


class AbsentModule(types.ModuleType):
    __path__ = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        thing = type(name, (Thing,), {"__doc__": ""})
        setattr(self, name, thing)
        return thing


class AbsentPackages(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path, target=None):
        if name.split(".")[0] in ABSENT:
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec):
        return AbsentModule(spec.name)

    def exec_module(self, module):
        pass


sys.meta_path.append(AbsentPackages())
[root] = importlib.util.find_spec("openhands").submodule_search_locations
for name in BARE:
    package = types.ModuleType(name)
    package.__path__ = [root + name.removeprefix("openhands").replace(".", "/")]
    sys.modules[name] = package
