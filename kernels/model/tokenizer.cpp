#include "model/tokenizer.h"
#include "model/merges.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace
{
constexpr std::string_view space_mark = "\xe2\x96\x81"; // U+2581

const std::string prefix = "tokenizer.ggml.";

struct known_cut {
    const char *name;
    pretokenizer kind;
    bool whole_words_first; // a word that is itself a token is not merged
};

// Values of tokenizer.ggml.pre. Files without the key predate it and use GPT-2's.
const known_cut known_cuts[] = {
    {"default", PRETOKENIZER_GPT2, false},    {"gpt-2", PRETOKENIZER_GPT2, false},
    {"llama-bpe", PRETOKENIZER_LLAMA3, true}, {"llama3", PRETOKENIZER_LLAMA3, true},
    {"llama-v3", PRETOKENIZER_LLAMA3, true},
};

std::string byte_name(int byte)
{
    char name[8];
    std::snprintf(name, sizeof name, "<0x%02X>", static_cast<unsigned>(byte));
    return name;
}

std::vector<std::string_view> characters(std::string_view text)
{
    std::vector<std::string_view> list;
    for (size_t at = 0; at < text.size(); at += list.back().size())
        list.push_back(text.substr(at, utf8_at(text, at).bytes));
    return list;
}

std::string with_marks(std::string_view text, bool space_first)
{
    std::string marked(space_first ? space_mark : "");
    for (const char c : text)
        c == ' ' ? (void)marked.append(space_mark) : marked.push_back(c);
    return marked;
}

std::string without_marks(std::string_view token)
{
    std::string text;
    for (size_t at = 0; at < token.size();) {
        const bool mark = token.substr(at, space_mark.size()) == space_mark;
        text += mark ? ' ' : token[at];
        at += mark ? space_mark.size() : 1;
    }
    return text;
}
} // namespace

tokenizer::tokenizer(const gguf_file &file, uint32_t vocab) : file_(file)
{
    const std::string model = file.text(prefix + "model");
    if (model != "llama" && model != "gpt2")
        file.refuse("unsupported tokenizer \"" + model + "\" (tokenizer.ggml.model): use llama or gpt2");
    byte_level_ = model == "gpt2";
    read_tokens(vocab);
    byte_level_ ? open_gpt2() : open_llama();
    read_special();
}

void tokenizer::read_tokens(uint32_t vocab)
{
    tokens_ = file_.strings(prefix + "tokens");
    if (tokens_.size() != vocab)
        file_.refuse("tokenizer.ggml.tokens has " + std::to_string(tokens_.size()) +
                     " tokens, but the model has " + std::to_string(vocab));
    if (file_.has(prefix + "token_type"))
        types_ = file_.integers(prefix + "token_type");
    if (!types_.empty() && types_.size() != tokens_.size())
        file_.refuse("tokenizer.ggml.token_type has " + std::to_string(types_.size()) + " entries for " +
                     std::to_string(tokens_.size()) + " tokens");
    index_ = string_index(tokens_);
}

tokenizer::token_type tokenizer::type(uint32_t id) const
{
    return types_.empty() ? NORMAL : static_cast<token_type>(types_[id]);
}

// The id of a token that may come from text, or string_index::none.
uint32_t tokenizer::find(std::string_view token) const
{
    const uint32_t id = index_.find(tokens_, token);
    const bool text = id != string_index::none && (type(id) == NORMAL || type(id) == USER_DEFINED);
    return text ? id : string_index::none;
}

void tokenizer::open_llama()
{
    scores_ = file_.floats(prefix + "scores");
    if (scores_.size() != tokens_.size())
        file_.refuse("tokenizer.ggml.scores has " + std::to_string(scores_.size()) + " entries for " +
                     std::to_string(tokens_.size()) + " tokens");
    for (size_t id = 0; id < scores_.size(); id++)
        if (std::isnan(scores_[id]))
            file_.refuse("tokenizer.ggml.scores: entry " + std::to_string(id) + " is not a number");
    for (int byte = 0; byte < 256; byte++) {
        bytes_[static_cast<size_t>(byte)] = index_.find(tokens_, byte_name(byte));
        if (bytes_[static_cast<size_t>(byte)] == string_index::none)
            file_.refuse("tokenizer.ggml.tokens: no token " + byte_name(byte) +
                         ", which other text falls back to");
    }
    space_first_ = !file_.has(prefix + "add_space_prefix") || file_.flag(prefix + "add_space_prefix");
}

