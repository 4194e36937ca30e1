# Output leaves in pieces of a size that both sides can hold, also when a code cell prints without end.
def _prepare(limit=524288):
    import sys
    def bound(stream):
        write, count = stream.write, 0
        def bounded(text):
            nonlocal count
            for start in range(0, max(len(text), 1), limit):
                piece = text[start:start + limit]
                write(piece)
                count += len(piece)
                if count >= limit:
                    count = 0
                    stream.flush()
            return len(text)
        stream.write = bounded
    bound(sys.stdout)
    bound(sys.stderr)
_prepare()
del _prepare
