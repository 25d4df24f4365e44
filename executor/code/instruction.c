#include "executor/code/instruction.h"

#include <string.h>

struct row {
    const char *begin; /* of the mnemonic */
    enum instruction_class class;
};

/* The first that fits counts. */
static const struct row amd[] = {
    {"v_mfma_", INSTRUCTION_MATRIX},
    {"v_smfmac_", INSTRUCTION_MATRIX},
    {"v_wmma_", INSTRUCTION_MATRIX},
    {"v_swmmac_", INSTRUCTION_MATRIX},
    {"v_exp_", INSTRUCTION_TRANSCENDENTAL},
    {"v_log_", INSTRUCTION_TRANSCENDENTAL},
    {"v_rcp_", INSTRUCTION_TRANSCENDENTAL},
    {"v_rsq_", INSTRUCTION_TRANSCENDENTAL},
    {"v_sqrt_", INSTRUCTION_TRANSCENDENTAL},
    {"v_sin_", INSTRUCTION_TRANSCENDENTAL},
    {"v_cos_", INSTRUCTION_TRANSCENDENTAL},
    {"v_", INSTRUCTION_VECTOR},
    {"s_barrier", INSTRUCTION_BARRIER},
    {"s_wait", INSTRUCTION_WAIT},
    {"s_nop", INSTRUCTION_WAIT},
    {"s_sleep", INSTRUCTION_WAIT},
    {"s_delay_alu", INSTRUCTION_WAIT},
    {"s_branch", INSTRUCTION_BRANCH},
    {"s_cbranch", INSTRUCTION_BRANCH},
    {"s_setpc_", INSTRUCTION_BRANCH},
    {"s_swappc_", INSTRUCTION_BRANCH},
    {"s_call_", INSTRUCTION_BRANCH},
    {"s_endpgm", INSTRUCTION_OTHER},
    {"s_sendmsg", INSTRUCTION_OTHER},
    {"s_setprio", INSTRUCTION_OTHER},
    {"s_trap", INSTRUCTION_OTHER},
    {"s_icache", INSTRUCTION_OTHER},
    {"s_dcache", INSTRUCTION_OTHER},
    {"s_code_end", INSTRUCTION_OTHER},
    {"s_", INSTRUCTION_SCALAR},
    {"ds_", INSTRUCTION_LDS},
    {"scratch_", INSTRUCTION_SCRATCH},
    {"global_load_", INSTRUCTION_GLOBAL_LOAD},
    {"flat_load_", INSTRUCTION_GLOBAL_LOAD},
    {"buffer_load_", INSTRUCTION_GLOBAL_LOAD},
    {"tbuffer_load_", INSTRUCTION_GLOBAL_LOAD},
    {"global_store_", INSTRUCTION_GLOBAL_STORE},
    {"flat_store_", INSTRUCTION_GLOBAL_STORE},
    {"buffer_store_", INSTRUCTION_GLOBAL_STORE},
    {"tbuffer_store_", INSTRUCTION_GLOBAL_STORE},
    {"global_atomic_", INSTRUCTION_GLOBAL_STORE},
    {"flat_atomic_", INSTRUCTION_GLOBAL_STORE},
    {"buffer_atomic_", INSTRUCTION_GLOBAL_STORE},
};

