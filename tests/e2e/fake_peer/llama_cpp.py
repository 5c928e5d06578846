"""Stands in for the package llama_cpp in bench_kernels_test.py: the few calls that host/cli/llama_cpp_peer.py makes, with a pass that takes
1 ms and 0.25 ms a row. It holds a cache of positions, and refuses what the real one refuses: a token that doesn't follow the cached ones,
more tokens than a batch holds, more positions than the context has. FAKE_PEER_BREAKS=N: the process dies in its Nth pass."""

import os
import sys
import time
import types

__version__ = "0.0.fake"
print("what a package prints is no answer")

_passes_left = int(os.environ.get("FAKE_PEER_BREAKS", "-1"))


def llama_backend_init():
    pass


def llama_model_default_params():
    return types.SimpleNamespace(n_gpu_layers=-1)


def llama_model_load_from_file(path, params):
    assert params.n_gpu_layers == 0
    return path if os.path.exists(path) else None


def llama_context_default_params():
    return types.SimpleNamespace(n_ctx=512, n_batch=2048, n_threads=0, n_threads_batch=0)


def llama_init_from_model(model, params):
    assert params.n_threads == params.n_threads_batch > 0
    return types.SimpleNamespace(params=params, cached=0)


def llama_batch_init(size, embeddings, sequences):
    assert embeddings == 0 and sequences == 1
    return types.SimpleNamespace(n_tokens=0, token=[None] * size, pos=[None] * size, n_seq_id=[None] * size,
                                 seq_id=[[None] for _ in range(size)], logits=[None] * size)


def llama_get_memory(context):
    return context


def llama_memory_seq_rm(memory, sequence, begin, end):
    assert sequence == 0 and end == -1
    memory.cached = min(memory.cached, begin)


def llama_decode(context, batch):
    global _passes_left
    _passes_left -= 1
    if _passes_left == 0:
        sys.stderr.write("the fake broke down\n")
        sys.stderr.flush()
        os._exit(9)
    count = batch.n_tokens
    expected = list(range(context.cached, context.cached + count))
    if batch.pos[:count] != expected or count > context.params.n_batch or context.cached + count > context.params.n_ctx:
        return 1
    if not all(isinstance(token, int) and token >= 0 for token in batch.token[:count]) or not batch.logits[count - 1]:
        return 1
    context.cached += count
    time.sleep(0.001 + 0.00025 * count)
    return 0


def llama_synchronize(context):
    pass
