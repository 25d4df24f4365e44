/* gpu_wish: which GPUs of its node a plan wants: the keys "gpus", "gpus_per_test" and "placement" of a plan
 * and its job, and how a word of a list names a GPU. Chooses none: that is executor/node/gpu_choice. Strings
 * are borrowed from the JSON.
 */
#pragma once

#include "common/contract/settings.h"

enum { GPU_WISH_MAX = 64, GPU_WORD_MAX = 96, GPU_IDS_MAX = 1024 /* several, joined by '+' */ };

enum gpu_amount { GPUS_ONE, GPUS_ALL, GPUS_LISTED };

struct gpu_wish {
    bool given; /* false: "gpus" is absent, so the environment of the tests may choose instead */
    enum gpu_amount amount;
    const char *word[GPU_WISH_MAX]; /* of a list: index, unique id or PCI address */
    size_t count;
    size_t per_test;
};

/* Reads "gpus" and checks it against the rest. root: the plan or the job; scheduled: its tests run through a
 * scheduler. */
int gpu_wish_read(struct gpu_wish *w, const struct json_at *root, const struct settings *s, bool scheduled,
                  struct err *err);

/* gpu: an object of node.json's "gpus". */
bool gpu_word_names(const char *word, const json_t *gpu);
/* Gives a GPU's name in events, results and locks: its unique id, else its PCI address, else its index. */
void gpu_id(const json_t *gpu, char out[static GPU_WORD_MAX + 1]);
/* Whether an environment variable chooses the GPUs that a process sees. */
bool gpu_is_visible_name(const char *name);
