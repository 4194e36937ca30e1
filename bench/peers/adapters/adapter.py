"""The part that all adapters in Python share: reads what to do from standard input, times it, and answers."""
import asyncio
import inspect
import json
import os
import sys
import time


def serve(open_place):
    """`open_place` gives an object with run, write, read, close and perhaps code: plain or async functions."""
    # Libraries print, and only answers may go where answers go.
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    asyncio.run(answer_all(open_place, answers))


async def answer_all(open_place, answers):
    places = {}
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        asks = json.loads(line)
        call = directly if len(asks) == 1 else in_thread
        try:
            begun = time.perf_counter_ns()
            checks = await asyncio.gather(*(perform(open_place, places, ask, call) for ask in asks))
            answer = {"ms": (time.perf_counter_ns() - begun) / 1e6}
            for seen, wanted in checks:
                if seen != wanted:
                    answer = {"error": f"It answered {seen[:200]!r} in place of {wanted[:200]!r}."}
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"[:500]}
        print(json.dumps(answer, separators=(",", ":")), file=answers)
    for place in places.values():
        await directly(place.close)


async def perform(open_place, places, ask, call):
    """Gives what came out and what should; they are compared after the time is taken."""
    number = ask["place"]
    match ask["do"]:
        case "open":
            places[number] = await call(open_place)
        case "run":
            return (await call(places[number].run, ask["command"])).strip(), ask["output"]
        case "write":
            for path in ask["paths"]:
                await call(places[number].write, path, ask["content"])
        case "read":
            return await call(places[number].read, ask["path"]), ask["content"]
        case "code":
            if not hasattr(places[number], "code"):
                raise RuntimeError("It has no code cells.")
            return (await call(places[number].code, ask["source"])).strip(), ask["output"]
        case "close":
            await call(places.pop(number).close)
    return "", ""


async def directly(function, *args):
    made = function(*args)
    return await made if inspect.isawaitable(made) else made


async def in_thread(function, *args):
    if inspect.iscoroutinefunction(function):
        return await function(*args)
    return await asyncio.to_thread(function, *args)
