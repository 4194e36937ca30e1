# Describes the public functions of a module whose source comes as its input. `signatures.py` stands before it.
import sys

try:
    tree = ast.parse(sys.stdin.read())
except SyntaxError as error:
    print(json.dumps({'error': 'line %s: %s' % (error.lineno, error.msg)}))
    sys.exit(0)
classes = classes_of(tree)
functions = [node for node in tree.body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
tools = {node.name: describe(node, classes) for node in functions if not node.name.startswith('_')}
print(json.dumps({'tools': list(tools.values())}))
