"""Helpers for agents: look at files through a window, search, edit, read documents. They print what they find."""
import functools, json, os, re, sys, uuid, zipfile
from typing import List, Literal, Optional, Union
from xml.etree import ElementTree

_window = 100
# Tools return the text that code cells print.
_returns_text = False
_current = {'path': None, 'first': 1, 'last': 0}


class _Refused(Exception):
    pass


def _skill(function):
    @functools.wraps(function)
    def told(*positional, **named):
        try:
            text = function(*positional, **named)
        except (_Refused, OSError) as error:
            text = 'ERROR: %s' % _reason(error)
        if _returns_text:
            return text
        print(text)
    return told


def _reason(error):
    if isinstance(error, OSError) and error.strerror:
        return '%s: %s' % (error.filename, error.strerror)
    return str(error)


def _existing(path):
    if not isinstance(path, (str, os.PathLike)) or not os.path.isfile(path):
        raise _Refused('File %s not found.' % path)
    return os.path.abspath(path)


def _directory(path):
    if not os.path.isdir(path):
        raise _Refused('Directory %s not found.' % path)
    return path


def _lines(path):
    with open(path, encoding='utf-8', errors='replace') as file:
        return [line.rstrip('\n') for line in file]


def _open_path():
    if _current['path'] is None:
        raise _Refused('No file open. Use the open_file function first.')
    return _existing(_current['path'])


def _line_number(value, total):
    if not isinstance(value, int) or not 1 <= value <= max(total, 1):
        raise _Refused('Line number must be between 1 and %d.' % max(total, 1))
    return value


def _show(path, lines, first, height):
    total = len(lines)
    first = max(1, min(first, total - height + 1))
    last = min(total, first + height - 1)
    _current.update(path=path, first=first, last=last)
    above, below = first - 1, total - last
    return '\n'.join([
        '[File: %s (%d lines total)]' % (path, total),
        '(%d more lines above)' % above if above > 0 else '(this is the beginning of the file)',
        *('%d|%s' % (first + index, line) for index, line in enumerate(lines[first - 1:last])),
        '(%d more lines below)' % below if below > 0 else '(this is the end of the file)',
    ])


@_skill
def open_file(path: str, line_number: int = 1, context_lines: int = 100):
    """Opens a file and shows a window of it around a line. It is then the current file.

    Args:
        path: the file
        line_number: the line in the middle of the window
        context_lines: how many lines to show, at most 100
    """
    found = _existing(path)
    lines = _lines(found)
    if not isinstance(context_lines, int) or context_lines < 1:
        raise _Refused('context_lines must be at least 1.')
    height = min(context_lines, _window)
    return _show(found, lines, _line_number(line_number, len(lines)) - height // 2, height)


@_skill
def goto_line(line_number: int):
    """Moves the window of the current file to a line.

    Args:
        line_number: the line in the middle of the window
    """
    path = _open_path()
    lines = _lines(path)
    return _show(path, lines, _line_number(line_number, len(lines)) - _window // 2, _window)


@_skill
def scroll_down():
    """Shows the next 100 lines of the current file."""
    path = _open_path()
    return _show(path, _lines(path), _current['last'] + 1, _window)


@_skill
def scroll_up():
    """Shows the 100 lines of the current file before those shown last."""
    path = _open_path()
    return _show(path, _lines(path), _current['first'] - _window, _window)
