// The field table: every setting of Outrider, declared once. From a line here come the TOML key `[space] key`, the command-line
// option, the environment variable OUTRIDER_SPACE_KEY, the struct member, the JSON Schema, docs/configuration.md and every check.
// Keys are unique over all namespaces (two equal ones do not compile), so `kv_type` alone names memory.kv_type.
//
//   F(key, type, default, attributes…)      attributes are designated initialisers of FieldAttributes (fields.hpp), in its order
//
// std::optional<T> fields are absent when unset; they are never null or empty instead.
#pragma once

// N(namespace, struct, fields, help)
#define OUTRIDER_CONFIG_NAMESPACES(N)                                                                         \
  N(device, DeviceConfig, OUTRIDER_DEVICE_FIELDS, "where the target model computes")                          \
  N(model, ModelConfig, OUTRIDER_MODEL_FIELDS, "the target model")                                            \
  N(exec, ExecConfig, OUTRIDER_EXEC_FIELDS, "which kernels carry a step out")                                 \
  N(schedule, ScheduleConfig, OUTRIDER_SCHEDULE_FIELDS, "how requests share the target")                      \
  N(memory, MemoryConfig, OUTRIDER_MEMORY_FIELDS, "the KV cache")                                             \
  N(spec, SpecConfig, OUTRIDER_SPEC_FIELDS, "speculative decoding: the drafter and how its drafts are used")  \
  N(parallel, ParallelConfig, OUTRIDER_PARALLEL_FIELDS, "ranks that share one model")                         \
  N(serving, ServingConfig, OUTRIDER_SERVING_FIELDS, "the HTTP server")                                       \
  N(observability, ObservabilityConfig, OUTRIDER_OBSERVABILITY_FIELDS, "what the program tells about itself")

#define OUTRIDER_DEVICE_FIELDS(F)                                                                                                  \
  F(kind, std::string, "cpu", .choices = {"cpu", "cuda"}, .option = "device", .last_stage = Stage::start, .draft = DraftRule::own, \
    .help = "Device the target model runs on.")                                                                                    \
  F(threads, int64_t, 0, .min = 0, .max = 1024, .unit = "threads", .last_stage = Stage::start,                                     \
    .help = "Threads that compute; 0: one for each core this process may use.")                                                    \
  F(isa, std::string, "auto", .choices = {"auto", "scalar", "avx2", "avx512", "avx512_vnni"}, .environment = "OUTRIDER_ISA",       \
    .last_stage = Stage::start,                                                                                                    \
    .help = "Instruction set of the CPU kernels; auto: the best this processor has. All of them give the same bits.")

#define OUTRIDER_MODEL_FIELDS(F)                                                                                                   \
  F(path, std::string, "smollm2-135m-instruct", .option = "model", .last_stage = Stage::start,                                     \
    .help = "The target model: a file, or the name of a fetched model (`outrider models` lists them).")                            \
  F(name, std::optional<std::string>, std::nullopt, .option = "model-name", .last_stage = Stage::start,                              \
    .help = "Name the model goes by in reports and in the API; absent: the name the file states.")                                 \
  F(load_format, std::string, "auto", .choices = {"auto", "gguf", "safetensors"}, .last_stage = Stage::start,                      \
    .draft = DraftRule::own, .help = "Format of the model's file; auto: told from the file itself.")                               \
  F(quantization, std::string, "auto", .choices = {"auto", "q8_0", "q4_0"}, .last_stage = Stage::start, .draft = DraftRule::own,   \
    .help = "Type weights are held in; auto: the types the file has. Another one than the file's is refused where the loader "     \
            "cannot convert.")                                                                                                     \
  F(repack_cache, bool, false, .last_stage = Stage::start,                                                                         \
    .help = "Keep the repacked weights in ~/.cache/outrider/repacked (below $XDG_CACHE_HOME if set), a file as large as the model, "\
            "from which later starts map them instead of repacking the model again.")                                              \
  F(context_length, int64_t, 0, .min = 0, .max = 16777216, .unit = "tokens", .last_stage = Stage::load, .draft = DraftRule::own,   \
    .help = "Longest sequence, prompt and output together; 0: what the model was made for.")                                       \
  F(chat_template, std::optional<std::string>, std::nullopt, .last_stage = Stage::start,                                           \
    .help = "File with a chat template that is used in place of the model's own.")                                                 \
  F(skip_tokenizer, bool, false, .last_stage = Stage::start, .draft = DraftRule::own,                                              \
    .help = "Load no tokenizer. Set for a draft model that reads the target's tokens.")

