# Reads a text and prints each mistake of form as `line: message`. The argument is the language.
import json, sys

language, text = sys.argv[1], sys.stdin.read()
try:
    if language == 'python':
        compile(text, 'text', 'exec', dont_inherit=True)
    elif language == 'json':
        json.loads(text)
    elif language == 'toml':
        import tomllib

        tomllib.loads(text)
    elif language == 'yaml':
        import yaml

        for event in yaml.parse(text, Loader=yaml.SafeLoader):
            pass
except ImportError:
    pass
except SyntaxError as error:
    print('%d: %s: %s' % (error.lineno or 1, type(error).__name__, error.msg))
except ValueError as error:
    # JSON tells the line as a field, TOML in its message only.
    line = getattr(error, 'lineno', None)
    said = str(error).rsplit('(at line ', 1)
    if line is None and len(said) == 2:
        line = int(said[1].split(',')[0])
    print('%d: %s' % (line or 1, getattr(error, 'msg', said[0].strip())))
except Exception as error:
    mark = getattr(error, 'problem_mark', None)
    print('%d: %s' % (mark.line + 1 if mark else 1, getattr(error, 'problem', None) or error))
