# Runs code that comes as JSON lines on descriptor 3, keeps what it defines, and answers on 4.
import ast, json, os, sys, traceback
requests, answers = os.fdopen(3, 'r'), os.fdopen(4, 'w')
scope = {'__name__': '__main__'}
for line in requests:
    value = error = None
    try:
        tree = ast.parse(json.loads(line)['code'], '<cell>')
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, '<cell>', 'exec'), scope)
        if last is not None:
            result = eval(compile(ast.Expression(last.value), '<cell>', 'eval'), scope)
            value = None if result is None else repr(result)
    except BaseException:
        error = traceback.format_exc()
    sys.stdout.flush(); sys.stderr.flush()
    answers.write(json.dumps({'value': value, 'error': error}) + '\n'); answers.flush()
