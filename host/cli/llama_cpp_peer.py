#!/usr/bin/env python3
"""The other side of `outrider bench kernels --peer llama.cpp`: runs a model through the package llama_cpp (llama-cpp-python) and times
its passes. A JSON object a line on standard input asks, one on standard output answers; the first answer says the package's version.

    {"do": "load", "model": PATH, "threads": N, "positions": N, "tokens": [ID, ...]}   -> {}
    {"do": "decode", "context": N, "tokens": N}                                        -> {"seconds": [S]}
    {"do": "prefill", "tokens": N}                                                     -> {"seconds": [S]}
    {"do": "passes", "context": N, "rows": M, "passes": K}                             -> {"seconds": [S, ...]}

An answer {"error": TEXT} ends nothing; {"missing": TEXT} says that the package cannot be imported. bench_subject.hpp says what is timed.
"""

import ctypes
import json
import os
import signal
import sys
import time

PR_SET_PDEATHSIG = 1


class Model:
    """llama.cpp's own defaults but for the threads: a measurement of what its users get. The C interface, since the package's Python
    classes copy the logits of every pass."""

    def __init__(self, llama, path, threads, positions, tokens):
        self.llama, self.tokens, self.cached = llama, tokens, 0
        llama.llama_backend_init()
        model_params = llama.llama_model_default_params()
        model_params.n_gpu_layers = 0
        self.model = self.function("llama_model_load_from_file", "llama_load_model_from_file")(path.encode(), model_params)
        if not self.model:
            raise RuntimeError(f"llama.cpp cannot load {path}")
        params = llama.llama_context_default_params()
        params.n_ctx = (positions + 255) // 256 * 256
        params.n_batch = max(params.n_batch, positions)
        params.n_threads = params.n_threads_batch = threads
        self.context = self.function("llama_init_from_model", "llama_new_context_with_model")(self.model, params)
        if not self.context:
            raise RuntimeError(f"llama.cpp cannot make a context of {params.n_ctx} positions")
        self.batch = llama.llama_batch_init(positions, 0, 1)

    def function(self, *names):
        """The one of these names that the package has: llama.cpp renames its functions."""
        for name in names:
            if hasattr(self.llama, name):
                return getattr(self.llama, name)
        raise RuntimeError(f"this llama_cpp has no {names[0]}; install a newer one")

    def cut(self, positions):
        """Forgets all but the first positions."""
        if hasattr(self.llama, "llama_memory_seq_rm"):
            self.llama.llama_memory_seq_rm(self.llama.llama_get_memory(self.context), 0, positions, -1)
        else:
            self.function("llama_kv_self_seq_rm", "llama_kv_cache_seq_rm")(self.context, 0, positions, -1)
        self.cached = positions

    def run(self, count, all_logits=False):
        """Seconds of one pass over the next `count` tokens."""
        batch = self.batch
        batch.n_tokens = count
        for i in range(count):
            batch.token[i] = self.tokens[self.cached + i]
            batch.pos[i] = self.cached + i
            batch.n_seq_id[i] = 1
            batch.seq_id[i][0] = 0
            batch.logits[i] = all_logits or i + 1 == count
        begin = time.perf_counter()
        code = self.llama.llama_decode(self.context, batch)
        self.llama.llama_synchronize(self.context)
        seconds = time.perf_counter() - begin
        if code != 0:
            raise RuntimeError(f"llama_decode failed with {code} on {count} tokens after {self.cached}")
        self.cached += count
        return seconds

    def read(self, positions):
        """Makes the first `positions` tokens the context, whatever was there."""
        self.cut(0)
        if positions > 0:
            self.run(positions)

    def decode(self, context, tokens):
        self.read(context)
        return [sum(self.run(1) for _ in range(tokens))]

    def prefill(self, tokens):
        self.cut(0)
        return [self.run(tokens)]

    def passes(self, context, rows, passes):
        if self.cached != context:
            self.read(context)
        seconds = []
        for _ in range(passes + 1):  # the first is not counted
            seconds.append(self.run(rows, all_logits=True))
            self.cut(context)
        return seconds[1:]


def serve(llama, requests, answer):
    model = None
    for line in requests:
        request = json.loads(line)
        todo = request.pop("do")
        try:
            if todo == "load":
                model = Model(llama, request["model"], request["threads"], request["positions"], request["tokens"])
                answer({})
            else:
                answer({"seconds": getattr(model, todo)(**request)})
        except Exception as fault:  # whatever the package raises, the measuring side is told
            answer({"error": f"{type(fault).__name__}: {fault}"})


def main():
    # The measuring side stops this process; it must not stay behind, stopped for ever, when that side is killed.
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what the package prints is no answer

    def answer(value):
        answers.write(json.dumps(value) + "\n")
        answers.flush()

    try:
        import llama_cpp
    except Exception as fault:  # not there, or there but broken
        answer({"missing": f"{type(fault).__name__}: {fault}"})
        sys.stdin.read()  # until the measuring side has heard it
        return
    answer({"version": str(getattr(llama_cpp, "__version__", "unknown"))})
    serve(llama_cpp, sys.stdin, answer)


if __name__ == "__main__":
    main()
