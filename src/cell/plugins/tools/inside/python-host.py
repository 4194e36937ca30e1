# Runs Python tools in a cell; it speaks as node-host.mjs does. `python-kits.py`, which stands before it, finds the tools of
# a module. Each call has a thread, or a task when the function is async; a parameter named `context` gets what JavaScript
# tools get as second argument.
import asyncio, contextvars, ctypes, dataclasses, importlib.util, inspect, io, json, os, socket, struct, sys, threading, typing

sys.dont_write_bytecode = True
# Toolkits of CAMEL read this, to learn that they already run in a sandbox.
os.environ.setdefault('CAMEL_RUNTIME', 'true')
settings = json.loads(sys.argv[2])
half = settings['captureBytes'] // 2
limit = 8388608
running = contextvars.ContextVar('call', default=None)
calls, kits, opening, asked = {}, {}, {}, {}
writing = threading.Lock()
connection = socket.socket(socket.AF_UNIX)
connection.connect(sys.argv[1])


def send_text(text):
    body = text.encode('utf-8', 'surrogatepass').decode('utf-8', 'replace').encode()
    with writing:
        connection.sendall(struct.pack('>I', len(body)) + body)


def send(message):
    send_text(json.dumps(message))


class Ended(BaseException):
    pass


class Printed:
    def __init__(self):
        self.head, self.tail, self.total = '', '', 0

    def add(self, text):
        self.total += len(text)
        room = half - len(self.head)
        if room > 0:
            self.head += text[:room]
        if len(text) > room:
            self.tail = (self.tail + text[max(room, 0):])[-half:]

    def text(self):
        missing = self.total - len(self.head) - len(self.tail)
        mark = '\n[... %d bytes left out ...]\n' % missing if missing > 0 else ''
        return self.head + mark + self.tail


class Call:
    def __init__(self, id, stream):
        self.id, self.stream, self.streamed = id, stream, 0
        self.printed = {'stdout': Printed(), 'stderr': Printed()}
        self.lock = threading.Lock()
        self.cancelled = threading.Event()
        self.thread = self.task = None
        calls[id] = self

    def print(self, name, text):
        if self.id not in calls:
            return
        self.printed[name].add(text)
        if self.stream and self.streamed <= settings['streamBytes']:
            self.streamed += len(text)
            send({'type': 'output', 'id': self.id, 'stream': name, 'text': text})

    def end(self, kind, more):
        with self.lock:
            if calls.pop(self.id, None) is None:
                return
        out, err = self.printed['stdout'], self.printed['stderr']
        message = {'type': kind, 'id': self.id, 'stdout': out.text(), 'stderr': err.text(),
                   'truncated': max(out.total, err.total) > 2 * half}
        send_text(json.dumps(message)[:-1] + more + '}')

    def fail(self, code, message, details=None):
        error = {'code': code, 'message': message, 'details': details or {}}
        self.end('error', ', "error": ' + json.dumps(error))

    def stop(self, reason):
        self.cancelled.set()
        self.fail(reason, 'ended')
        if self.task is not None:
            loop.call_soon_threadsafe(self.task.cancel)
        elif self.thread is not None:
            # Reaches a thread as soon as it runs Python code again.
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self.thread), ctypes.py_object(Ended))


class Runtime:
    def __init__(self, call):
        self.workspace, self.call = settings['workspace'], call

    def execute(self, action):
        waiting = {'done': threading.Event()}
        request = id(waiting)
        asked[request] = waiting
        send({'type': 'execute', 'id': self.call.id, 'request': request, 'action': action})
        waiting['done'].wait()
        if 'error' in waiting:
            raise RuntimeError(waiting['error']['code'] + ': ' + waiting['error']['message'])
        return waiting['observation']


class Context:
    def __init__(self, call):
        self.call, self.cancelled, self.runtime = call, call.cancelled, Runtime(call)

    def log(self, message):
        if self.call.id in calls:
            send({'type': 'log', 'id': self.call.id, 'message': str(message)[:65536]})

    def progress(self, value):
        text = serialize(value)
        if len(text) > 1048576:
            raise ValueError('Progress is larger than 1 MiB; tell less.')
        if self.call.id in calls:
            send_text('{"type": "progress", "id": %d, "value": %s}' % (self.call.id, text))


class Router(io.TextIOBase):
    def __init__(self, name, real):
        self.name_, self.real = name, real

    def write(self, text):
        call = running.get()
        if call is None:
            return self.real.write(text)
        call.print(self.name_, text)
        return len(text)

    def flush(self):
        self.real.flush()

    def fileno(self):
        return self.real.fileno()

    def writable(self):
        return True

    @property
    def encoding(self):
        return 'utf-8'


sys.stdout, sys.stderr = Router('stdout', sys.stdout), Router('stderr', sys.stderr)
real_start = threading.Thread.start


def start_in_context(thread):
    # Output from a thread that a tool started belongs to its call, too.
    if running.get() is not None:
        context, run = contextvars.copy_context(), thread.run
        thread.run = lambda: context.run(run)
    real_start(thread)


threading.Thread.start = start_in_context


class Unusable(Exception):
    pass


def plain(value):
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    for name in ('model_dump', '_asdict', 'tolist', 'isoformat'):
        if hasattr(value, name):
            return getattr(value, name)()
    if isinstance(value, (set, frozenset)):
        return list(value)
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    raise Unusable('it holds a %s, which JSON cannot' % type(value).__name__)


