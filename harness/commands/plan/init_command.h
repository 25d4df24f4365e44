/* init_command: from the command that someone runs by hand to what a plan says: how it is built, where its
 * files are on the node, and where its size stands.
 */
#pragma once

#include "common/base/fs.h"
#include "common/base/strvec.h"
#include "harness/propose/draft.h"

struct init_command {
    struct strvec words;    /* as typed */
    bool local;             /* the node is this machine */
    bool shell;             /* a text for sh -c, whose files cannot be told */
    const char *build;      /* as typed, or NULL */
    bool sized;             /* {context} stands in the words */
    char here[FS_PATH_MAX]; /* the current folder */
    size_t word, before;    /* else: where the size is, as propose_size() found it; word 0: nowhere */
};

/* Fills run, build, source and include of d; the caller json_decref()s them. beside: the plan is written to
 * the current folder, to which source is relative. */
int init_command_encode(const struct init_command *c, bool beside, struct draft *d, struct err *err);
/* The command with the size in the place of {context}, to be run here. */
void init_command_here(const struct init_command *c, long long size, struct strvec *argv);
