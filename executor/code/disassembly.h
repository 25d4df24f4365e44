/* disassembly: reads what a disassembler prints, line by line: `llvm-objdump -d` of an AMD code object, or
 * `nvdisasm -c` of a cubin. It gives each function's instructions by class, those of its hot loop, and a
 * listing in which addresses are labels, so that code that only moved gives the same text.
 *
 * Loops are backward branches. The hot loop contains no other loop with products of matrices (or, if there
 * are no such products, no other loop), and has the most matrix and then vector instructions. The output is
 * untrusted: lines, instructions, loops and text are bounded; a function beyond a bound is not reported. The
 * owner calls disassembly_release().
 */
#pragma once

#include "common/base/buf.h"
#include "common/contract/kernel_facts.h"

enum {
    DISASSEMBLY_LINE_MAX = 20480, /* with a symbol's name */
    DISASSEMBLY_INSTRUCTIONS_MAX = 1 << 20,
    DISASSEMBLY_TEXT_MAX = 64 << 20,
};

enum disassembly_syntax { DISASSEMBLY_LLVM, DISASSEMBLY_NVDISASM };

struct disassembly_function {
    const char *name; /* as in the symbol table */
    int64_t instructions[INSTRUCTION_CLASSES];
    int64_t hot_loop[INSTRUCTION_CLASSES]; /* KERNEL_FACT_UNKNOWN: it has no loop */
    const char *listing;                   /* borrowed; NULL unless wanted */
    size_t listing_len;
};

typedef void disassembly_fn(void *arg, const struct disassembly_function *f);

struct disassembly_step;
struct disassembly_label;

struct disassembly {
    enum disassembly_syntax syntax;
    bool listings;
    /* Whether a symbol is a function (else it is a label within one), and whether buffer instructions of it
     * access scratch memory (instruction.h). */
    bool (*begins)(void *arg, const char *symbol, bool *buffer_scratch);
    disassembly_fn *function;
    void *arg;
    char line[DISASSEMBLY_LINE_MAX];
    size_t line_len;
    bool line_cut;
    /* The function at hand. */
    char *name; /* owned; NULL: between functions */
    bool too_long, scratch;
    unsigned pc_pair;  /* register that holds the program counter, plus 1; 0: none */
    size_t pc_pair_at; /* the step that put it there */
    struct disassembly_step *step;
    size_t steps, step_cap;
    struct disassembly_label *label;
    size_t labels, label_cap;
    struct buf text;
};

void disassembly_init(struct disassembly *d, enum disassembly_syntax syntax);
void disassembly_release(struct disassembly *d);
void disassembly_feed(struct disassembly *d, const char *data, size_t len);
/* To be called at the end of the output. */
void disassembly_finish(struct disassembly *d);
