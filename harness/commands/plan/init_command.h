/* init_command: derives from a command line, as run by hand, what a plan needs: how it is built, where its
 * files are on the node, and which word is its size.
 */
#pragma once

#include "common/base/fs.h"
#include "common/base/strvec.h"
#include "harness/propose/draft.h"

struct init_command {
    struct strvec words;    /* as typed */
    bool local;             /* the node is this machine */
    bool shell;             /* a script for sh -c, in which files cannot be recognised */
    const char *build;      /* as typed, or NULL */
    bool sized;             /* the words contain {context} */
    char here[FS_PATH_MAX]; /* the current folder */
    size_t word, before;    /* otherwise the position of the size, from propose_size(); word 0: none */
};

/* Fills in run, build, source and include of d; the caller json_decref()s them. beside: the plan is written
 * to the current folder, so source is relative to it. */
int init_command_encode(const struct init_command *c, bool beside, struct draft *d, struct err *err);
/* The command to run here, with the size in place of {context}. */
void init_command_here(const struct init_command *c, long long size, struct strvec *argv);
