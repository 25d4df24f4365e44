#include "executor/code/instruction.h"

#include <string.h>

/* Words, separated by spaces, and the class of the instructions that have one of them. */
struct row {
    enum instruction_class class;
    const char *words;
};

/* The first row with a word that the mnemonic begins with counts. */
static const struct row amd[] = {
    {INSTRUCTION_MATRIX, "v_mfma_ v_smfmac_ v_wmma_ v_swmmac_"},
    {INSTRUCTION_TRANSCENDENTAL, "v_exp_ v_log_ v_rcp_ v_rsq_ v_sqrt_ v_sin_ v_cos_"},
    {INSTRUCTION_VECTOR, "v_"},
    {INSTRUCTION_BARRIER, "s_barrier"},
    {INSTRUCTION_WAIT, "s_wait s_nop s_sleep s_delay_alu"},
    {INSTRUCTION_BRANCH, "s_branch s_cbranch s_setpc_ s_swappc_ s_call_"},
    {INSTRUCTION_OTHER, "s_endpgm s_sendmsg s_setprio s_trap s_icache s_dcache s_code_end"},
    {INSTRUCTION_SCALAR, "s_"},
    {INSTRUCTION_LDS, "ds_"},
    {INSTRUCTION_SCRATCH, "scratch_"},
    {INSTRUCTION_GLOBAL_LOAD, "global_load_ flat_load_ buffer_load_ tbuffer_load_"},
    {INSTRUCTION_GLOBAL_STORE, "global_store_ flat_store_ buffer_store_ tbuffer_store_"},
    {INSTRUCTION_GLOBAL_STORE, "global_atomic_ flat_atomic_ buffer_atomic_"},
};

/* The words are whole names, up to a ".". */
static const struct row nvidia_names[] = {
    {INSTRUCTION_MATRIX, "HMMA IMMA DMMA BMMA QMMA OMMA HGMMA IGMMA QGMMA BGMMA"},
    {INSTRUCTION_MATRIX, "UTCHMMA UTCIMMA UTCQMMA UTCOMMA"},
    {INSTRUCTION_TRANSCENDENTAL, "MUFU"},
    {INSTRUCTION_GLOBAL_LOAD, "LDG LD LDGSTS UTMALDG UBLKCP"},
    {INSTRUCTION_GLOBAL_STORE, "STG ST RED REDG ATOM ATOMG UTMASTG UTMAREDG"},
    {INSTRUCTION_LDS, "LDS STS LDSM STSM ATOMS STAS"},
    {INSTRUCTION_SCRATCH, "LDL STL"},
    {INSTRUCTION_BARRIER, "BAR SYNCS UCGABAR_ARV UCGABAR_WAIT WARPSYNC"},
    {INSTRUCTION_WAIT, "DEPBAR LDGDEPBAR WARPGROUP MEMBAR NANOSLEEP NOP UTMACMDFLUSH"},
    {INSTRUCTION_BRANCH, "BRA BRX BRXU JMP JMX CALL RET BSSY BSYNC BREAK"},
    {INSTRUCTION_SCALAR, "LDC S2R CS2R S2UR R2UR"},
    {INSTRUCTION_OTHER,
     "EXIT CCTL ERRBAR FENCE PREEXIT ACQBULK ELECT USETMAXREG UTMACCTL UTMAPF DEPCTR BMOV"},
};

/* The words are what other names begin with. */
static const struct row nvidia_begins[] = {
    {INSTRUCTION_SCALAR, "U"},
    {INSTRUCTION_VECTOR, "F H D I LOP LEA SH SEL SGXT P MOV R2P BREV BMSK V MATCH REDUX"},
};

/* len: of the whole name, which a word must equal; 0: a word is what the text begins with. */
static bool has_word(const char *words, const char *text, size_t len)
{
    for (size_t n; *words; words += n + (words[n] == ' ')) {
        n = strcspn(words, " ");
        if ((len == 0 || len == n) && strncmp(words, text, n) == 0)
            return true;
    }
    return false;
}

static const struct row *find(const struct row *row, size_t count, const char *text, size_t len)
{
    for (size_t i = 0; i < count; i++)
        if (has_word(row[i].words, text, len))
            return &row[i];
    return NULL;
}

enum instruction_class instruction_class_amd(const char *text, bool buffer_scratch)
{
    const struct row *found = find(amd, sizeof amd / sizeof *amd, text, 0);
    if (buffer_scratch && strncmp(text, "buffer_", 7) == 0 &&
        (strstr(text, ", s[0:3],") || strstr(text, ", off, s[")))
        return INSTRUCTION_SCRATCH;
    return found ? found->class : INSTRUCTION_OTHER;
}

enum instruction_class instruction_class_nvidia(const char *text)
{
    const struct row *found =
        find(nvidia_names, sizeof nvidia_names / sizeof *nvidia_names, text, strcspn(text, ". ;"));
    if (!found)
        found = find(nvidia_begins, sizeof nvidia_begins / sizeof *nvidia_begins, text, 0);
    return found ? found->class : INSTRUCTION_OTHER;
}
