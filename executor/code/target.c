#include "executor/code/target.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How the runtime chooses: the compiled code of the processor, then of a family, then what it compiles. */
enum { RANK_COMPILED = 1, RANK_FAMILY, RANK_PROCESSOR, RANK_CUBIN = 1 << 16, NUMBER_MAX = 10000 };

void targets_add(struct targets *t, const char *name)
{
    for (size_t i = 0; i < t->count; i++)
        if (strcmp(t->name[i], name) == 0)
            return;
    if (t->count < TARGETS_MAX)
        snprintf(t->name[t->count++], TARGET_MAX, "%s", name);
}

void targets_text(const struct targets *t, char *out, size_t size)
{
    size_t len = 0;
    *out = '\0';
    for (size_t i = 0; i < t->count && len + TARGET_MAX + 2 < size; i++)
        len += (size_t)snprintf(out + len, size - len, "%s%s", i ? ", " : "", t->name[i]);
}

/* "gfx906+xnack" is how code objects before version 4 write features, which are then on or left open. */
static size_t processor_len(const char *name)
{
    return strcspn(name, ":+");
}

/* Returns '+' or '-', or 0 where the name leaves the feature open. */
static char sign_of(const char *name, const char *feature)
{
    size_t len = strlen(feature);
    for (const char *at = strchr(name, ':'); at; at = strchr(at + 1, ':'))
        if (strncmp(at + 1, feature, len) == 0 && (at[len + 1] == '+' || at[len + 1] == '-'))
            return at[len + 1];
    return 0;
}

static bool begins(const char *name, const char *with)
{
    return strncmp(name, with, strlen(with)) == 0;
}

/* Instincts since the MI200 always have SRAM-ECC. */
static char sramecc_of(const char *gpu)
{
    char sign = sign_of(gpu, "sramecc");
    return !sign && (begins(gpu, "gfx90a") || begins(gpu, "gfx94") || begins(gpu, "gfx95")) ? '+' : sign;
}

static bool signs_agree(char a, char b)
{
    return !a || !b || a == b;
}

/* The generic processors of LLVM's AMDGPUUsage. Membership does not follow from the digits. */
static bool is_family(const char *code, size_t len, const char *gpu, size_t gpu_len)
{
    static const struct {
        const char *family, *members;
    } rows[] = {
        {"gfx9-generic", " gfx900 gfx902 gfx904 gfx906 gfx909 gfx90c "},
        {"gfx9-4-generic", " gfx940 gfx941 gfx942 gfx950 "},
        {"gfx10-1-generic", " gfx1010 gfx1011 gfx1012 gfx1013 "},
        {"gfx10-3-generic", " gfx1030 gfx1031 gfx1032 gfx1033 gfx1034 gfx1035 gfx1036 "},
        {"gfx11-generic", " gfx1100 gfx1101 gfx1102 gfx1103 gfx1150 gfx1151 gfx1152 gfx1153 gfx1154 "},
        {"gfx11-7-generic", " gfx1170 gfx1171 gfx1172 "},
        {"gfx12-generic", " gfx1200 gfx1201 "},
        {"gfx12-5-generic", " gfx1250 gfx1251 "},
        {"gfx13-generic", " gfx1310 "},
    };
    char wanted[TARGET_MAX + 2];
    snprintf(wanted, sizeof wanted, " %.*s ", (int)gpu_len, gpu);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strlen(rows[i].family) == len && strncmp(rows[i].family, code, len) == 0)
            return strstr(rows[i].members, wanted) != NULL;
    return false;
}

static unsigned amd_rank(const char *code, const char *gpu)
{
    size_t len = processor_len(code), gpu_len = processor_len(gpu);
    if (begins(code, "amdgcnspirv"))
        return RANK_COMPILED;
    if (!signs_agree(sign_of(code, "xnack"), sign_of(gpu, "xnack")) ||
        !signs_agree(sign_of(code, "sramecc"), sramecc_of(gpu)))
        return 0;
    if (len == gpu_len && strncmp(code, gpu, len) == 0)
        return RANK_PROCESSOR;
    return is_family(code, len, gpu, gpu_len) ? RANK_FAMILY : 0;
}

/* Reads "sm_100f" behind "sm_": its number, and its suffix or 0. */
static bool read_number(const char *text, unsigned *number, char *suffix)
{
    char *end;
    unsigned long n = strtoul(text, &end, 10);
    *number = (unsigned)n;
    *suffix = *end;
    return end != text && n < NUMBER_MAX && (!*end || ((*end == 'a' || *end == 'f') && !end[1]));
}

/* Binaries of NVIDIA's embedded GPUs and of the others do not run on each other. */
static bool is_embedded(unsigned n)
{
    static const unsigned numbers[] = {32, 53, 62, 72, 87};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (numbers[i] == n)
            return true;
    return false;
}

static unsigned nvidia_rank(const char *code, const char *gpu)
{
    bool ptx = begins(code, "compute_");
    unsigned number, own;
    char suffix, ignored;
    if ((!ptx && !begins(code, "sm_")) || !read_number(strchr(code, '_') + 1, &number, &suffix) ||
        !read_number(gpu + strlen("sm_"), &own, &ignored))
        return 0;
    bool same = number / 10 == own / 10 && is_embedded(number) == is_embedded(own);
    if (number > own || (suffix == 'a' && number != own) || ((suffix == 'f' || !ptx) && !same))
        return 0;
    return (ptx ? 0 : RANK_CUBIN) + number * 4 + (suffix == 'a' ? 3 : suffix == 'f' ? 2 : 1);
}

unsigned target_rank(const char *code, const char *gpu)
{
    if (begins(gpu, "sm_"))
        return nvidia_rank(code, gpu);
    return begins(gpu, "gfx") ? amd_rank(code, gpu) : 0;
}

bool target_has_unified_registers(const char *gpu)
{
    static const char *const names[] = {"gfx90a", "gfx94", "gfx95", "gfx9-4"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (begins(gpu, names[i]))
            return true;
    return false;
}
