"""Drives an object by lines of JSON: [method, arguments...] in, {"value"} or {"raised", "text"} out."""
import asyncio
import inspect
import json
import os
import sys

# Answers go where no log of the client does.
_answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)


def answer_lines(find, plain):
    """`find` gives what a name stands for, `plain` makes JSON of what it returns."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    for line in sys.stdin:
        name, *arguments = json.loads(line)
        try:
            found = find(name)
            value = found(*arguments) if callable(found) else found
            answer = {"value": plain(loop.run_until_complete(value) if inspect.iscoroutine(value) else value)}
        except Exception as error:
            answer = {"raised": type(error).__name__, "text": str(error)}
        print(json.dumps(answer), file=_answers, flush=True)
