"""DockerRuntime as its documentation uses it: mounts, copies, tasks, tools. Prints one JSON object: what each call gave."""
import json
import os
import sys

from camel.runtimes import DockerRuntime, TaskConfig
from camel.toolkits import CodeExecutionToolkit, FunctionTool, MathToolkit

image, folder, packages = sys.argv[1:]
own = os.path.join(folder, 'own_tools.py')
with open(own, 'w') as file:
    file.write(
        'from camel.toolkits import FunctionTool\n'
        'def where(name: str) -> str:\n'
        '    """Reads a file.\n\n    Args:\n        name (str): Which.\n    """\n'
        '    return open(name).read()\n'
        'where_tool = FunctionTool(where)\n'
    )


def where(name: str) -> str:
    """Reads a file.

    Args:
        name (str): Which.
    """
    raise AssertionError('this is not the container')


answers = {}
runtime = DockerRuntime(
    image,
    port=8000,
    environment={'PYTHONPATH': '/packages', 'KEY': 'for the toolkits'},
    volumes={packages: {'bind': '/packages', 'mode': 'ro'}},
    init=True,
)
runtime.mount(folder, '/mounted').copy(own, '/home')
runtime.add_task(TaskConfig(cmd=['sh', '-c', 'echo "$WORD from $(id -un) in $PWD" > /tmp/task'],
                            user='daemon', workdir='/var', environment={'WORD': 'a task'}))
# The code of CodeExecutionToolkit runs with this name, which Debian's Python does not have.
runtime.add_task(TaskConfig(cmd='ln -s /usr/bin/python3 /usr/local/bin/python'))
runtime.add(MathToolkit().get_tools(), 'camel.toolkits.MathToolkit')
runtime.add(FunctionTool(where), 'own_tools.where_tool')
runtime.add(
    CodeExecutionToolkit(require_confirm=False).get_tools(),
    'camel.toolkits.CodeExecutionToolkit',
    True,
    {'require_confirm': False, 'verbose': True},
)
with runtime as r:
    answers['ready'] = r.wait(60)
    tools = {tool.get_function_name(): tool for tool in r.get_tools()}
    answers['add'] = tools['math_add'].func(1, 2)
    answers['task'] = tools['where'].func('/tmp/task')
    answers['mounted'] = tools['where'].func(name='/mounted/own_tools.py') == open(own).read()
    answers['code'] = tools['execute_code'].func('import os; print(os.environ["KEY"], os.environ["CAMEL_RUNTIME"])')
    answers['python'] = r.exec_run(TaskConfig(cmd='python3 -c "print(40+2)"'))[1].decode()
    answers['terminal'] = r.exec_run(TaskConfig(cmd='tty', tty=True))[0]
    code, chunks = r.exec_run(TaskConfig(cmd=['sh', '-c', 'echo one; echo two'], stream=True))
    answers['stream'] = [code, b''.join(chunks).decode()]
    answers['demux'] = [
        part.decode() for part in r.exec_run(TaskConfig(cmd=['sh', '-c', 'echo out; echo err >&2'], demux=True))[1]
    ]
    answers['detached'] = r.exec_run(TaskConfig(cmd='sleep 1000', detach=True))[0]
    answers['docs'] = r.docs
    r.reset()
    answers['after a reset'] = [r.wait(60), tools['math_multiply'].func(6, 7)]
answers['stopped'] = r.ok
print('answers ' + json.dumps(answers))
