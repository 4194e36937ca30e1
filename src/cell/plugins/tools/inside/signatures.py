# Describes functions of Python by their source: signature, types and docstring become a schema. It runs nothing of
# them, and leaves open what the source does not tell.
import ast, json, re

simple = {'str': 'string', 'int': 'integer', 'float': 'number', 'bool': 'boolean', 'None': 'null', 'bytes': 'string'}
lists = {'list', 'List', 'Sequence', 'Iterable', 'set', 'Set', 'frozenset', 'tuple', 'Tuple'}
maps = {'dict', 'Dict', 'Mapping', 'MutableMapping'}


def classes_of(tree):
    return {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}


def name_of(node):
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ''


def choices(schemas):
    types = [schema.get('type') for schema in schemas]
    if all(set(schema) == {'type'} and isinstance(kind, str) for schema, kind in zip(schemas, types)):
        return {'type': types}
    return {'anyOf': schemas}


def schema_of(node, classes, seen=()):
    if node is None:
        return {}
    if isinstance(node, ast.Constant):
        if node.value is None:
            return {'type': 'null'}
        if isinstance(node.value, str):
            try:
                return schema_of(ast.parse(node.value, mode='eval').body, classes, seen)
            except SyntaxError:
                return {}
        return {}
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return choices(flatten(node, classes, seen))
    if isinstance(node, ast.Subscript):
        return subscript(name_of(node.value), node.slice, classes, seen)
    name = name_of(node)
    if name in simple:
        return {'type': simple[name]}
    if name in lists:
        return {'type': 'array'}
    if name in maps:
        return {'type': 'object'}
    if name in classes and name not in seen:
        return class_schema(classes[name], classes, seen + (name,))
    return {}


def flatten(node, classes, seen):
    if isinstance(node, ast.BinOp):
        return flatten(node.left, classes, seen) + flatten(node.right, classes, seen)
    return [schema_of(node, classes, seen)]


def subscript(name, inner, classes, seen):
    parts = list(inner.elts) if isinstance(inner, ast.Tuple) else [inner]
    if name == 'Literal':
        return {'enum': [part.value for part in parts if isinstance(part, ast.Constant)]}
    if name == 'Optional':
        return choices([schema_of(parts[0], classes, seen), {'type': 'null'}])
    if name == 'Union':
        return choices([schema_of(part, classes, seen) for part in parts])
    if name == 'Annotated':
        texts = [part.value for part in parts[1:] if isinstance(part, ast.Constant) and isinstance(part.value, str)]
        return {**schema_of(parts[0], classes, seen), **({'description': texts[0]} if texts else {})}
    if name in lists:
        first = schema_of(parts[0], classes, seen)
        return {'type': 'array', **({'items': first} if first else {})}
    if name in maps:
        value = schema_of(parts[-1], classes, seen)
        return {'type': 'object', **({'additionalProperties': value} if value else {})}
    return {}


def literal(node):
    try:
        value = ast.literal_eval(node)
        json.dumps(value, allow_nan=False)
        return True, value
    except (ValueError, TypeError):
        return False, None


def class_schema(node, classes, seen):
    bases = {name_of(base) for base in node.bases}
    if bases & {'Enum', 'StrEnum', 'IntEnum'}:
        values = [literal(item.value)[1] for item in node.body if isinstance(item, ast.Assign)]
        return {'enum': values}
    fields = [item for item in node.body if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name)]
    properties, required = {}, []
    for field in fields:
        properties[field.target.id] = described(schema_of(field.annotation, classes, seen), field.value)
        if field.value is None:
            required.append(field.target.id)
    return {'type': 'object', 'properties': properties, 'required': required}


def described(schema, default, text=None):
    if default is not None:
        known, value = literal(default)
        if known and value is not None:
            schema = {**schema, 'default': value}
    return {**schema, 'description': text} if text else schema


def documented(text):
    lines = (text or '').expandtabs().splitlines()
    about, parameters, section = [], {}, None
    current = None
    for index, line in enumerate(lines):
        bare = line.strip()
        rest = re.match(r':param\s+(?:[^:]*\s)?(\w+)\s*:\s*(.*)$', bare)
        following = lines[index + 1].strip() if index + 1 < len(lines) else ''
        if rest:
            section, current = 'params', rest.group(1)
            parameters[current] = rest.group(2)
        elif re.match(r'^(Args|Arguments|Parameters|Params):?$', bare):
            section, current = 'numpy' if following and set(following) <= {'-'} else 'params', None
        elif re.match(r'^(Returns?|Raises|Yields?|Examples?|Notes?|See Also):?$', bare) or re.match(r'^:(returns?|rtype|raises)', bare):
            section = 'other'
        elif section is None:
            about.append(line)
        elif section in ('params', 'numpy') and bare and not set(bare) <= {'-'}:
            google = re.match(r'^(\w+)\s*(?:\([^)]*\))?\s*:\s+(.*)$', bare)
            numpy = re.match(r'^(\w+)\s*(?::\s*.*)?$', bare)
            if google and section == 'params':
                current = google.group(1)
                parameters[current] = google.group(2)
            elif numpy and section == 'numpy' and not line.startswith(' '):
                current = numpy.group(1)
                parameters[current] = ''
            elif current is not None:
                parameters[current] = (parameters[current] + ' ' + bare).strip()
    return '\n'.join(about).strip(), parameters


def describe(node, classes, of_class=False):
    about, notes = documented(ast.get_docstring(node))
    given = node.args
    names = given.posonlyargs + given.args
    defaults = [None] * (len(names) - len(given.defaults)) + list(given.defaults)
    pairs = list(zip(names, defaults)) + list(zip(given.kwonlyargs, given.kw_defaults))
    if of_class:
        pairs = pairs[1:]
    properties, required = {}, []
    for argument, default in pairs:
        if argument.arg == 'context':
            continue
        properties[argument.arg] = described(schema_of(argument.annotation, classes), default, notes.get(argument.arg))
        if default is None:
            required.append(argument.arg)
    parameters = {'type': 'object', 'properties': properties, 'required': required,
                  'additionalProperties': given.kwarg is not None}
    problem = 'takes parameters by position only' if given.posonlyargs else None
    return {'name': node.name, 'description': about, 'parameters': parameters, 'problem': problem}
