/* ab_side: one of the two sides of `ab`, as named on the command line: a git revision of the plan's
 * source.dir, "run:RUN" for the sources of a stored run, "dir:PATH" for a folder, or no word for the plan's
 * own sources as they are.
 *
 * The owner calls ab_side_release(), which removes the exported files of a revision. Borrows the words.
 */
#pragma once

#include "harness/commands/base/cmd.h"
#include "harness/git/git_history.h"
#include "harness/git/tree.h"
#include "harness/session/turns.h"

enum { AB_TITLE_MAX = 96 };

struct ab_side {
    const char *option; /* "--base" */
    const char *word;   /* NULL: the plan's own sources */
    const char *setting[2];
    struct turns_side side;
    char title[AB_TITLE_MAX];
    char sha256[SHA256_HEX_LEN + 1]; /* of a stored run's sources */
    struct git_commit commit;        /* its id is "" unless the side is a revision */
    struct git_tree tree;
};

/* setting: NAME=VALUE, or NULL. *a must not be moved afterwards, as side points into it. */
int ab_side_open(struct ab_side *a, const struct plan *p, struct cmd_env *env, struct store *s,
                 struct err *err);
void ab_side_release(struct ab_side *side);
