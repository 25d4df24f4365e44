// The table of variants. The Makefile generates variants_selected.def: the lines of variants.def that VARIANT
// selects.
#include "attention/attention.h"

#include <cstring>

#define VARIANT(name) attn_variant attn_##name();
#include "variants_selected.def"
#undef VARIANT

const std::vector<attn_variant> &attn_variants()
{
    static const std::vector<attn_variant> table = {
#define VARIANT(name) attn_##name(),
#include "variants_selected.def"
#undef VARIANT
    };
    return table;
}

const attn_variant *attn_find(const char *name)
{
    for (const attn_variant &variant : attn_variants()) {
        if (std::strcmp(variant.name, name) == 0 || std::strcmp(variant.attn_impl, name) == 0)
            return &variant;
    }
    return nullptr;
}

bool attn_known(const char *name)
{
    static const char *const names[] = {
#define VARIANT(name) #name,
#include "attention/variants.def"
#undef VARIANT
    };
    for (const char *known : names) {
        if (std::strcmp(known, name) == 0)
            return true;
    }
    return false;
}
