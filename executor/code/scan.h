/* scan: finds the device code in a file, whatever contains it, and adds it to a set.
 *
 * It reads code objects and cubins, alone (.hsaco, .co, .cubin); offload bundles of clang and fat binaries of
 * nvcc, alone or in the sections .hip_fatbin and .nv_fatbin of a host's object, library or program; and
 * static libraries of these. Compressed code is decoded (Zstandard, LZ4); what cannot be decoded is hashed as
 * the bytes that it is (CODE_ITEM_OPAQUE). Relocatable device code is not what runs, and is left out.
 *
 * If the set knows its GPUs, only what one of them takes counts: of each bundle and fat binary the images
 * that its runtime prefers, and PTX or SPIR-V only where it has nothing that is compiled. What is for other
 * GPUs is noted in the set. The text of PTX counts without comments and line numbers.
 */
#pragma once

#include "executor/code/code_set.h"
#include "executor/code/mask.h"
#include "executor/code/span.h"

/* A code object or cubin. Its items in the set are those from `first` on. */
struct scan_object {
    struct span bytes;
    bool cuda;
    size_t first;
};

/* fn (NULL: none) is called for each of them, and may add to the facts of its kernels. */
struct scan_hook {
    void (*fn)(void *arg, const struct scan_object *object, struct code_set *set);
    void *arg;
};

/* A file without device code adds nothing. hook may be NULL. code_set_check() tells of exceeded bounds. */
void scan_device(struct span file, const struct mask *mask, const struct scan_hook *hook,
                 struct code_set *set);
