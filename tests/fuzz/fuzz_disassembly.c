/* What a disassembler prints. The first byte chooses whose: '0' for llvm-objdump, else nvdisasm. */
#include "executor/code/disassembly.h"
#include "tests/fuzz/fuzz.h"

static bool every_symbol(void *arg, const char *symbol, bool *buffer_scratch)
{
    (void)arg;
    *buffer_scratch = symbol[0] == 's';
    return symbol[0] != 'L';
}

static void check(void *arg, const struct disassembly_function *f)
{
    int64_t all = 0, loop = 0;
    (void)arg;
    for (int i = 0; i < INSTRUCTION_CLASSES; i++) {
        all += f->instructions[i];
        loop += f->hot_loop[i];
        fuzz_check(f->hot_loop[i] <= f->instructions[i]);
    }
    fuzz_check(all >= -INSTRUCTION_CLASSES && loop <= all);
    fuzz_check(!f->listing || f->listing[f->listing_len] == '\0');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct disassembly d;
    if (size == 0)
        return 0;
    disassembly_init(&d, data[0] == '0' ? DISASSEMBLY_LLVM : DISASSEMBLY_NVDISASM);
    d.listings = true;
    d.begins = every_symbol;
    d.function = check;
    for (size_t i = 1; i < size; i += 61)
        disassembly_feed(&d, (const char *)data + i, size - i < 61 ? size - i : 61);
    disassembly_finish(&d);
    disassembly_release(&d);
    return 0;
}
