"""Cold compiles of the same problems by Ingot and its peers, in one run: every
compiler is a warm process of its own, they take turns, and medians are held
against each other. Usage: compare.py BENCH_WORKER [--rounds N] [--json]"""

import argparse
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys

PROBLEMS = ["rmsnorm bf16 n=4096", "rmsnorm bf16 n=8192", "gemm bf16 nt 128x128", "gemm bf16 nt 256x256",
            "scaled_gemm e4m3fn 128x128", "scaled_gemm e2m1 256x256", "grouped_gemm bf16 128x128"]
TARGET = 0.5  # of Triton's time, geometric mean over the problems


class Compiler:
    """One of the warm processes. `version` is empty when it did not start; a
    problem that it does not compile has no times."""

    def __init__(self, name, command):
        self.name = name
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)
        self.version = self.process.stdout.readline().strip()
        self.problem = "" if self.version else self.process.stderr.read().strip().splitlines()[-1]
        self.times = {problem: [] for problem in PROBLEMS}

    def compile(self, problem):
        if not self.version:
            return
        self.process.stdin.write(problem + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().strip()
        try:
            self.times[problem].append(float(answer))
        except ValueError:
            self.problem = f"{problem}: {answer or 'it ended'}"

    def median(self, problem):
        return statistics.median(self.times[problem]) if self.times[problem] else math.nan

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def geomean(values):
    return math.exp(statistics.fmean(math.log(value) for value in values))


def machine():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return f"{os.cpu_count()} x {line.split(': ')[1]}"
    return f"{os.cpu_count()} x unknown processor"


def measure(compilers, rounds):
    for warm_up in (True, *[False] * rounds):
        for problem in PROBLEMS:
            for compiler in compilers:
                compiler.compile(problem)
                if warm_up:
                    compiler.times[problem].clear()


def report(ours, peers):
    print(f"{'ms, median':24}" + "".join(f"{c.name:>12}" for c in (ours, *peers))
          + "".join(f"{'/ ' + p.name:>12}" for p in peers))
    for problem in PROBLEMS:
        print(f"{problem:24}" + "".join(f"{1e3 * c.median(problem):12.1f}" for c in (ours, *peers))
              + "".join(f"{ours.median(problem) / p.median(problem):12.2f}" for p in peers))
    ratios = {p.name: geomean(ours.median(q) / p.median(q) for q in PROBLEMS if p.times[q]) for p in peers}
    print(f"{'geometric mean':24}" + " " * 12 * (1 + len(peers)) + "".join(f"{r:12.2f}" for r in ratios.values()))
    if "triton" in ratios:
        print(f"\naim, of Triton's time: at most {TARGET}: {'met' if ratios['triton'] <= TARGET else 'MISSED'}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("bench_worker")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()

    here = pathlib.Path(__file__).resolve().parent
    ours = Compiler("ingot", [arguments.bench_worker, "--problems-from-stdin"])
    peers = [Compiler(name, [sys.executable, str(here / f"{name}_peer.py")]) for name in ("triton", "flydsl")]
    measure([ours, *peers], arguments.rounds)
    for compiler in (ours, *peers):
        compiler.close()
        if compiler.problem:
            print(f"{compiler.name} was not measured: {compiler.problem}", file=sys.stderr)
    if not all(ours.times.values()):
        sys.exit(1)
    peers = [peer for peer in peers if any(peer.times.values())]

    command = " ".join(sys.argv)
    versions = [compiler.version for compiler in (ours, *peers)]
    if arguments.json:
        medians = {c.name: {q: c.median(q) for q in PROBLEMS} for c in (ours, *peers)}
        print(json.dumps({"command": command, "machine": machine(), "versions": versions, "seconds": medians}))
        return
    print(f"{command}\non {machine()}\n{', '.join(versions)}; {arguments.rounds} rounds\n")
    report(ours, peers)


if __name__ == "__main__":
    main()
