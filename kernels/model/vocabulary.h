// The vocabularies of make-model, trained by BPE on an embedded text (corpus.inc), identical on every
// machine. They are small but real: their tokens are parts of English words, and every text can be encoded.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

class gguf_writer;

enum vocabulary_kind { VOCABULARY_LLAMA, VOCABULARY_GPT2 };

// Trains a vocabulary of `size` >= 512 tokens and writes it to the file's metadata. If the text yields fewer,
// tokens of type "unused" fill the rest.
void add_vocabulary(gguf_writer &file, vocabulary_kind kind, uint32_t size);

// BPE training: the merges, most frequent pair first, ties by first appearance; at most `most`, and no pair
// that occurs only once. Words are lists of symbols.
struct learnt_merge {
    std::string left, right;
};
std::vector<learnt_merge> learn_merges(const std::vector<std::vector<std::string>> &words, size_t most);
