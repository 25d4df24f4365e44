/* scan: finds the device code in a file, whatever contains it, and adds it to a set.
 *
 * Read are: code objects and cubins, alone (.hsaco, .co, .cubin); offload bundles of clang and fat binaries
 * of nvcc, alone or in the sections .hip_fatbin and .nv_fatbin of a host's object, library or program; static
 * libraries of these. Compressed code is decoded (Zstandard, LZ4); what cannot be decoded is hashed as the
 * bytes that it is (CODE_ITEM_OPAQUE). PTX counts only in a fat binary without a cubin: it is compiled by the
 * driver then. Relocatable device code is not what runs, and is left out.
 */
#ifndef KERNSWEEP_EXECUTOR_CODE_SCAN_H
#define KERNSWEEP_EXECUTOR_CODE_SCAN_H

#include "executor/code/code_set.h"
#include "executor/code/mask.h"
#include "executor/code/span.h"

/* A file without device code adds nothing. */
int scan_device(struct span file, const struct mask *mask, struct code_set *set, struct err *err);

#endif
