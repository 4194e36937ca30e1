# The skill that edits, with the commands and checks of the editor that agents of OpenHands know.
_most_characters, _most_bytes, _most_versions, _around = 16000, 10 * 1024 * 1024, 10, 4
_documents = {'.pdf': 'PDF', '.docx': 'DOCX', '.pptx': 'PowerPoint',
              **dict.fromkeys(['.xlsx', '.mp3', '.wav', '.m4a', '.flac'])}
_history = {}


def _clipped(text, advice):
    if len(text) <= _most_characters:
        return text
    return text[:_most_characters] + '<response clipped><NOTE>Only a part is shown because of its length. %s</NOTE>' % advice


def _numbered(what, lines, first=1):
    shown = '\n'.join('%6d\t%s' % (first + index, line) for index, line in enumerate(lines))
    advice = 'Find the line numbers of interest with grep -n, then view them with view_range.'
    return 'Here is %s with line numbers, as cat -n shows it:\n%s\n' % (what, _clipped(shown, advice))


def _plain(text):
    lines = text.split('\n')
    return lines[:-1] if lines[-1] == '' else lines


def _invalid(name, value, why):
    return _Refused('Invalid "%s": %s. %s' % (name, json.dumps(value, default=str), why))


def _needed(name, value, command):
    if value is None:
        raise _Refused('Parameter "%s" is required for %s.' % (name, command))
    return value


def _check_path(command, path):
    if not os.path.isabs(path):
        better = os.path.abspath(path)
        hint = ' Perhaps you meant %s?' % better if os.path.exists(better) else ''
        raise _Refused('The path %s is not absolute; it must start with "/".%s' % (path, hint))
    if command == 'create' and os.path.lexists(path):
        raise _Refused('%s exists already; "create" does not overwrite it.' % path)
    if command != 'create' and not os.path.exists(path):
        raise _Refused('The path %s does not exist. Give one that does.' % path)
    for kind, holds in (('directory', os.path.isdir(path)), ('document', _extension(path) in _documents)):
        if holds and command not in ('view', 'create'):
            raise _Refused('%s is a %s, for which only "view" can be used.' % (path, kind))


def _extension(path):
    return os.path.splitext(path)[1].lower()


def _load(path):
    # Opening a pipe would wait for its writer.
    if not os.path.isfile(path):
        raise _Refused('%s is neither a file nor a directory.' % path)
    if os.path.getsize(path) > _most_bytes:
        raise _Refused('%s is larger than 10 MB, which is the limit of this editor.' % path)
    with open(path, 'rb') as file:
        data = file.read()
    encodings = ['utf-16'] if data[:2] in (b'\xff\xfe', b'\xfe\xff') else ['utf-8', 'latin-1']
    if encodings[0] == 'utf-8' and b'\0' in data:
        raise _Refused('%s is a binary file, which this editor cannot show or change.' % path)
    for encoding in encodings:
        try:
            return data.decode(encoding), encoding
        except UnicodeDecodeError:
            pass
    raise _Refused('%s is a binary file, which this editor cannot show or change.' % path)


def _store(path, text, encoding='utf-8'):
    try:
        data = text.encode(encoding)
    except UnicodeEncodeError:
        data = text.encode('utf-8')
    with open(path, 'wb') as file:
        file.write(data)


def _remember(path, text):
    _history[path] = [*_history.get(path, []), text][-_most_versions:]


def _view_directory(path, view_range):
    if view_range is not None:
        raise _invalid('view_range', view_range, 'It cannot be used with a directory.')
    shown, hidden = [], 0
    for folder, folders, files in os.walk(path):
        entries = folders + files
        if folder == path:
            hidden = sum(name.startswith('.') for name in entries)
        shown += [os.path.join(folder, name) for name in entries if not name.startswith('.')]
        folders[:] = [name for name in folders if not name.startswith('.')] if folder == path else []
    marked = sorted(entry + '/' if os.path.isdir(entry) else entry for entry in shown)
    text = '\n'.join(['Files and directories up to 2 levels below %s, without hidden ones:' % path,
                      os.path.join(path, ''), *marked])
    note = "\n\n%d hidden entries of this directory are left out; 'ls -la %s' shows them." % (hidden, path)
    return _clipped(text, 'Use ls -la in the shell for single directories.') + (note if hidden else '')


def _view_file(path, view_range):
    if _extension(path) in _documents:
        kind = _documents[_extension(path)]
        if kind is None:
            raise _Refused('%s is a document, and there is no converter to text for it.' % path)
        return _clipped(_converted(kind, path), 'Parse it in a code cell and search the text.')
    lines = _plain(_load(path)[0])
    if view_range is None:
        return _numbered(path, lines)
    if len(view_range) != 2 or not all(isinstance(entry, int) for entry in view_range):
        raise _invalid('view_range', view_range, 'It must be a list of two integers.')
    start, end = view_range
    if not 1 <= start <= max(len(lines), 1):
        raise _invalid('view_range', view_range,
                       'Its first element must be within the lines of the file: [1, %d].' % len(lines))
    if end != -1 and end < start:
        raise _invalid('view_range', view_range,
                       'Its second element must be -1 or at least the first one, which is %d.' % start)
    note = 'NOTE: the range ends at line %d, and the file has %d lines; it is shown up to its end.\n' % (end, len(lines))
    shown = lines[start - 1:None if end == -1 else end]
    return (note if end > len(lines) else '') + _numbered(path, shown, start)


