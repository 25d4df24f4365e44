/* fingerprint: a hash of everything known that decides what a cell's tests measure: the files of its build,
 * the libraries that its program is linked with, its arguments, environment and settings, the files that
 * these name, the model, and the node with its GPUs, driver and toolchain. Two nights with the same
 * fingerprint ran the same.
 *
 * It errs to one side only: what cannot be known makes it unknown, with the reason. So it is for scripts,
 * programs that compile at run time, load code or start programs by name, containers, and builds whose
 * identity is unknown.
 */
#pragma once

#include "executor/suite/suite.h"

struct fingerprint {
    char sha256[SHA256_HEX_LEN + 1]; /* "": unknown */
    char why[REASON_MAX];            /* why it is unknown */
};

/* Gives what the variant's cells have in common. To be called once the variant is prepared and the lanes are
 * open; nothing of the build is executed but the dynamic loader, which lists the libraries. */
int fingerprint_variant(struct suite *s, size_t variant, struct fingerprint *out, struct err *err);
/* Gives the fingerprint of the cell to which a test belongs; common: of its variant, and known. */
int fingerprint_cell(struct suite *s, size_t test, const struct fingerprint *common, struct fingerprint *out,
                     struct err *err);
