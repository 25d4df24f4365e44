#include "executor/code/built_file.h"

#include "executor/code/archive.h"
#include "executor/code/elf_file.h"

#include <string.h>

static void add_relocs(struct sha256 *h, const struct elf_file *e, const struct elf_section *table)
{
    struct elf_reloc reloc;
    for (size_t i = 0; elf_reloc(table, i, &reloc); i++) {
        sha256_add(h, &reloc.offset, sizeof reloc.offset);
        sha256_add(h, &reloc.type, sizeof reloc.type);
        sha256_add(h, &reloc.addend, sizeof reloc.addend);
        mask_add_name(h, elf_reloc_name(e, table, &reloc));
    }
}

/* Relocations of sections that are not loaded are those of debug information. */
static bool relocates_loaded(const struct elf_file *e, const struct elf_section *table)
{
    struct elf_section target;
    return elf_relocs(table) && elf_section(e, table->info, &target) && target.flags & SHF_ALLOC;
}

static void add_elf(struct sha256 *h, const struct elf_file *e, const struct mask *mask)
{
    struct elf_section s;
    sha256_add(h, &e->machine, sizeof e->machine);
    for (size_t i = 0; i < e->sections; i++) {
        if (!elf_section(e, i, &s) || s.type == SHT_NULL || s.type == SHT_NOTE)
            continue;
        if (s.flags & SHF_ALLOC) {
            mask_add_name(h, s.name);
            mask_add(mask, h, s.data);
        } else if (relocates_loaded(e, &s)) {
            mask_add_name(h, s.name);
            add_relocs(h, e, &s);
        }
    }
}

static void add_file(struct sha256 *h, struct span file, const struct mask *mask)
{
    struct elf_file e;
    if (elf_open(&e, file))
        add_elf(h, &e, mask);
    else
        mask_add(mask, h, file);
}

void built_file_hash(struct span file, const struct mask *mask, char *out)
{
    struct span member;
    struct sha256 h;
    sha256_begin(&h);
    if (archive_is(file))
        for (size_t at = 0; archive_next(file, &at, &member);)
            add_file(&h, member, mask);
    else
        add_file(&h, file, mask);
    sha256_end(&h, out);
}

static bool ends_in(const char *text, const char *suffix)
{
    size_t len = strlen(text), n = strlen(suffix);
    return len >= n && strcmp(text + len - n, suffix) == 0;
}

bool built_file_counts(const char *relpath, struct span file)
{
    if (*relpath == '.' || strstr(relpath, "/."))
        return false;
    if (elf_is(file) || archive_is(file))
        return true;
    return !ends_in(relpath, ".d") && !ends_in(relpath, ".log") && !ends_in(relpath, "CMakeCache.txt") &&
           !ends_in(relpath, ".pyc") && !strstr(relpath, "CMakeFiles/");
}

static bool holds(struct span file, const char *text)
{
    return memmem(file.data, file.len, text, strlen(text)) != NULL;
}

static bool compiles_while_it_runs(struct span file)
{
    return holds(file, "nvrtcCompileProgram") || holds(file, "hiprtcCompileProgram") ||
           holds(file, "clBuildProgram");
}

static bool is_started_from(const char *relpath, struct span file)
{
    const char *slash = strrchr(relpath, '/'), *name = slash ? slash + 1 : relpath;
    bool script = file.len > 2 && file.data[0] == '#' && file.data[1] == '!';
    return script || ends_in(name, ".pth") || ends_in(name, ".egg-link") ||
           strncmp(name, "__editable__", strlen("__editable__")) == 0;
}

bool built_file_reads(const char *relpath, struct span file, const char *folder)
{
    if (!folder || !*folder || !(elf_is(file) || is_started_from(relpath, file)))
        return false;
    return holds(file, folder) && (!elf_is(file) || compiles_while_it_runs(file));
}
