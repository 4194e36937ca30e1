"""Stands in for packages that OpenHands imports and that its clients of a server never use: models, clouds, documents.

The clients' own modules, and all that they send and read with, are real.
"""
import importlib.abc
import importlib.machinery
import importlib.util
import sys
import types

from pydantic_core import core_schema

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


class AbsentModules(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def __init__(self, names):
        self.names = names

    def find_spec(self, name, path, target=None):
        if any(name == absent or name.startswith(absent + ".") for absent in self.names):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec):
        return AbsentModule(spec.name)

    def exec_module(self, module):
        pass


def stand_in(absent, bare):
    """For modules that are absent, and for packages of which only single modules are wanted: their __init__ is skipped."""
    sys.meta_path.insert(0, AbsentModules(absent))
    [root] = importlib.util.find_spec("openhands").submodule_search_locations
    for name in bare:
        package = types.ModuleType(name)
        package.__path__ = [root + name.removeprefix("openhands").replace(".", "/")]
        sys.modules[name] = package
