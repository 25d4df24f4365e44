// Converts text to token ids and back, using the vocabulary in a GGUF file.
//   llama  SentencePiece BPE: spaces become U+2581, the best score merges first, the fallback is bytes <0xNN>
//   gpt2   byte-level BPE: a regular expression splits words (pretokenize.h), the lowest rank merges first
// Text is only text: names of special tokens in it have no meaning. User-defined tokens merge like others.
// The constructor throws bad input for a vocabulary that cannot encode every text or lacks its special
// tokens. The file must outlive the tokenizer.
#pragma once

#include "model/byte_letters.h"
#include "model/gguf_file.h"
#include "model/pretokenize.h"
#include "model/string_index.h"

#include <optional>

class tokenizer
{
  public:
    // `vocab`: the model's number of embedding rows; the vocabulary must have as many tokens.
    tokenizer(const gguf_file &file, uint32_t vocab);

    // Includes the begin and end tokens that the vocabulary asks for.
    std::vector<uint32_t> encode(std::string_view text) const;

    // The bytes that a token stands for, possibly only a part of a character; empty for control tokens.
    std::string piece(uint32_t id) const;

    // Decodes a whole text: removes the space that encode() prepends.
    std::string decode(const std::vector<uint32_t> &ids) const;

    struct prompt {
        std::vector<uint32_t> ids;
        std::string text;
    };
    // A prompt of exactly n >= 1 ids: English words, then a filler of one token each, so that the text
    // encodes to the ids. For a vocabulary without such a filler the ids are truncated, and the text is what
    // they decode to.
    prompt exact_prompt(size_t n) const;

    size_t size() const
    {
        return tokens_.size();
    }
    bool ends(uint32_t id) const // the token that ends a text
    {
        return id == end_;
    }

  private:
    enum token_type : int32_t {
        NORMAL = 1,
        UNKNOWN,
        CONTROL,
        USER_DEFINED,
        UNUSED,
        BYTE
    }; // the format's numbers

    void read_tokens(uint32_t vocab);
    void read_special();
    void open_llama();
    void open_gpt2();
    uint32_t special(const std::string &name) const;
    token_type type(uint32_t id) const;
    uint32_t find(std::string_view token) const;
    void encode_llama(std::string_view text, std::vector<uint32_t> &ids) const;
    void encode_gpt2(std::string_view text, std::vector<uint32_t> &ids) const;
    void encode_word(std::string_view letters, std::vector<uint32_t> &ids) const;
    std::string without_letters(std::string_view token) const;
    std::string sample_text(size_t room) const;

    const gguf_file &file_;
    bool byte_level_ = false; // gpt2
    std::vector<std::string_view> tokens_, merges_;
    std::vector<int32_t> types_;
    std::vector<float> scores_;
    string_index index_, merge_index_;
    std::array<uint32_t, 256> bytes_{}; // the token of each byte
    byte_letters letters_;
    pretokenizer pretokenizer_ = PRETOKENIZER_GPT2;
    bool whole_words_first_ = false, space_first_ = false;
    std::optional<uint32_t> begin_;
    uint32_t end_ = 0;
    bool add_begin_ = false, add_end_ = false;
};