#define OUTRIDER_EXEC_FIELDS(F)                                                                                                    \
  F(attention_backend, std::string, "auto", .choices = {"auto", "cpu", "cuda"}, .last_stage = Stage::plan,                         \
    .draft = DraftRule::own, .help = "Attention kernels; auto: those of the device.")                                              \
  F(prefill_attention_backend, std::optional<std::string>, std::nullopt, .choices = {"auto", "cpu", "cuda"},                       \
    .last_stage = Stage::plan, .draft = DraftRule::own, .help = "Attention kernels for prompts; absent: attention_backend.")       \
  F(decode_attention_backend, std::optional<std::string>, std::nullopt, .choices = {"auto", "cpu", "cuda"},                        \
    .last_stage = Stage::plan, .draft = DraftRule::own, .help = "Attention kernels for decoding; absent: attention_backend.")

#define OUTRIDER_SCHEDULE_FIELDS(F)                                                                                                \
  F(max_batch_rows, int64_t, 256, .min = 1, .max = 65536, .unit = "rows", .last_stage = Stage::plan,                               \
    .help = "Most rows (tokens of all requests, drafts included) in one pass of the target.")                                      \
  F(prefill_chunk, int64_t, 128, .min = 1, .max = 65536, .unit = "tokens", .reloadable = true,                                     \
    .help = "Most prompt tokens of one request in one pass; longer prompts are read in chunks beside decoding requests.")          \
  F(max_running_requests, int64_t, 32, .min = 1, .max = 65536, .unit = "requests", .last_stage = Stage::plan,                      \
    .help = "Most requests that decode at the same time; others wait.")                                                            \
  F(queue_capacity, int64_t, 1024, .min = 1, .max = 1048576, .unit = "requests", .reloadable = true,                               \
    .help = "Most requests that wait; one more is refused.")                                                                       \
  F(disable_chunked_prefix_cache, bool, false, .last_stage = Stage::plan,                                                          \
    .help = "Attend to a chunked prompt's earlier part in one piece rather than chunk by chunk. Decided while the target loads.")

#define OUTRIDER_MEMORY_FIELDS(F)                                                                                                  \
  F(kv_type, std::string, "auto", .choices = {"auto", "f16", "f32", "q8_0"}, .last_stage = Stage::plan, .draft = DraftRule::own,   \
    .help = "Type of keys and values in the KV cache; q8_0 takes about half of f16's memory and rounds more coarsely; auto: f16.") \
  F(kv_tokens, int64_t, 0, .min = 0, .max = 1073741824, .unit = "tokens", .last_stage = Stage::plan,                               \
    .help = "Tokens the KV cache has room for, over all requests; 0: the context length (at least 16384) and 64 for each of max_running_requests.")

