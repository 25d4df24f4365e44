/* disassembly_loops: what follows from the instructions of one function: their number by class, its hot loop
 * (disassembly.h says which), and its listing. Pure functions.
 */
#pragma once

#include "common/base/buf.h"
#include "common/contract/kernel_facts.h"

enum { DISASSEMBLY_LOOPS_MAX = 512 };

/* One instruction. Its text lies at an offset of the function's text and ends with NUL. */
struct disassembly_step {
    uint64_t addr, target;
    bool has_target;
    enum instruction_class class;
    size_t text;
    size_t label, label_len; /* the part of the text that names the target */
};

/* hot_loop: KERNEL_FACT_UNKNOWN without a loop. Both int64_t[INSTRUCTION_CLASSES]. */
void disassembly_count(const struct disassembly_step *step, size_t count, int64_t *all, int64_t *hot_loop);
/* Lists one instruction a line, with labels L1, L2, ... in the order of their places. False: too long. */
bool disassembly_list(const struct disassembly_step *step, size_t count, const char *text, struct buf *out);
