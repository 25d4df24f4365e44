/* disasm: what only a disassembler knows of kernels: their instructions by class, their hot loops, their
 * listings. It runs the node's own, because only these programs know each GPU's instructions: ROCm's
 * llvm-objdump, else the newest llvm-objdump-N in PATH, for AMD's code objects; nvdisasm of PATH or of
 * /usr/local/cuda for cubins.
 *
 * Without a disassembler, with one that fails, or after its time is up, the facts stay unknown; that is never
 * an error. A scan (executor/code/scan.h) calls it through the hook. The owner calls disasm_release().
 */
#pragma once

#include "common/base/fs.h"
#include "executor/code/scan.h"

enum { DISASM_SEEN_MAX = 1024 };

struct disasm_seen;

struct disasm {
    struct scan_hook hook;
    char amd[FS_PATH_MAX], nvidia[FS_PATH_MAX]; /* "" none */
    size_t listings_left;                       /* bytes of listings to keep; 0: none */
    int64_t end_ns;
    /* Only objects with a kernel that it wants are disassembled; NULL: all. */
    bool (*wants)(void *arg, const char *kernel);
    void *arg;
    size_t late;              /* kernels for whose instructions there was no time */
    struct disasm_seen *seen; /* one code object is often in several files */
    size_t seen_count, seen_cap;
};

/* listings_max: bytes of listings to attach to the kernels, 0 for none. seconds: for all objects together. */
void disasm_init(struct disasm *d, size_t listings_max, int seconds);
void disasm_release(struct disasm *d);
