"""What a program with CAMEL does with its toolkits in one runtime. Prints one JSON object: what each call gave."""
import http.server
import json
import os
import runpy
import sys
import threading

import requests
from camel.runtimes import RemoteHttpRuntime
from camel.toolkits import CodeExecutionToolkit, MathToolkit, SearchToolkit, TerminalToolkit

# The program of CAMEL's documentation, as it is; then the same process goes on with the others.
quick = runpy.run_path(os.path.join(os.path.dirname(__file__), '../../../examples/camel.py'), run_name='__main__')
quick['runtime'].stop()

# Only the schemas of these tools matter here; creating them prepares nothing on this machine.
os.environ['CAMEL_RUNTIME'] = 'true'
answers = {}
with RemoteHttpRuntime('localhost') as runtime:
    runtime.add(MathToolkit().get_tools(), 'camel.toolkits.MathToolkit')
    runtime.add(
        CodeExecutionToolkit(require_confirm=False).get_tools(),
        'camel.toolkits.CodeExecutionToolkit',
        redirect_stdout=True,
        arguments={'require_confirm': False, 'verbose': True},
    )
    runtime.add(
        TerminalToolkit(working_directory=sys.argv[1]).get_tools(),
        'camel.toolkits.TerminalToolkit',
        arguments={'working_directory': '/workspace/terminal'},
    )
    runtime.add(SearchToolkit().get_tools(), 'camel.toolkits.SearchToolkit')
    runtime.build()
    answers['ready'] = runtime.wait(60)
    tools = {tool.get_function_name(): tool for tool in runtime.get_tools()}
    call = lambda name, *args, **kwargs: answers.__setitem__(name, tools[name].func(*args, **kwargs))
    call('math_add', 1, 2)
    call('math_multiply', 2.345, b=3)
    answers['third place'] = tools['math_round'].func(2.345, decimal_places=None)
    answers['unknown'] = tools['math_add'].func(1, 2, carry=3)
    call('math_divide', 1, 0)
    call('execute_code', 'import os; print(sum(range(10)), os.environ["CAMEL_RUNTIME"], os.getuid())')
    call('execute_command', 'echo from a shell')
    call('shell_exec', id='one', command='echo kept > kept.txt')
    answers['another'] = tools['shell_exec'].func('two', 'pwd; cat kept.txt')
    call('shell_exec', id='background', command='read line; echo got $line', block=False)
    call('shell_write_to_process', id='background', command='this')
    call('search_brave', 'anything')


class Echo(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(str(self.headers.get('authorization')).encode())

    def log_message(self, *_):
        pass


# Another service of this machine, which has its own password.
with http.server.HTTPServer(('127.0.0.1', 0), Echo) as other:
    threading.Thread(target=other.serve_forever, daemon=True).start()
    ask = lambda user: requests.get('http://%slocalhost:%d' % (user, other.server_port)).text
    answers['another service'] = [ask(''), ask('own:password@')]
    other.shutdown()
print('answers ' + json.dumps(answers))
