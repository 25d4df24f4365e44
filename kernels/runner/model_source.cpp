#include "runner/model_source.h"
#include "base/failure.h"
#include "model/seeded.h"
#include "model/utf8.h"

#include <cstdio>

namespace
{
using tokens = std::vector<uint32_t>;

constexpr size_t most_prompt_bytes = 64u << 20;

std::string file_text(const std::string &path)
{
    std::FILE *file = std::fopen(path.c_str(), "rbe");
    if (!file)
        bad_input("--prompt-file " + path + ": cannot be read");
    std::string text;
    char part[65536];
    size_t got;
    while ((got = std::fread(part, 1, sizeof part, file)) > 0 && text.size() <= most_prompt_bytes)
        text.append(part, got);
    const bool whole = std::ferror(file) == 0;
    std::fclose(file);
    if (!whole)
        bad_input("--prompt-file " + path + ": cannot be read");
    if (text.size() > most_prompt_bytes)
        bad_input("--prompt-file " + path + ": is longer than 64 MiB");
    return text;
}

tokens seeded_prompt(const model_options &o, const model_shape &shape)
{
    tokens ids(static_cast<size_t>(o.context));
    for (size_t i = 0; i < ids.size(); i++)
        ids[i] = static_cast<uint32_t>(seeded_hash(seeded_hash(o.seed) + i) % shape.vocab);
    return ids;
}

// Escapes control characters and invalid UTF-8, so that the text is one line and cannot imitate other output.
std::string on_one_line(const std::string &text)
{
    std::string line;
    for (size_t at = 0; at < text.size();) {
        const utf8_char next = utf8_at(text, at);
        char escaped[8];
        std::snprintf(escaped, sizeof escaped, "\\x%02x", static_cast<unsigned char>(text[at]));
        const bool shown = next.code >= 0x20 && next.code != 0x7f && next.code != invalid_utf8;
        line += shown ? text.substr(at, next.bytes) : next.code == '\n' ? "\\n" : escaped;
        at += next.bytes;
    }
    return line;
}
} // namespace

model_source::model_source(const model_options &options) : options_(options)
{
    if (!options.model.empty()) {
        file_ = std::make_unique<model_file>(options.model);
        shape_ = file_->shape();
        words_ = std::make_unique<tokenizer>(file_->file(), shape_.vocab);
    } else if (!preset_shape(options.synthetic.c_str(), &shape_)) {
        bad_input("--synthetic " + options.synthetic + ": must be tiny, small or llama2-7b");
    }
}

void model_source::fill(model_weights &weights) const
{
    if (file_)
        weights.load(file_->tensors());
    else
        weights.make(options_.seed);
}

tokens model_source::prompt() const
{
    if (!words_)
        return seeded_prompt(options_, shape_);
    if (options_.context != 0)
        return words_->exact_prompt(static_cast<size_t>(options_.context)).ids;
    const tokens ids =
        words_->encode(options_.prompt_file.empty() ? options_.prompt : file_text(options_.prompt_file));
    if (ids.empty())
        bad_input("the prompt is empty: it has no token");
    return ids;
}

std::string model_source::name() const
{
    if (!file_)
        return options_.synthetic;
    return options_.model.substr(options_.model.rfind('/') + 1);
}

std::string model_source::text(const tokens &ids) const
{
    if (words_)
        return "text: " + on_one_line(words_->decode(ids));
    std::string text = "tokens:";
    for (const uint32_t id : ids)
        text += " " + std::to_string(id);
    return text;
}