#define OUTRIDER_SPEC_FIELDS(F)                                                                                                    \
  F(algorithm, std::string, "none", .option = "drafter",                                                                           \
    .help = "Name of the drafter: a [drafter.NAME] table or a plugin's own name; none: plain decoding.")                           \
  F(draft_tokens, int64_t, 8, .min = 1, .max = 1024, .unit = "tokens", .reloadable = true,                                         \
    .help = "Most drafted tokens of one request in one round, over all branches.")                                                 \
  F(draft_depth, int64_t, 0, .min = 0, .max = 1024, .unit = "tokens", .reloadable = true,                                          \
    .help = "Most drafted tokens in a row; 0: as many as draft_tokens.")                                                           \
  F(tree, bool, true, .reloadable = true, .help = "Let a drafter that can propose trees do so; false: chains only.")               \
  F(law, std::string, "auto", .choices = {"auto", "greedy", "coupled"}, .last_stage = Stage::start,                                  \
    .help = "How drafts are accepted; auto: greedy at temperature 0, else coupled.")                                               \
  F(planner, bool, true, .reloadable = true,                                                                                       \
    .help = "Choose each request's draft length from measured acceptance and cost; false: always draft_tokens.")                   \
  F(keep_costs, bool, true, .last_stage = Stage::plan,                                                                             \
    .help = "Keep the measured costs of passes in ~/.cache/outrider/costs (below $XDG_CACHE_HOME if set), where later starts find "  \
            "them and improve them.")                                                                                             \
  F(require_drafter, bool, false,                                                                                                  \
    .help = "Stop with an error when the drafter cannot be used; false: say why and decode plainly.")                              \
  F(proposal_deadline_us, int64_t, 20000, .min = 1, .max = 60000000, .unit = "microseconds", .reloadable = true,                   \
    .help = "Longest a drafter may take for one proposal; a later one counts as a strike.")                                        \
  F(breaker_strikes, int64_t, 3, .min = 1, .max = 1000000, .unit = "faults", .reloadable = true,                                   \
    .help = "Faults in a row after which a drafter is left out.")                                                                  \
  F(draft_model_path, std::optional<std::string>, std::nullopt, .option = "draft-model",                                           \
    .help = "Draft model, for drafters that run one: a file or the name of a fetched model.")                                      \
  F(draft_load_format, std::optional<std::string>, std::nullopt, .choices = {"auto", "gguf", "safetensors"},                       \
    .help = "Format of the draft model's file; absent: the target's load_format; auto: told from the draft's own file.")           \
  F(draft_attention_backend, std::optional<std::string>, std::nullopt, .choices = {"auto", "cpu", "cuda"},                         \
    .help = "Attention kernels of the draft model; absent: the target's.")                                                         \
  F(draft_quantization, std::optional<std::string>, std::nullopt, .choices = {"auto", "q8_0", "q4_0"},                             \
    .help = "Type the draft model's weights are held in; absent: the target's setting.")                                           \
  F(draft_kv_type, std::optional<std::string>, std::nullopt, .choices = {"auto", "f16", "f32", "q8_0"},                            \
    .help = "Type of the draft model's keys and values; absent: the target's.")                                                    \
  F(draft_device, std::optional<std::string>, std::nullopt, .choices = {"cpu", "cuda"},                                            \
    .help = "Device the draft model runs on; absent: the target's.")

#define OUTRIDER_PARALLEL_FIELDS(F)                                                                                                \
  F(backend, std::string, "none", .choices = {"none", "mpi", "nccl"}, .option = "parallel-backend", .last_stage = Stage::start,    \
    .help = "How ranks talk: mpi between CPUs, nccl between GPUs; none: one rank.")                                                \
  F(ranks, int64_t, 1, .min = 1, .max = 4096, .unit = "ranks", .last_stage = Stage::start, .help = "Ranks the model is cut over.")

#define OUTRIDER_SERVING_FIELDS(F)                                                                                                 \
  F(host, std::string, "127.0.0.1", .last_stage = Stage::plan, .help = "Address the server listens on.")                           \
  F(port, int64_t, 8080, .min = 0, .max = 65535, .last_stage = Stage::plan,                                                        \
    .help = "Port the server listens on; 0: a free one, which it prints.")                                                         \
  F(api_key, std::optional<std::string>, std::nullopt, .reloadable = true, .secret = true,                                         \
    .help = "Key that requests must carry; absent: none is asked for.")

#define OUTRIDER_OBSERVABILITY_FIELDS(F)                                                                                           \
  F(log_level, std::string, "warn", .choices = {"off", "error", "warn", "info", "debug", "trace"}, .reloadable = true,             \
    .help = "How much is told on standard error.")                                                                                 \
  F(metrics, bool, true, .last_stage = Stage::plan, .help = "Let the server answer /metrics.")