void tokenizer::open_gpt2()
{
    merges_ = file_.strings(prefix + "merges");
    merge_index_ = string_index(merges_);
    for (int byte = 0; byte < 256; byte++) {
        bytes_[static_cast<size_t>(byte)] = find(letters_.letter[static_cast<size_t>(byte)]);
        if (bytes_[static_cast<size_t>(byte)] == string_index::none)
            file_.refuse("tokenizer.ggml.tokens: no token for the byte " + byte_name(byte) + " (" +
                         letters_.letter[static_cast<size_t>(byte)] + ")");
    }
    const std::string cut = file_.has(prefix + "pre") ? file_.text(prefix + "pre") : "default";
    for (const known_cut &known : known_cuts)
        if (cut == known.name) {
            pretokenizer_ = known.kind;
            whole_words_first_ = known.whole_words_first;
            return;
        }
    file_.refuse("unsupported pre-tokenizer \"" + cut + "\" (tokenizer.ggml.pre): use gpt-2 or llama-bpe");
}

uint32_t tokenizer::special(const std::string &name) const
{
    const std::string key = prefix + name;
    if (!file_.has(key))
        file_.refuse("no metadata key " + key + ": a vocabulary without its special tokens cannot be used");
    return static_cast<uint32_t>(file_.number(key, 0, tokens_.size() - 1));
}

// Unless the file says otherwise, Llama's vocabularies start a text with a token; GPT-2's do not.
void tokenizer::read_special()
{
    const auto flag_or = [this](const char *name, bool otherwise) {
        return file_.has(prefix + name) ? file_.flag(prefix + name) : otherwise;
    };
    end_ = special("eos_token_id");
    add_begin_ = flag_or("add_bos_token", !byte_level_ || pretokenizer_ == PRETOKENIZER_LLAMA3);
    add_end_ = flag_or("add_eos_token", false);
    if (add_begin_ || file_.has(prefix + "bos_token_id"))
        begin_ = special("bos_token_id");
}

std::vector<uint32_t> tokenizer::encode(std::string_view text) const
{
    std::vector<uint32_t> ids;
    if (add_begin_)
        ids.push_back(*begin_);
    if (!text.empty())
        byte_level_ ? encode_gpt2(text, ids) : encode_llama(text, ids);
    if (add_end_)
        ids.push_back(end_);
    return ids;
}

void tokenizer::encode_llama(std::string_view text, std::vector<uint32_t> &ids) const
{
    const std::string marked = with_marks(text, space_first_);
    const auto worth = [this](std::string_view left, std::string_view right) -> std::optional<double> {
        const uint32_t id = find({left.data(), left.size() + right.size()});
        if (id == string_index::none)
            return {};
        return scores_[id];
    };
    for (const std::string_view symbol : merge_symbols(characters(marked), worth)) {
        const uint32_t id = find(symbol);
        if (id != string_index::none)
            ids.push_back(id);
        else
            for (const char c : symbol)
                ids.push_back(bytes_[static_cast<unsigned char>(c)]);
    }
}

void tokenizer::encode_gpt2(std::string_view text, std::vector<uint32_t> &ids) const
{
    std::string letters;
    for (const std::string_view word : pretokenize(pretokenizer_, text)) {
        letters.clear();
        for (const char c : word)
            letters += letters_.letter[static_cast<unsigned char>(c)];
        encode_word(letters, ids);
    }
}

void tokenizer::encode_word(std::string_view letters, std::vector<uint32_t> &ids) const
{
    const uint32_t whole = find(letters);
    if (whole_words_first_ && whole != string_index::none) {
        ids.push_back(whole);
        return;
    }
    std::string pair;
    const auto worth = [&](std::string_view left, std::string_view right) -> std::optional<double> {
        pair.assign(left).append(" ").append(right);
        const uint32_t rank = merge_index_.find(merges_, pair);
        if (rank == string_index::none)
            return {};
        return -static_cast<double>(rank);
    };
    for (const std::string_view symbol : merge_symbols(characters(letters), worth)) {
        const uint32_t id = find(symbol);
        if (id != string_index::none)
            ids.push_back(id);
        else // a merge whose result is not a token
            for (const std::string_view letter : characters(symbol))
                ids.push_back(find(letter));
    }
}

std::string tokenizer::piece(uint32_t id) const
{
    if (id >= tokens_.size() || type(id) == CONTROL || type(id) == UNKNOWN || type(id) == UNUSED)
        return "";
    const auto byte = std::find(bytes_.begin(), bytes_.end(), id);
    if (byte != bytes_.end())
        return std::string(1, static_cast<char>(byte - bytes_.begin()));
    return byte_level_ ? without_letters(tokens_[id]) : without_marks(tokens_[id]);
}

// A character that maps to no byte is literal: manually added tokens are plain text.
std::string tokenizer::without_letters(std::string_view token) const
{
    std::string text;
    for (const std::string_view c : characters(token)) {
        const uint32_t code = utf8_at(c, 0).code;
        const int byte = code < letters_.byte.size() ? letters_.byte[code] : -1;
        text += byte >= 0 ? std::string(1, static_cast<char>(byte)) : std::string(c);
    }
    return text;
}

std::string tokenizer::decode(const std::vector<uint32_t> &ids) const
{
    std::string text;
    for (const uint32_t id : ids)
        text += piece(id);
    if (space_first_ && !text.empty() && text[0] == ' ')
        text.erase(0, 1);
    return text;
}
