// Cuts a text into the words that byte-level BPE merges within: the regular expressions of two families of
// vocabularies, written out by hand, alternative by alternative.
//   gpt2    's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
//   llama3  (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|
//           \s*[\r\n]+|\s+(?!\S)|\s+
// Letters and numbers are those of one version of Unicode (unicode_ranges.h). (?i:'s) also takes U+017F, as
// Unicode's case folding says. A byte that is no UTF-8 is neither letter, number nor white space.
#pragma once

#include <string_view>
#include <vector>

enum pretokenizer { PRETOKENIZER_GPT2, PRETOKENIZER_LLAMA3 };

// The words, in order and without gaps; views of the text.
std::vector<std::string_view> pretokenize(pretokenizer kind, std::string_view text);