def check(value, path='it'):
    inner = lambda key: str(key) if path == 'it' else path + '.' + str(key)
    if isinstance(value, bool):
        return
    if isinstance(value, int) and abs(value) > 9007199254740991:
        raise Unusable('%s is an integer of more than 53 bits, which JSON readers round; return a string' % path)
    if isinstance(value, float) and (value != value or value in (float('inf'), float('-inf'))):
        raise Unusable('%s is %r, which JSON cannot hold' % (path, value))
    if isinstance(value, dict):
        for key, entry in value.items():
            check(entry, inner(key))
    elif isinstance(value, (list, tuple)):
        for index, entry in enumerate(value):
            check(entry, inner(index))


def serialize(value):
    try:
        if isinstance(value, str) and len(value) > limit:
            raise Unusable('it is larger than %d bytes; write it to a file and return its path' % limit)
        check(value)
        text = json.dumps(value, default=plain, allow_nan=False)
    except (RecursionError, ValueError, TypeError) as error:
        raise Unusable('it is no JSON: %s' % error)
    if len(text) > limit:
        raise Unusable('it is larger than %d bytes; write it to a file and return its path' % limit)
    return text


def construct(value, kind):
    if isinstance(value, dict) and isinstance(kind, type):
        if hasattr(kind, 'model_validate'):
            return kind.model_validate(value)
        if dataclasses.is_dataclass(kind):
            return kind(**value)
    return value


def prepare(function, given, call):
    parameters = inspect.signature(function).parameters
    try:
        kinds = typing.get_type_hints(function)
    except Exception:
        kinds = {}
    arguments = {name: construct(value, kinds.get(name)) for name, value in given.items()}
    if 'context' in parameters and 'context' not in given:
        arguments['context'] = Context(call)
    return arguments


def exhaust(values, call):
    last, context = None, Context(call)
    while True:
        try:
            last = next(values)
        except StopIteration as end:
            return last if end.value is None else end.value
        context.progress(last)


def conclude(call, tool, work):
    try:
        try:
            result = work()
        except Ended:
            return
        except BaseException as error:
            message = str(error)
            call.fail('tool-failed', 'Tool "%s" failed: %s' % (tool, message),
                      {'name': type(error).__name__, 'message': message})
            return
        try:
            call.end('result', ', "result": ' + serialize(result))
        except Unusable as error:
            call.fail('invalid-result', 'The result of tool "%s" cannot be used: %s.' % (tool, error))
    except Ended:
        pass


def run_plain(call, tool, function, given):
    call.thread = threading.get_ident()
    running.set(call)

    def work():
        result = function(**prepare(function, given, call))
        return exhaust(result, call) if inspect.isgenerator(result) else result

    conclude(call, tool, work)


async def run_async(call, tool, function, given):
    running.set(call)
    call.task = asyncio.current_task()
    result = error = None
    try:
        answer = function(**prepare(function, given, call))
        if inspect.isasyncgen(answer):
            context = Context(call)
            async for result in answer:
                context.progress(result)
        else:
            result = await answer
    except asyncio.CancelledError:
        return
    except BaseException as thrown:
        error = thrown

    def work():
        if error is not None:
            raise error
        return result

    conclude(call, tool, work)


loop = asyncio.new_event_loop()
threading.Thread(target=loop.run_forever, daemon=True).start()


def open_kit(message):
    name = 'tools_' + message['key']
    spec = importlib.util.spec_from_file_location(name, message['file'])
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return find_tools(module, message.get('name'), message.get('arguments'))


def install(message):
    key = message['key']
    try:
        with opening.setdefault(key, threading.Lock()):
            if key not in kits:
                kits[key] = open_kit(message)
        tools = kits[key]
        described = [tool.described() for tool in tools.values()] if message['describe'] else []
        send({'type': 'installed', 'id': message['id'], 'tools': list(tools), 'described': described})
    except NoTools as error:
        send({'type': 'refused', 'id': message['id'], 'code': 'invalid-tool', 'message': '%s.' % error})
    except BaseException as error:
        send({'type': 'refused', 'id': message['id'], 'code': 'tool-failed',
              'message': '%s: %s' % (type(error).__name__, error)})


def begin(message):
    call = Call(message['id'], message['stream'])
    tool, given = message['tool'], message['arguments']
    known = kits.get(message['key'], {}).get(tool)
    if known is None:
        call.fail('tool-not-found', 'The tool host has no tool "%s".' % tool)
        return
    function = known.function
    given = {key: value for key, value in given.items() if value is not None or key not in known.left_open}
    if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
        asyncio.run_coroutine_threadsafe(run_async(call, tool, function, given), loop)
    else:
        threading.Thread(target=run_plain, args=(call, tool, function, given), daemon=True).start()


def receive(message):
    kind = message['type']
    if kind == 'install':
        threading.Thread(target=install, args=(message,), daemon=True).start()
    elif kind == 'call':
        begin(message)
    elif kind == 'cancel':
        call = calls.get(message['id'])
        if call is not None:
            call.stop(message['reason'])
    elif kind == 'answer':
        waiting = asked.pop(message['request'], None)
        if waiting is not None:
            waiting.update({key: message[key] for key in ('observation', 'error') if key in message})
            waiting['done'].set()


def read(count):
    parts = []
    while count > 0:
        part = connection.recv(min(count, 1 << 20))
        if not part:
            os._exit(0)
        parts.append(part)
        count -= len(part)
    return b''.join(parts)


sys.path.insert(0, settings['workspace'])
send({'type': 'hello', 'token': sys.stdin.read()})
while True:
    receive(json.loads(read(struct.unpack('>I', read(4))[0])))
