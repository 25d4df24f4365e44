/* propose: guesses from a sample what a plan can read from the output of a program: JSON lines and
 * documents, the [PERF_TIMING] line, tables, and lines such as "kernel: 12.3 ms, 1.2 TB/s". Pure: takes a
 * text and returns a proposal, which a person must approve before anything is measured by it.
 */
#pragma once

#include "common/base/strvec.h"
#include "common/contract/proto.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    PROPOSED_MAX = LIMIT_METRICS,
    PROPOSED_NAME_MAX = 28,
    PROPOSED_PATH_MAX = 256,
    PROPOSED_LEFT_MAX = 3,
    PROPOSED_LABEL_MAX = 48
};

enum proposal_kind {
    PROPOSE_WALL,  /* nothing was recognised: the wall time */
    PROPOSE_MARK,  /* the program prints [PERF_TIMING] itself */
    PROPOSE_JSON,  /* a path per number */
    PROPOSE_REGEX, /* one pattern with a named group per number */
};

struct proposed {
    char name[PROPOSED_NAME_MAX + 4];
    char unit[LIMIT_UNIT + 1]; /* "" if unknown */
    char path[PROPOSED_PATH_MAX];
    bool more;    /* more is better */
    bool total;   /* the line says that it is the time of several iterations */
    bool again;   /* earlier lines look like this one, and do not count */
    int labelled; /* 2: it stands behind a label that ends in ':' or '='; 1: elsewhere in such a line */
    double value;
    size_t line; /* counts from 1; 0 in a document of many lines */
};

struct proposal {
    enum proposal_kind kind;
    char pattern[LIMIT_PATTERN + 1];
    struct proposed item[PROPOSED_MAX];
    size_t count;
    size_t primary;  /* index of the number to judge by; equal to count: the program's own prefill_s or
                        kernel_ms */
    size_t too_many; /* numbers with units for which there was no room */
    struct {         /* looks like a result, but cannot be read */
        char label[PROPOSED_LABEL_MAX];
        const char *why;
        size_t line;
    } left[PROPOSED_LEFT_MAX];
    size_t n_left;
};

/* command: as typed. Its words are likely what tells variants apart, so no pattern requires them; NULL:
 * unknown. */
void propose_from_output(struct proposal *out, const char *text, size_t len, const struct strvec *command);

/* Finds the word of a command line that is most likely the problem size: sets *word, the number of its bytes
 * before the number, and the number. Returns false if there is none. */
bool propose_size(const char *const *argv, size_t argc, size_t *word, size_t *before, long long *size);