/* Whole names, up to a ".". */
static const struct row nvidia_names[] = {
    {"HMMA", INSTRUCTION_MATRIX},
    {"IMMA", INSTRUCTION_MATRIX},
    {"DMMA", INSTRUCTION_MATRIX},
    {"BMMA", INSTRUCTION_MATRIX},
    {"QMMA", INSTRUCTION_MATRIX},
    {"OMMA", INSTRUCTION_MATRIX},
    {"HGMMA", INSTRUCTION_MATRIX},
    {"IGMMA", INSTRUCTION_MATRIX},
    {"QGMMA", INSTRUCTION_MATRIX},
    {"BGMMA", INSTRUCTION_MATRIX},
    {"UTCHMMA", INSTRUCTION_MATRIX},
    {"UTCIMMA", INSTRUCTION_MATRIX},
    {"UTCQMMA", INSTRUCTION_MATRIX},
    {"UTCOMMA", INSTRUCTION_MATRIX},
    {"MUFU", INSTRUCTION_TRANSCENDENTAL},
    {"LDG", INSTRUCTION_GLOBAL_LOAD},
    {"LD", INSTRUCTION_GLOBAL_LOAD},
    {"LDGSTS", INSTRUCTION_GLOBAL_LOAD},
    {"UTMALDG", INSTRUCTION_GLOBAL_LOAD},
    {"UBLKCP", INSTRUCTION_GLOBAL_LOAD},
    {"STG", INSTRUCTION_GLOBAL_STORE},
    {"ST", INSTRUCTION_GLOBAL_STORE},
    {"RED", INSTRUCTION_GLOBAL_STORE},
    {"REDG", INSTRUCTION_GLOBAL_STORE},
    {"ATOM", INSTRUCTION_GLOBAL_STORE},
    {"ATOMG", INSTRUCTION_GLOBAL_STORE},
    {"UTMASTG", INSTRUCTION_GLOBAL_STORE},
    {"UTMAREDG", INSTRUCTION_GLOBAL_STORE},
    {"LDS", INSTRUCTION_LDS},
    {"STS", INSTRUCTION_LDS},
    {"LDSM", INSTRUCTION_LDS},
    {"STSM", INSTRUCTION_LDS},
    {"ATOMS", INSTRUCTION_LDS},
    {"STAS", INSTRUCTION_LDS},
    {"LDL", INSTRUCTION_SCRATCH},
    {"STL", INSTRUCTION_SCRATCH},
    {"BAR", INSTRUCTION_BARRIER},
    {"SYNCS", INSTRUCTION_BARRIER},
    {"UCGABAR_ARV", INSTRUCTION_BARRIER},
    {"UCGABAR_WAIT", INSTRUCTION_BARRIER},
    {"WARPSYNC", INSTRUCTION_BARRIER},
    {"DEPBAR", INSTRUCTION_WAIT},
    {"LDGDEPBAR", INSTRUCTION_WAIT},
    {"WARPGROUP", INSTRUCTION_WAIT},
    {"MEMBAR", INSTRUCTION_WAIT},
    {"NANOSLEEP", INSTRUCTION_WAIT},
    {"NOP", INSTRUCTION_WAIT},
    {"UTMACMDFLUSH", INSTRUCTION_WAIT},
    {"BRA", INSTRUCTION_BRANCH},
    {"BRX", INSTRUCTION_BRANCH},
    {"BRXU", INSTRUCTION_BRANCH},
    {"JMP", INSTRUCTION_BRANCH},
    {"JMX", INSTRUCTION_BRANCH},
    {"CALL", INSTRUCTION_BRANCH},
    {"RET", INSTRUCTION_BRANCH},
    {"EXIT", INSTRUCTION_OTHER},
    {"BSSY", INSTRUCTION_BRANCH},
    {"BSYNC", INSTRUCTION_BRANCH},
    {"BREAK", INSTRUCTION_BRANCH},
    {"LDC", INSTRUCTION_SCALAR},
    {"S2R", INSTRUCTION_SCALAR},
    {"CS2R", INSTRUCTION_SCALAR},
    {"S2UR", INSTRUCTION_SCALAR},
    {"R2UR", INSTRUCTION_SCALAR},
    {"CCTL", INSTRUCTION_OTHER},
    {"ERRBAR", INSTRUCTION_OTHER},
    {"FENCE", INSTRUCTION_OTHER},
    {"PREEXIT", INSTRUCTION_OTHER},
    {"ACQBULK", INSTRUCTION_OTHER},
    {"ELECT", INSTRUCTION_OTHER},
    {"USETMAXREG", INSTRUCTION_OTHER},
    {"UTMACCTL", INSTRUCTION_OTHER},
    {"UTMAPF", INSTRUCTION_OTHER},
    {"DEPCTR", INSTRUCTION_OTHER},
    {"BMOV", INSTRUCTION_OTHER},
};

/* What the rest begins with. */
static const struct row nvidia_begins[] = {
    {"U", INSTRUCTION_SCALAR},    {"F", INSTRUCTION_VECTOR},     {"H", INSTRUCTION_VECTOR},
    {"D", INSTRUCTION_VECTOR},    {"I", INSTRUCTION_VECTOR},     {"LOP", INSTRUCTION_VECTOR},
    {"LEA", INSTRUCTION_VECTOR},  {"SH", INSTRUCTION_VECTOR},    {"SEL", INSTRUCTION_VECTOR},
    {"SGXT", INSTRUCTION_VECTOR}, {"P", INSTRUCTION_VECTOR},     {"MOV", INSTRUCTION_VECTOR},
    {"R2P", INSTRUCTION_VECTOR},  {"BREV", INSTRUCTION_VECTOR},  {"BMSK", INSTRUCTION_VECTOR},
    {"V", INSTRUCTION_VECTOR},    {"MATCH", INSTRUCTION_VECTOR}, {"REDUX", INSTRUCTION_VECTOR},
};

static enum instruction_class find(const struct row *row, size_t count, const char *text)
{
    for (size_t i = 0; i < count; i++)
        if (strncmp(text, row[i].begin, strlen(row[i].begin)) == 0)
            return row[i].class;
    return INSTRUCTION_OTHER;
}

enum instruction_class instruction_class_amd(const char *text, bool buffer_scratch)
{
    if (buffer_scratch && strncmp(text, "buffer_", 7) == 0 &&
        (strstr(text, ", s[0:3],") || strstr(text, ", off, s[")))
        return INSTRUCTION_SCRATCH;
    return find(amd, sizeof amd / sizeof *amd, text);
}

enum instruction_class instruction_class_nvidia(const char *text)
{
    size_t len = strcspn(text, ". ;");
    for (size_t i = 0; i < sizeof nvidia_names / sizeof *nvidia_names; i++)
        if (strlen(nvidia_names[i].begin) == len && strncmp(text, nvidia_names[i].begin, len) == 0)
            return nvidia_names[i].class;
    return find(nvidia_begins, sizeof nvidia_begins / sizeof *nvidia_begins, text);
}
