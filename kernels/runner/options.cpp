#include "runner/options.h"
#include "base/device_room.h"
#include "base/failure.h"
#include "runner/tensors.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace
{
// The switches of the original engine.
const struct {
    const char *variable, *variant;
} switches[] = {
    {"GRETA_PREFILL_LDS_TILING", "v1"},
    {"GRETA_PREFILL_SEGMENTED", "v2"},
    {"GRETA_PREFILL_Q_LDS", "v3"},
};

void append_name(std::string &list, const char *name)
{
    list += (list.empty() ? "" : ", ") + std::string(name);
}

std::string compiled_in()
{
    std::string names;
    for (const attn_variant &variant : attn_variants())
        append_name(names, variant.name);
    return names;
}

const attn_variant &require_variant(const std::string &name, const std::string &asked_by)
{
    const attn_variant *variant = attn_find(name.c_str());
    if (variant)
        return *variant;
    if (attn_known(name.c_str()))
        bad_input(asked_by + "variant " + name + " is not compiled into this program (it has " +
                  compiled_in() + "): build with VARIANT=" + name);
    bad_input(asked_by + "unknown variant '" + name + "': this program has " + compiled_in());
}

const char *switched_on()
{
    const char *found = nullptr;
    const char *variable = nullptr;
    for (const auto &s : switches) {
        const char *value = std::getenv(s.variable);
        if (!value || std::strcmp(value, "") == 0 || std::strcmp(value, "0") == 0)
            continue;
        if (std::strcmp(value, "1") != 0)
            bad_input(std::string(s.variable) + "=" + value + ": must be 0 or 1");
        if (found)
            bad_input(std::string(variable) + " and " + s.variable +
                      " are both on: choose one, or use --attn");
        found = s.variant;
        variable = s.variable;
    }
    return found;
}

[[noreturn]] void refuse_dtype(attn_dtype dtype, const attn_variant &variant)
{
    std::string taken, instead;
    for (const attn_dtype other : {ATTN_F32, ATTN_F16, ATTN_BF16}) {
        if (variant.dtypes & 1u << other)
            append_name(taken, dtype_name(other));
    }
    for (const attn_variant &other : attn_variants()) {
        if (other.dtypes & 1u << dtype)
            append_name(instead, other.name);
    }
    bad_input(std::string("variant ") + variant.name + " does not support --dtype " + dtype_name(dtype) +
              ": use " + taken + (instead.empty() ? "" : ", or a variant that supports it: " + instead));
}

bool parse_integer(const std::string &text, long long *value)
{
    char *end;
    errno = 0;
    *value = std::strtoll(text.c_str(), &end, 10);
    return errno == 0 && end != text.c_str() && *end == '\0';
}
} // namespace

bool arguments::next()
{
    if (has_value_)
        bad_input(name_ + " takes no value");
    if (at_ == words_.size())
        return false;
    name_ = words_[at_++];
    const size_t equals = name_.find('=');
    if (name_.rfind("--", 0) == 0 && equals != std::string::npos) {
        value_ = name_.substr(equals + 1);
        name_.resize(equals);
        has_value_ = true;
    }
    return true;
}

std::string arguments::text()
{
    if (!has_value_) {
        if (at_ == words_.size())
            bad_input(name_ + " needs a value");
        value_ = words_[at_++];
    }
    has_value_ = false;
    return value_;
}

int arguments::number(int least, int most)
{
    const std::string given = text();
    long long value;
    if (!parse_integer(given, &value) || value < least || value > most)
        bad_input(name_ + " " + given + ": must be a whole number from " + std::to_string(least) + " to " +
                  std::to_string(most));
    return static_cast<int>(value);
}

uint64_t arguments::seed()
{
    const std::string given = text();
    long long value;
    if (!parse_integer(given, &value) || value < 0)
        bad_input(name_ + " " + given + ": must be a whole number from 0");
    return static_cast<uint64_t>(value);
}

void arguments::unknown() const
{
    bad_input("unknown option " + name_ + ": see --help");
}

int token_limit()
{
    const char *text = std::getenv("GRETA_MAX_SEQ_LEN");
    long long limit;
    if (!text || !*text)
        return 0;
    if (!parse_integer(text, &limit) || limit < 1 || limit > 1 << 24)
        bad_input(std::string("GRETA_MAX_SEQ_LEN=") + text + ": must be a whole number from 1 to 16777216");
    return static_cast<int>(limit);
}

attn_dtype dtype_option(const std::string &text)
{
    for (const attn_dtype dtype : {ATTN_F32, ATTN_F16, ATTN_BF16}) {
        if (text == dtype_name(dtype))
            return dtype;
    }
    bad_input("--dtype " + text + ": must be f32, f16 or bf16");
}

bool heads_option(arguments &args, attn_shape &shape)
{
    if (args.is("--heads"))
        shape.q_heads = args.number(1, 4096);
    else if (args.is("--kv-heads"))
        shape.kv_heads = args.number(1, 4096);
    else if (args.is("--head-dim"))
        shape.head_dim = args.number(1, 1024);
    else if (args.is("--dtype"))
        shape.dtype = dtype_option(args.text());
    else if (args.is("--causal"))
        shape.causal = true;
    else if (args.is("--no-causal"))
        shape.causal = false;
    else
        return false;
    return true;
}

void require_device()
{
    int devices = 0;
    if (hipGetDeviceCount(&devices) != hipSuccess || devices == 0)
        throw failure{EXIT_FAILED, "no GPU that this build can use; builds with PLATFORM=cpu need none"};
}

const attn_variant &choose_variant(const std::string &wanted)
{
    if (!wanted.empty())
        return require_variant(wanted, "");
    if (const char *name = switched_on())
        return require_variant(name, "GRETA_PREFILL_*: ");
    if (attn_variants().size() == 1)
        return attn_variants().front();
    return require_variant("baseline", "none chosen: ");
}

void check_shape(const attn_shape &s, const attn_variant &variant)
{
    if (s.head_dim != 64 && s.head_dim != 128)
        bad_input("--head-dim " + std::to_string(s.head_dim) + ": must be 64 or 128");
    if (s.q_heads % s.kv_heads != 0)
        bad_input("--kv-heads " + std::to_string(s.kv_heads) + ": must divide --heads " +
                  std::to_string(s.q_heads));
    if (!(variant.dtypes & 1u << s.dtype))
        refuse_dtype(s.dtype, variant);

    const size_t needed = tensors::bytes(s, variant);
    require_room(needed,
                 "variant " + std::string(variant.name) + " at context " + std::to_string(s.seq) + " needs " +
                     gib(needed),
                 "lower --context or --heads");
}
