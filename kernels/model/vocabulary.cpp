#include "model/vocabulary.h"
#include "model/byte_letters.h"
#include "model/gguf_writer.h"
#include "model/pretokenize.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

namespace
{
const char corpus[] =
#include "model/corpus.inc"
    ;

using symbols = std::vector<std::string>;

// GGUF's token types.
enum { NORMAL = 1, UNKNOWN = 2, CONTROL = 3, UNUSED = 5, BYTE = 6 };

struct vocabulary {
    std::vector<std::string> tokens;
    std::vector<float> scores;
    std::vector<int32_t> types;

    void add(const std::string &token, float score, int32_t type)
    {
        tokens.push_back(token);
        scores.push_back(score);
        types.push_back(type);
    }
    void fill_up(uint32_t size)
    {
        while (tokens.size() < size)
            add("<unused_" + std::to_string(tokens.size()) + ">", 0, UNUSED);
    }
};

// A word of the corpus as symbol numbers, and its frequency.
struct counted_word {
    std::vector<uint32_t> symbols;
    uint64_t count;
};

class merge_trainer
{
  public:
    explicit merge_trainer(const std::vector<symbols> &words)
    {
        std::map<symbols, size_t> places;
        for (const symbols &word : words) {
            const auto [place, fresh] = places.emplace(word, words_.size());
            if (fresh)
                words_.push_back({numbers(word), 0});
            words_[place->second].count++;
        }
        for (const counted_word &word : words_)
            count_pairs(word, true);
    }

    bool learn_one(learnt_merge &merge)
    {
        const uint64_t best = most_frequent();
        if (best == 0)
            return false;
        const auto left = static_cast<uint32_t>(best >> 32), right = static_cast<uint32_t>(best);
        merge = {names_[left], names_[right]};
        const uint32_t joined = number(names_[left] + names_[right]);
        for (counted_word &word : words_) {
            if (!has(word.symbols, left, right))
                continue;
            count_pairs(word, false);
            join(word.symbols, left, right, joined);
            count_pairs(word, true);
        }
        return true;
    }

  private:
    uint32_t number(const std::string &name)
    {
        const auto [place, fresh] = numbers_.emplace(name, names_.size());
        if (fresh)
            names_.push_back(name);
        return place->second;
    }
    std::vector<uint32_t> numbers(const symbols &word)
    {
        std::vector<uint32_t> list;
        for (const std::string &symbol : word)
            list.push_back(number(symbol));
        return list;
    }
    // Adds a word's pairs to the counts, or subtracts them.
    void count_pairs(const counted_word &word, bool add)
    {
        for (size_t i = 1; i < word.symbols.size(); i++) {
            uint64_t &count = counts_[static_cast<uint64_t>(word.symbols[i - 1]) << 32 | word.symbols[i]];
            count += add ? word.count : -word.count;
        }
    }
    static bool has(const std::vector<uint32_t> &word, uint32_t left, uint32_t right)
    {
        for (size_t i = 1; i < word.size(); i++)
            if (word[i - 1] == left && word[i] == right)
                return true;
        return false;
    }
    // The pair, left symbol in the upper half; ties go to the smaller numbers, which appeared first. 0 if no
    // pair occurs twice. The pair of symbol 0 with itself is 0 too and is therefore never learnt, which does
    // no harm.
    uint64_t most_frequent() const
    {
        uint64_t best = 0, most = 1;
        for (const auto &[pair, count] : counts_)
            if (count > most || (count == most && most > 1 && pair < best)) {
                best = pair;
                most = count;
            }
        return best;
    }
    static void join(std::vector<uint32_t> &word, uint32_t left, uint32_t right, uint32_t joined)
    {
        size_t to = 0;
        for (size_t from = 0; from < word.size(); from++, to++) {
            const bool pair = from + 1 < word.size() && word[from] == left && word[from + 1] == right;
            word[to] = pair ? joined : word[from];
            from += pair;
        }
        word.resize(to);
    }

