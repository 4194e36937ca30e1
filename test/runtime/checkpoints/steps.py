"""Carries out steps in the working directory, then prints what it holds. Both sides of the property test run it."""

import errno
import hashlib
import json
import os
import shutil
import stat
import sys


# Going back may make two files of two names, and a fork counts names that it does not have. So nothing here depends on either:
# only files with such a name have others, and those get new content and a new place by being written anew.
def may_be_linked(path):
    return path.endswith("~")


def step(kind, one, other, value):
    if kind == "write":
        if os.path.lexists(one):
            os.unlink(one)
        with open(one, "w") as file:
            file.write(value)
    elif kind == "append":
        if not may_be_linked(one) and not os.path.islink(one):
            with open(one, "a") as file:
                file.write(value)
    elif kind == "mkdir":
        os.mkdir(one)
    elif kind == "remove":
        shutil.rmtree(one) if os.path.isdir(one) and not os.path.islink(one) else os.unlink(one)
    elif kind == "rename":
        if not os.path.isdir(one) or os.path.islink(one):
            if not may_be_linked(one):
                os.rename(one, other)
        elif not os.path.lexists(other) and not other.startswith(one + "/"):
            move(one, other)
    elif kind == "chmod":
        if not os.path.islink(one) and (os.path.isdir(one) or not may_be_linked(one)):
            mode = 0o700 if os.path.isdir(one) else 0o600
            os.chmod(one, mode | (0o055 if len(value) % 2 else 0o040))
    elif kind == "symlink":
        os.symlink(value, one)
    elif kind == "link":
        if os.path.isfile(one) and not os.path.islink(one) and may_be_linked(one) and may_be_linked(other):
            os.link(one, other)


def move(one, other):
    try:
        os.rename(one, other)
    except OSError as error:
        # A directory that stands in several layers can only be copied.
        if error.errno != errno.EXDEV:
            raise
        shutil.copytree(one, other, symlinks=True)
        shutil.rmtree(one)


def show(path):
    for name in sorted(os.listdir(path)):
        entry = os.path.join(path, name)
        stats = os.lstat(entry)
        kind = stat.S_IFMT(stats.st_mode)
        if stat.S_ISLNK(kind):
            print(repr(entry), "link", os.readlink(entry))
        elif stat.S_ISDIR(kind):
            print(repr(entry), "directory", oct(stats.st_mode))
            show(entry)
        else:
            with open(entry, "rb") as file:
                print(repr(entry), oct(stats.st_mode), hashlib.md5(file.read()).hexdigest())


for words in json.load(open(sys.argv[1])):
    try:
        step(*words)
    except OSError:
        pass
show(b".".decode())
