// Vocabularies that make-model learns: a counting program over a text of the project's own (corpus.inc), the
// same on every machine. They are small, but real: their tokens are parts of English words, and every text
// can be encoded.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

class gguf_writer;

enum vocabulary_kind { VOCABULARY_LLAMA, VOCABULARY_GPT2 };

// Learns a vocabulary of `size` tokens, at least 512, and describes it in the file's metadata. Where the text
// has no more to learn, tokens of type "unused" fill up.
void add_vocabulary(gguf_writer &file, vocabulary_kind kind, uint32_t size);

// Byte-pair encoding's training: what to join, most frequent first, equal counts by first appearance. Never
// more than `most`, and nothing that appears once. Words are lists of symbols.
struct learnt_merge {
    std::string left, right;
};
std::vector<learnt_merge> learn_merges(const std::vector<std::vector<std::string>> &words, size_t most);
