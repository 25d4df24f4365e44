// Splits a text into the words within which byte-level BPE merges: the regular expressions of two families of
// vocabularies, hand-coded alternative by alternative.
//   gpt2    's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
//   llama3  (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|
//           \s*[\r\n]+|\s+(?!\S)|\s+
// Letters and numbers are those of one version of Unicode (unicode_ranges.h). (?i:'s) also matches U+017F, by
// Unicode's case folding. A byte that is not valid UTF-8 is neither a letter, a number nor white space.
#pragma once

#include <string_view>
#include <vector>

enum pretokenizer { PRETOKENIZER_GPT2, PRETOKENIZER_LLAMA3 };

// The words, in order and without gaps; views of the text.
std::vector<std::string_view> pretokenize(pretokenizer kind, std::string_view text);