    std::vector<counted_word> words_;
    std::unordered_map<uint64_t, uint64_t> counts_;
    std::vector<std::string> names_;
    std::map<std::string, uint32_t> numbers_;
};

// Words as in SentencePiece: each begins with the space mark; line breaks are left to the byte tokens.
std::vector<symbols> marked_words()
{
    std::vector<symbols> words;
    for (const char *c = corpus; *c; c++) {
        const bool space = *c == ' ' || *c == '\n';
        if (space || words.empty())
            words.push_back({"\xe2\x96\x81"});
        if (!space)
            words.back().emplace_back(1, *c);
    }
    return words;
}

std::vector<symbols> byte_words(const byte_letters &letters)
{
    std::vector<symbols> words;
    for (const std::string_view word : pretokenize(PRETOKENIZER_GPT2, corpus)) {
        words.emplace_back();
        for (const char c : word)
            words.back().push_back(letters.letter[static_cast<unsigned char>(c)]);
    }
    return words;
}

// In SentencePiece's order: special tokens, bytes, merges with falling scores, single characters.
vocabulary llama_vocabulary(uint32_t size)
{
    vocabulary v;
    v.add("<unk>", 0, UNKNOWN);
    v.add("<s>", 0, CONTROL);
    v.add("</s>", 0, CONTROL);
    for (unsigned byte = 0; byte < 256; byte++) {
        char name[8];
        std::snprintf(name, sizeof name, "<0x%02X>", byte);
        v.add(name, 0, BYTE);
    }
    const std::vector<symbols> words = marked_words();
    std::set<std::string> characters, known;
    for (const symbols &word : words)
        characters.insert(word.begin(), word.end());
    float score = 0;
    for (const learnt_merge &merge : learn_merges(words, size - v.tokens.size() - characters.size()))
        if (known.insert(merge.left + merge.right).second)
            v.add(merge.left + merge.right, score--, NORMAL);
    for (const std::string &character : characters)
        v.add(character, score--, NORMAL);
    v.fill_up(size);
    return v;
}

void add_llama(gguf_writer &file, uint32_t size)
{
    const vocabulary v = llama_vocabulary(size);
    file.add_text("tokenizer.ggml.model", "llama");
    file.add_strings("tokenizer.ggml.tokens", v.tokens);
    file.add_floats("tokenizer.ggml.scores", v.scores);
    file.add_integers("tokenizer.ggml.token_type", v.types);
    file.add_number("tokenizer.ggml.bos_token_id", 1);
    file.add_number("tokenizer.ggml.eos_token_id", 2);
    file.add_number("tokenizer.ggml.unknown_token_id", 0);
    file.add_flag("tokenizer.ggml.add_bos_token", true);
    file.add_flag("tokenizer.ggml.add_eos_token", false);
}

// As in GPT-2: the bytes' characters, the results of the merges, one special token.
void add_gpt2(gguf_writer &file, uint32_t size)
{
    const byte_letters letters;
    vocabulary v;
    for (const std::string &letter : letters.letter)
        v.add(letter, 0, NORMAL);
    std::vector<std::string> merges;
    std::set<std::string> known;
    for (const learnt_merge &merge : learn_merges(byte_words(letters), size - v.tokens.size() - 1)) {
        merges.push_back(merge.left + " " + merge.right);
        if (known.insert(merge.left + merge.right).second)
            v.add(merge.left + merge.right, 0, NORMAL);
    }
    const auto end = static_cast<uint32_t>(v.tokens.size());
    v.add("<|endoftext|>", 0, CONTROL);
    v.fill_up(size);
    file.add_text("tokenizer.ggml.model", "gpt2");
    file.add_text("tokenizer.ggml.pre", "gpt-2");
    file.add_strings("tokenizer.ggml.tokens", v.tokens);
    file.add_integers("tokenizer.ggml.token_type", v.types);
    file.add_strings("tokenizer.ggml.merges", merges);
    file.add_number("tokenizer.ggml.bos_token_id", end);
    file.add_number("tokenizer.ggml.eos_token_id", end);
}
} // namespace

std::vector<learnt_merge> learn_merges(const std::vector<std::vector<std::string>> &words, size_t most)
{
    merge_trainer trainer(words);
    std::vector<learnt_merge> merges;
    learnt_merge merge;
    while (merges.size() < most && trainer.learn_one(merge))
        merges.push_back(merge);
    return merges;
}

void add_vocabulary(gguf_writer &file, vocabulary_kind kind, uint32_t size)
{
    switch (kind) {
    case VOCABULARY_LLAMA:
        return add_llama(file, size);
    case VOCABULARY_GPT2:
        return add_gpt2(file, size);
    }
}
