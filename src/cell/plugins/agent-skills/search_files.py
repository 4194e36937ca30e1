# The skills that search.
_most_files = 100


def _found(matches, wanted, where):
    if not matches:
        return '[No matches found for "%s" in %s]' % (wanted, where)
    head = '[Found %d matches for "%s" in %s]' % (len(matches), wanted, where)
    return '\n'.join([head, *matches, '[End of matches for "%s" in %s]' % (wanted, where)])


def _walk(directory):
    for folder, folders, files in os.walk(directory):
        folders.sort()
        yield folder, folders, sorted(files)


def _matches(path, wanted):
    try:
        lines = _lines(path)
    except OSError:
        return []
    return [(number, line.strip()) for number, line in enumerate(lines, 1) if wanted in line]


@_skill
def search_dir(search_term: str, dir_path: str = './'):
    """Finds the lines of all files below a directory that contain a text. Hidden files and directories are left out.

    Args:
        search_term: the text
        dir_path: the directory
    """
    matches, files = [], 0
    for folder, folders, names in _walk(_directory(dir_path)):
        folders[:] = [name for name in folders if not name.startswith('.')]
        for name in names:
            path = os.path.join(folder, name)
            if name.startswith('.') or not os.path.isfile(path):
                continue
            inside = _matches(path, search_term)
            files += bool(inside)
            if files > _most_files:
                raise _Refused('More than %d files matched for "%s" in %s. Please narrow your search.'
                               % (_most_files, search_term, dir_path))
            matches += ['%s (Line %d): %s' % (path, number, line) for number, line in inside]
    return _found(matches, search_term, dir_path)


@_skill
def search_file(search_term: str, file_path: Optional[str] = None):
    """Finds the lines of a file that contain a text.

    Args:
        search_term: the text
        file_path: the file; without one, the current file
    """
    path = _open_path() if file_path is None else _existing(file_path)
    matches = ['Line %d: %s' % match for match in _matches(path, search_term)]
    return _found(matches, search_term, path)


@_skill
def find_file(file_name: str, dir_path: str = './'):
    """Finds files below a directory by a part of their name.

    Args:
        file_name: the name, or a part of it
        dir_path: the directory
    """
    matches = [os.path.join(folder, name) for folder, _, names in _walk(_directory(dir_path))
               for name in names if file_name in name]
    return _found(matches, file_name, dir_path)