def _replaced(path, text, old, new):
    if old == new:
        raise _Refused('"old_str" and "new_str" are the same, so nothing would change.')
    if old not in text:
        old, new = old.strip(), new.strip()
    places = [match.start() for match in re.finditer(re.escape(old), text)] if old else []
    if not places:
        raise _Refused('Nothing was replaced: "%s" is not in %s as it is written here.' % (old, path))
    if len(places) > 1:
        lines = sorted({text.count('\n', 0, place) + 1 for place in places})
        raise _Refused('Nothing was replaced: "%s" is there more than once, in lines %s. Add lines around it until it is unique.'
                       % (old, lines))
    place = places[0]
    return text[:place] + new + text[place + len(old):], text.count('\n', 0, place) + 1, new.count('\n') + 1


def _inserted(text, line, new):
    try:
        number = int(line)
    except (TypeError, ValueError):
        raise _invalid('insert_line', line, 'It must be an integer.')
    lines = _plain(text)
    if not 0 <= number <= len(lines):
        raise _invalid('insert_line', line, 'It must be within [0, %d], the lines of the file.' % len(lines))
    added = new.split('\n')
    ended = text.endswith('\n') or number == len(lines)
    return '\n'.join(lines[:number] + added + lines[number:]) + ('\n' if ended else ''), number + 1, len(added)


def _change(path, before, encoding, after, first, count):
    _store(path, after, encoding)
    _remember(path, before)
    start = max(first - _around, 1)
    shown = _numbered('a part of %s' % path, _plain(after)[start - 1:first + count - 1 + _around], start)
    return ('The file %s was edited. %sReview the change; edit the file again if it is not as wanted.' % (path, shown),
            before, after)


def _edit(command, path, file_text, view_range, old_str, new_str, insert_line):
    _check_path(command, path)
    if command == 'view':
        return (_view_directory if os.path.isdir(path) else _view_file)(path, view_range), None, None
    if command == 'create':
        text = _needed('file_text', file_text, command)
        if not os.path.isdir(os.path.dirname(path)):
            raise _Refused('The directory of %s does not exist; make it first.' % path)
        _store(path, text)
        _remember(path, text)
        return 'File created at: %s' % path, None, text
    before, encoding = _load(path)
    if command == 'str_replace':
        changed = _replaced(path, before, _needed('old_str', old_str or None, command), new_str or '')
        return _change(path, before, encoding, *changed)
    if command == 'insert':
        line = _needed('insert_line', insert_line, command)
        return _change(path, before, encoding, *_inserted(before, line, _needed('new_str', new_str, command)))
    if command == 'undo_edit':
        if not _history.get(path):
            raise _Refused('There is no edit of %s to undo.' % path)
        after = _history[path].pop()
        _store(path, after, encoding)
        return 'The last edit of %s was undone. %s' % (path, _numbered(path, _plain(after))), before, after
    raise _Refused('Unknown command "%s". The allowed ones are: view, create, str_replace, insert, undo_edit.' % command)


def file_editor(command: Literal['view', 'create', 'str_replace', 'insert', 'undo_edit'], path: str,
                file_text: Optional[str] = None, view_range: Optional[List[int]] = None,
                old_str: Optional[str] = None, new_str: Optional[str] = None,
                insert_line: Optional[Union[int, str]] = None, enable_linting: bool = False):
    """Views, creates and edits files; edits can be undone.

    Args:
        command: what to do
        path: an absolute path
        file_text: for create, the content
        view_range: for view, the first and the last line; -1 is the end
        old_str: for str_replace, the text that is there exactly once
        new_str: for str_replace and insert, the new text
        insert_line: for insert, the line after which; 0 is the beginning
        enable_linting: taken and not used
    """
    result = {'output': '', 'error': None, 'path': path, 'prev_exist': os.path.exists(path),
              'old_content': None, 'new_content': None}
    try:
        text, before, after = _edit(command, path, file_text, view_range, old_str, new_str, insert_line)
        result.update(output=text, old_content=before, new_content=after)
    except (_Refused, OSError) as error:
        result['error'] = _reason(error)
    shown = result['output'] if result['error'] is None else 'ERROR:\n' + result['error']
    if _returns_text:
        return shown
    mark = 'oh_aci_output_' + uuid.uuid4().hex
    return '<%s>\n%s\n</%s>' % (mark, json.dumps({**result, 'formatted_output_and_error': shown}, indent=2), mark)
