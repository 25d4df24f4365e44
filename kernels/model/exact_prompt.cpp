// tokenizer::exact_prompt(): builds a prompt of exactly n tokens.
#include "base/failure.h"
#include "model/tokenizer.h"

namespace
{
const char *const sample_words[] = {
    "The",      "kernel", "reads",    "a",    "tile", "of",    "keys",     "and",   "one",    "of",
    "values,",  "then",   "the",      "next", "one;", "what",  "it",       "keeps", "is",     "a",
    "maximum,", "a",      "sum",      "and",  "the",  "rows",  "so",       "far.",  "A",      "run",
    "that",     "was",    "measured", "once", "is",   "an",    "opinion:", "we",    "repeat", "it,",
    "compare",  "it",     "with",     "the",  "last", "night", "and",      "write", "down",   "both."};

// Candidates for a filler: strings that may add exactly one token each time they are appended.
const char *const fillers[] = {" a", " the", "a", "x", ".", "\n", "!", "~"};
} // namespace

// Words that take at most `room` tokens. Counts word by word; the caller verifies the total.
std::string tokenizer::sample_text(size_t room) const
{
    constexpr size_t words = sizeof sample_words / sizeof *sample_words;
    const size_t around = (add_begin_ ? 1u : 0u) + (add_end_ ? 1u : 0u);
    std::string text;
    for (size_t i = 0;; i++) {
        const std::string word = std::string(i ? " " : "") + sample_words[i % words];
        const size_t mark = space_first_ && i ? 1 : 0; // encode() prepends another space
        const size_t tokens = encode(std::string_view(word).substr(mark)).size() - around;
        if (tokens > room)
            return text;
        text += word;
        room -= tokens;
    }
}

tokenizer::prompt tokenizer::exact_prompt(size_t n) const
{
    const size_t around = (add_begin_ ? 1u : 0u) + (add_end_ ? 1u : 0u);
    if (n < around || n == 0)
        bad_input("a prompt of " + std::to_string(n) + " tokens: the vocabulary alone adds " +
                  std::to_string(around));
    prompt made;
    const std::string base = sample_text(n - around);
    const size_t have = encode(base).size();
    for (const char *filler : fillers) {
        made.text = base;
        for (size_t i = have; i < n; i++)
            made.text += filler;
        made.ids = encode(made.text);
        if (made.ids.size() == n)
            return made;
    }
    made.ids.resize(n, made.ids.back());
    made.text = decode(made.ids);
    return made;
}
