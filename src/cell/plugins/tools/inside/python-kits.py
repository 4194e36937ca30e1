# Finds the tools of a Python module: those that one of its names is, holds or makes, else its public functions. Toolkits
# are those of CAMEL, whose tools tell their own schema, and whatever else has `get_tools`. `signatures.py` stands before it.
import inspect, sys


class NoTools(Exception):
    pass


class Tool:
    def __init__(self, name, function, schema=None):
        self.name, self.function, self.schema = name, function, schema
        # A model that must name every parameter writes null for those it leaves open.
        self.left_open = {key for key, parameter in parameters_of(function).items()
                          if parameter.default is not parameter.empty and parameter.default is not None}

    def described(self):
        schema = self.schema or described_by_source(self.function) or described_by_signature(self.function)
        if schema.get('problem'):
            raise NoTools('%s %s' % (self.name, schema['problem']))
        if not re.fullmatch(r'[A-Za-z0-9_-]{1,64}', self.name):
            raise NoTools('%r cannot be the name of a tool: it takes 1 to 64 letters, digits, "_" and "-"' % self.name)
        return {'name': self.name, 'description': schema['description'][:65536], 'parameters': schema['parameters']}


def kit_tools(module, name, given):
    if name is not None:
        return named_tools(module, name, given)
    if given is not None:
        return only_class(module)(**given)
    return [Tool(key, value) for key, value in own(module, inspect.isfunction)]


def find_tools(module, name, given):
    found = kit_tools(module, name, given)
    tools = {tool.name: tool for tool in reversed(list(each_tool(found)))}
    if not tools:
        raise NoTools('%s has no tools' % (name or 'the module'))
    if len(tools) > 256:
        raise NoTools('%s has %d tools, and a module may have 256' % (name or 'the module', len(tools)))
    return {tool.name: tool for tool in reversed(tools.values())}


def named_tools(module, name, given):
    if not hasattr(module, name):
        public = [key for key in vars(module) if not key.startswith('_')]
        raise NoTools('there is no %s in the module. It has: %s' % (name, ', '.join(public[:64]) or 'nothing'))
    value = getattr(module, name)
    makes = inspect.isclass(value) or (given is not None and inspect.isroutine(value))
    if not makes and given is not None:
        raise NoTools('%s takes no arguments: it is neither a class nor a function' % name)
    return value(**(given or {})) if makes else value


def only_class(module):
    classes_here = [value for _, value in own(module, inspect.isclass)]
    if len(classes_here) != 1:
        names = ', '.join(value.__name__ for value in classes_here) or 'none'
        raise NoTools('arguments are for one class, and the module has these: %s. Name one with "#name"' % names)
    return classes_here[0]


def own(module, kind):
    return [(key, value) for key, value in vars(module).items()
            if kind(value) and value.__module__ == module.__name__ and not key.startswith('_')]


def each_tool(value):
    if isinstance(value, Tool):
        yield value
    elif isinstance(value, (list, tuple)):
        for entry in value:
            yield from each_tool(entry)
    elif hasattr(value, 'get_openai_tool_schema') and callable(getattr(value, 'func', None)):
        yield toolkit_tool(value)
    elif hasattr(value, 'get_tools'):
        yield from each_tool(value.get_tools())
    elif inspect.isroutine(value):
        yield Tool(value.__name__, value)
    else:
        for key, method in inspect.getmembers(value, inspect.ismethod):
            if not key.startswith('_'):
                yield Tool(key, method)


def toolkit_tool(value):
    schema = value.get_openai_tool_schema()['function']
    parameters = {'type': 'object', 'properties': {}, **(schema.get('parameters') or {})}
    signature = parameters_of(value.func)
    # Callers pass arguments by position, too: in the order of the function, whatever order its schema has.
    order = {key: index for index, key in enumerate(signature)}
    parameters['properties'] = dict(sorted(parameters['properties'].items(),
                                           key=lambda entry: order.get(entry[0], len(order))))
    # A strict schema requires all of them; a caller can omit those with a default.
    parameters['required'] = [key for key in parameters.get('required', [])
                              if key not in signature or signature[key].default is inspect.Parameter.empty]
    described = {'description': schema.get('description') or '', 'parameters': parameters}
    return Tool(schema['name'], value.func, described)


sources = {}


def source_of(module):
    if module not in sources:
        sources[module] = ast.parse(inspect.getsource(sys.modules[module]))
    return sources[module]


def described_by_source(function):
    try:
        plain = inspect.unwrap(getattr(function, '__func__', function))
        tree = source_of(plain.__module__)
    except (AttributeError, OSError, TypeError, KeyError, SyntaxError):
        return None
    body = tree.body
    node = None
    for part in plain.__qualname__.split('.'):
        node = next((item for item in body if getattr(item, 'name', None) == part), None)
        body = getattr(node, 'body', [])
    if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return None
    return describe(node, classes_of(tree), of_class=inspect.ismethod(function))


def described_by_signature(function):
    parameters = parameters_of(function)
    named = [key for key, parameter in parameters.items()
             if parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY) and key != 'context']
    required = [key for key in named if parameters[key].default is inspect.Parameter.empty]
    return {'description': inspect.getdoc(function) or '',
            'parameters': {'type': 'object', 'properties': {key: {} for key in named}, 'required': required}}


def parameters_of(function):
    try:
        return dict(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return {}
