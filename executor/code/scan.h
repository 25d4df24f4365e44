/* scan: finds the device code in a file, whatever contains it, and adds it to a set.
 *
 * Read are: code objects and cubins, alone (.hsaco, .co, .cubin); offload bundles of clang and fat binaries
 * of nvcc, alone or in the sections .hip_fatbin and .nv_fatbin of a host's object, library or program; static
 * libraries of these. Compressed code is decoded (Zstandard, LZ4); what cannot be decoded is hashed as the
 * bytes that it is (CODE_ITEM_OPAQUE). PTX counts only in a fat binary without a cubin: it is compiled by the
 * driver then. Relocatable device code is not what runs, and is left out.
 */
#pragma once

#include "executor/code/code_set.h"
#include "executor/code/mask.h"
#include "executor/code/span.h"

/* A code object or cubin. What was found in it are the items of the set from `first` on. */
struct scan_object {
    struct span bytes;
    bool cuda;
    size_t first;
};

/* What is done with each of them; may add to the facts of its kernels. Without fn: nothing. */
struct scan_hook {
    void (*fn)(void *arg, const struct scan_object *object, struct code_set *set);
    void *arg;
};

/* A file without device code adds nothing. hook: NULL for none. What is too much is told by code_set_check().
 */
void scan_device(struct span file, const struct mask *mask, const struct scan_hook *hook,
                 struct code_set *set);
