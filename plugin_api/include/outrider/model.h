/* What a drafter is told about the target model. Lent for the call; strings too. */
#ifndef OUTRIDER_MODEL_H
#define OUTRIDER_MODEL_H

#include "abi.h"

typedef struct outrider_model_info {
  uint32_t struct_size;
  uint32_t vocab_size;  /* ids are [0, vocab_size) */
  uint32_t hidden_size; /* features */
  uint32_t layers;
  uint32_t context_length;           /* tokens: the longest sequence the host will ever pass */
  uint32_t max_requests;             /* most items in one propose batch */
  int32_t bos, eos;                  /* -1: none */
  const char* architecture;          /* "llama" */
  const char* tokenizer_fingerprint; /* equal fingerprints mean equal ids; "" when not known */
} outrider_model_info;

#endif /* OUTRIDER_MODEL_H */
