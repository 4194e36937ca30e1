"""Runs in a kernel, after `seed = …`: sends what a kernel never would, signed as its own messages are, or not."""
import json, os, random, struct, threading, time
from ipykernel.kernelapp import IPKernelApp

dice = random.Random(seed)
kernel = IPKernelApp.instance().kernel
session, iopub = kernel.session, kernel.iopub_socket
parent = kernel.get_parent('shell') if hasattr(kernel, 'get_parent') else kernel._parent_header


def size(most):
    return int(2 ** dice.uniform(0, most.bit_length()))


def text():
    return dice.choice(['', 'x', '\x1b[999999999CX', '\x1b[2147483647S', '\r' * size(4000), 'y' * size(200000), '\udfff', '\0', '__proto__', '../../etc/passwd'])


def value(depth=3):
    kinds = [lambda: None, lambda: dice.random() * 10 ** dice.randint(0, 300), text, lambda: dice.random() < 0.5]
    if depth > 0:
        kinds += [lambda: [value(depth - 1) for _ in range(size(5))], lambda: {dice.choice(keys): value(depth - 1) for _ in range(size(5))}]
    return dice.choice(kinds)()


keys = ['text/plain', 'text/html', 'image/png', 'image/svg+xml', 'application/json', '__proto__', 'constructor', 'text', 'name', 'data', 'x/' + 'y' * 300, '']


def bundle():
    picture = lambda: 'iVBORw0KGgo' + 'A' * size(300000)
    return {dice.choice(keys): dice.choice([text, picture, value])() for _ in range(size(dice.choice([3, 300])))}


def contents():
    name = dice.choice(['stdout', 'stderr', 'other', ''])
    return dice.choice([
        ('stream', {'name': name, 'text': text()}),
        ('display_data', {'data': bundle(), 'metadata': value(), 'transient': {'display_id': dice.choice(['a', 'b', text()])}}),
        ('update_display_data', {'data': bundle(), 'metadata': {}, 'transient': {'display_id': dice.choice(['a', 'b', 'c'])}}),
        ('execute_result', {'data': bundle(), 'metadata': {}, 'execution_count': dice.choice([1, -1, 1e300, None])}),
        ('error', {'ename': text(), 'evalue': text(), 'traceback': dice.choice([[text() for _ in range(size(500))], 'none', None])}),
        ('clear_output', {'wait': dice.random() < 0.5}),
        ('status', {'execution_state': dice.choice(['busy', 'starting', 'odd', None])}),
        ('execute_input', {'code': text(), 'execution_count': value()}),
        ('comm_open', {'comm_id': text(), 'target_name': text(), 'data': value()}),
        ('input_request', {'prompt': text(), 'password': value()}),
        (text()[:200] or 'x', value()),
    ])


def send_signed():
    kind, content = contents()
    session.send(iopub, kind, content if isinstance(content, dict) else {'value': content}, parent=dice.choice([parent, parent, {}]))


def send_raw():
    frames = [dice.randbytes(size(2000)) for _ in range(size(dice.choice([6, 1500])))]
    if dice.random() < 0.5:
        body = [b'{"msg_id":"1","msg_type":"stream"}', b'{}', b'{}', dice.choice([b'[' * size(200000), b'{"name":"stdout","text":"forged"}', b'\xff'])]
        frames = [b'x', b'<IDS|MSG>', session.sign(body) if dice.random() < 0.7 else b'bad', *body]
    iopub.send_multipart(frames)


for _ in range(size(dice.choice([20, 2000]))):
    try:
        (send_signed if dice.random() < 0.9 else send_raw)()
    except Exception:
        pass  # A message that cannot be written down is not sent.

dice.choice([
    lambda: None,
    lambda: print('z' * size(20_000_000)),
    lambda: os.closerange(3, 200),
    lambda: time.sleep(60),
    lambda: os._exit(3),
    lambda: os.kill(os.getpid(), 9),
    lambda: threading.Thread(target=lambda: [send_signed() for _ in range(2000)]).start(),
    lambda: exec('raise ValueError("v" * size(30_000_000))', globals()),
])()
