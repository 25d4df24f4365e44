/* reference_forward: the logits of a llama model in fp64, as a textbook forward pass.
 *
 * For tests. Plain C, not optimised, and shares no code with the runner: it reads GGUF itself, decodes every
 * weight by the format's definition, and attends over the whole sequence without a cache. The file is trusted
 * (a test wrote it); a file that it cannot read ends the program with a line on stderr.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct reference_model;

struct reference_model *reference_open(const char *path);
void reference_close(struct reference_model *model);
size_t reference_vocab(const struct reference_model *model);

/* The weights called `name`, row-major; NULL if there are none. */
const double *reference_tensor(const struct reference_model *model, const char *name);

/* logits[n * vocab]: row i predicts the token after token i, given tokens 0..i. */
void reference_logits(const struct reference_model *model, const uint32_t *tokens, size_t n, double *logits);

#ifdef __cplusplus
}
#endif
