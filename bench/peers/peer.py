"""A compiler as a warm process: problem names come in, one a line; for each, a
line with the seconds that compiling it took goes out, from source to code object
with nothing cached; or `failed` and why."""

import importlib.metadata
import sys
import time


def serve(package, compile_problem):
    print(package, importlib.metadata.version(package), flush=True)
    for line in sys.stdin:
        start = time.perf_counter()
        try:
            compile_problem(line.strip())
        except Exception as error:  # whatever the peer raises is its answer
            print("failed", " ".join(str(error).split())[:200], flush=True)
        else:
            print(time.perf_counter() - start, flush=True)
