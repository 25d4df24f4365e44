// Tokenizers against ids derived by hand from the algorithms' descriptions.
#include "base/failure.h"
#include "model/byte_letters.h"
#include "model/merges.h"
#include "model/tokenizer.h"
#include "tests/tap.h"
#include "tests/vocabulary_by_spec.h"

#include <algorithm>
#include <cmath>

namespace
{
using ids = std::vector<uint32_t>;
using words = std::vector<std::string>;
using vocabulary = vocabulary_by_spec;

constexpr char mark[] = "\xe2\x96\x81";

std::string show(const ids &list)
{
    std::string text;
    for (const uint32_t id : list)
        text += std::to_string(id) + " ";
    return text;
}

std::string show(const words &list)
{
    std::string text;
    for (const std::string &word : list)
        text += "[" + word + "]";
    return text;
}

// ---- vocabularies ----

gguf_by_spec llama_file(const vocabulary &v)
{
    gguf_by_spec file;
    add_llama(file, v);
    return file;
}

// 0..255 the letters of the bytes, 256 <|endoftext|>, then what the merges give, in their order.
vocabulary gpt2_base()
{
    vocabulary v;
    const byte_letters letters;
    for (const std::string &letter : letters.letter)
        v.add(letter);
    v.add("<|endoftext|>", 0, 3);
    return v;
}

gguf_by_spec gpt2_file(vocabulary v, const words &merges, const char *pre)
{
    for (std::string merge : merges)
        v.add(merge.erase(merge.find(' '), 1));
    gguf_by_spec file;
    file.text("tokenizer.ggml.model", "gpt2");
    file.text("tokenizer.ggml.pre", pre);
    file.strings("tokenizer.ggml.tokens", v.tokens);
    file.numbers("tokenizer.ggml.token_type", gguf_by_spec::I32, v.types);
    file.strings("tokenizer.ggml.merges", merges);
    file.u32("tokenizer.ggml.bos_token_id", 256);
    file.u32("tokenizer.ggml.eos_token_id", 256);
    return file;
}

class opened
{
  public:
    explicit opened(const gguf_by_spec &written, uint32_t vocab = 0)
        : temporary_(written.bytes()), file_(temporary_.path),
          tokenizer_(file_,
                     vocab ? vocab : static_cast<uint32_t>(file_.strings("tokenizer.ggml.tokens").size()))
    {
    }
    const tokenizer *operator->() const
    {
        return &tokenizer_;
    }

  private:
    temporary_file temporary_;
    gguf_file file_;
    tokenizer tokenizer_;
};

void expect(tap &t, const tokenizer *k, const std::string &text, const ids &wanted, const std::string &name)
{
    const ids got = k->encode(text);
    t.check(got == wanted, name + ": encoded", "got " + show(got) + "for " + show(wanted));
    t.check(k->decode(got) == text, name + ": decoded", k->decode(got));
}

uint32_t byte_id(unsigned char byte)
{
    return 3u + byte;
}

// ---- llama ----

void test_llama(tap &t)
{
    vocabulary v = llama_base();
    const uint32_t space = v.add(mark, -10), a = v.add("a", -11), b = v.add("b", -12), c = v.add("c", -13);
    v.add("ab", -1);
    const uint32_t bc = v.add("bc", 0), abc = v.add("abc", -5), led = v.add(std::string(mark) + "a", -2);
    const uint32_t aa = v.add("aa", -3), two = v.add(std::string(mark) + mark, -4);
    v.add("cc", 9, 5); // unused: text never becomes it
    gguf_by_spec file = llama_file(v);
    const opened k(file);
    expect(t, k.operator->(), "abc", {1, led, bc}, "llama: the best score merges first");
    expect(t, k.operator->(), "a b", {1, led, space, b}, "llama: a space is a mark");
    expect(t, k.operator->(), "b  b", {1, space, b, two, b}, "llama: two spaces are one token");
    expect(t, k.operator->(), "baaa", {1, space, b, aa, a},
           "llama: of equal scores the leftmost merges first");
    expect(t, k.operator->(), "\xc3\xa9\n", {1, space, byte_id(0xc3), byte_id(0xa9), byte_id('\n')},
           "llama: a character without a token falls back to bytes");
    expect(t, k.operator->(), "\xff", {1, space, byte_id(0xff)}, "llama: an invalid byte is a byte token");
    expect(t, k.operator->(), "cc", {1, space, c, c}, "llama: text never becomes an unused token");
    const ids specials = k->encode("<s>");
    t.check(specials == ids{1, space, byte_id('<'), byte_id('s'), byte_id('>')},
            "llama: the name of a special token is text", show(specials));
    t.check(k->encode("") == ids{1} && k->decode({1, 2}).empty(),
            "llama: an empty text is only the begin token");
    t.check(k->piece(led) == " a" && k->piece(byte_id('\n')) == "\n" && k->piece(1).empty() &&
                k->piece(99999).empty(),
            "llama: piece() is the text of a token");
    t.check(k->ends(2) && !k->ends(1), "llama: ends() knows the end token");

    file.flag("tokenizer.ggml.add_space_prefix", false);
    file.flag("tokenizer.ggml.add_bos_token", false);
    file.flag("tokenizer.ggml.add_eos_token", true);
    const opened bare(file);
    t.check(bare->encode("abc") == ids{abc, 2} && bare->decode({abc, led}) == "abc a",
            "llama: add_space_prefix, add_bos_token and add_eos_token are honoured",
            show(bare->encode("abc")));
}

// ---- gpt2 ----

void test_gpt2(tap &t)
{
    const byte_letters letters;
    t.check(letters.letter[' '] == "\xc4\xa0" && letters.letter['\n'] == "\xc4\x8a" &&
                letters.letter['!'] == "!" && letters.letter[0xad] == "\xc5\x83" &&
                letters.letter[0xff] == "\xc3\xbf" && letters.byte[0x120] == ' ',
            "gpt2: bytes map to GPT-2's characters");
    const std::string space = letters.letter[' '];
    const words merges = {space + " t", "h e", space + "t he", "o f", "1 2", "a a"};
    const opened k(gpt2_file(gpt2_base(), merges, "gpt-2"));
    const tokenizer *gpt2 = k.operator->();
    expect(t, gpt2, " the", {259}, "gpt2: the lowest rank merges first");
    expect(t, gpt2, "the of", {'t', 258, ' ', 260}, "gpt2: a leading space belongs to the word");
    expect(t, gpt2, "aaaaa", {262, 262, 'a'}, "gpt2: of equal ranks the leftmost merges first");
    expect(t, gpt2, "123", {261, '3'}, "gpt2: a number is a word");
    expect(t, gpt2, "\xff\xc3\xa9", {0xff, 0xc3, 0xa9}, "gpt2: every byte has a token");
    const ids special = gpt2->encode("<|endoftext|>");
    t.check(special.size() > 1 && gpt2->decode(special) == "<|endoftext|>" &&
                std::count(special.begin(), special.end(), 256u) == 0,
            "gpt2: the name of a special token is text", show(special));
    t.check(gpt2->encode("").empty() && gpt2->ends(256),
            "gpt2: an empty text has no token, and 256 is the end");

    vocabulary v = gpt2_base();
    v.add("hello"); // a token that no merge produces
    const opened l(gpt2_file(v, merges, "llama-bpe"));
    expect(t, l.operator->(), "hello", {256, 257},
           "llama-bpe: a word that is a token is not merged, and a begin token is added");
    expect(t, l.operator->(), "hellos", {256, 259, 'l', 'l', 'o', 's'},
           "llama-bpe: a token that is only a part of a word is merged for");
}

void cut(tap &t, pretokenizer kind, const std::string &text, const words &wanted)
{
    words got;
    for (const std::string_view word : pretokenize(kind, text))
        got.emplace_back(word);
    t.check(got == wanted, (kind == PRETOKENIZER_GPT2 ? "gpt2 cuts " : "llama3 cuts ") + show(wanted),
            show(got));
}

void test_cuts(tap &t)
{
    const pretokenizer g = PRETOKENIZER_GPT2, l = PRETOKENIZER_LLAMA3;
    cut(t, g, "Hello world, it's 2024!", {"Hello", " world", ",", " it", "'s", " 2024", "!"});
    cut(t, g, "a   b", {"a", "  ", " b"});
    cut(t, g, "a \n\n b  ", {"a", " \n\n", " b", "  "});
    cut(t, g, "tab\tx", {"tab", "\t", "x"});
    cut(t, g, "we'll I'M", {"we", "'ll", " I", "'", "M"});
    cut(t, g, "x ...y", {"x", " ...", "y"});
    cut(t, g, "\xc3\xa9t\xc3\xa9 \xe4\xb8\xad\xe6\x96\x87 \xd9\xa3",
        {"\xc3\xa9t\xc3\xa9", " \xe4\xb8\xad\xe6\x96\x87", " \xd9\xa3"});
    cut(t, g, "a\xc2\xa0 b", {"a", "\xc2\xa0", " b"});
    cut(t, l, "Hello world, it's 2024!", {"Hello", " world", ",", " it", "'s", " ", "202", "4", "!"});
    cut(t, l, "I'M (x) $y", {"I", "'M", " (", "x", ")", " $", "y"});
    cut(t, l, "(x)", {"(x", ")"});
    cut(t, l, "a \n \n  b", {"a", " \n \n", " ", " b"});
    cut(t, l, "x;\n\ny", {"x", ";\n\n", "y"});
    cut(t, l, "a   b ", {"a", "  ", " b", " "});
    cut(t, l, "12345", {"123", "45"});
    cut(t, l, "\tx\r\n", {"\tx", "\r\n"});
}

// ---- prompts ----

// `least`: the tokens of the shortest non-empty text.
void exact(tap &t, const tokenizer *k, size_t least, const std::string &name)
{
    bool right = true, text = true;
    for (const size_t n : {1u, 2u, 3u, 7u, 64u, 513u, 4096u}) {
        const tokenizer::prompt prompt = k->exact_prompt(n);
        right = right && prompt.ids.size() == n;
        text = text && (n < least || k->encode(prompt.text) == prompt.ids);
    }
    t.check(right, name + ": exact_prompt() gives exactly n tokens");
    t.check(text, name + ": exact_prompt()'s text encodes to its ids");
}

void test_prompts(tap &t)
{
    const opened bytes(llama_file(llama_base()));
    exact(t, bytes.operator->(), 1 + 3 + 1, "a vocabulary of bytes");
    vocabulary v = llama_base();
    for (const char *token : {"t", "h", "e", "th", "the", "a", "n", "d", "an", "and"})
        v.add(token, -static_cast<float>(v.tokens.size()));
    for (const char *token : {"", "a", "the", "and"})
        v.add(mark + std::string(token), -static_cast<float>(v.tokens.size()));
    const opened some(llama_file(v));
    exact(t, some.operator->(), 1, "a vocabulary with words");
    const opened gpt2(gpt2_file(gpt2_base(), {"t h", "th e", "a a", "x x", ". ."}, "gpt-2"));
    exact(t, gpt2.operator->(), 1, "a byte-level vocabulary");
    try {
        bytes->exact_prompt(0);
        t.check(false, "a prompt of 0 tokens is refused", "no error");
    } catch (const failure &f) {
        t.check(f.code == EXIT_BAD_INPUT, "a prompt of 0 tokens is refused");
    }
}

// ---- refusals ----

void refused(tap &t, const gguf_by_spec &file, const std::vector<std::string> &parts, const std::string &name,
             uint32_t vocab = 0)
{
    try {
        const opened k(file, vocab);
        t.check(false, "refused: " + name, "it was accepted");
    } catch (const failure &f) {
        bool all = f.code == EXIT_BAD_INPUT;
        for (const std::string &part : parts)
            all = all && f.message.find(part) != std::string::npos;
        t.check(all, "refused: " + name, f.message);
    }
}

void rename_key(gguf_by_spec &file, const std::string &from)
{
    file.metadata[file.metadata.find(from)] = 'T';
}

void test_refusals(tap &t)
{
    const gguf_by_spec llama = llama_file(llama_base()), gpt2 = gpt2_file(gpt2_base(), {"a b"}, "gpt-2");
    gguf_by_spec f = llama;
    for (const char *key : {"bos_token_id", "eos_token_id", "tokens", "scores", "model"}) {
        f = llama;
        rename_key(f, std::string("tokenizer.ggml.") + key);
        refused(t, f, {std::string("tokenizer.ggml.") + key}, std::string("a vocabulary without ") + key);
    }
    f = llama;
    f.metadata.replace(f.metadata.size() - 4, 4, std::string("\x03\x01\x00\x00", 4));
    refused(t, f, {"eos_token_id is 259", "0..258"}, "a special token outside of the vocabulary");
    refused(t, llama, {"259 tokens", "the model has 300"}, "a vocabulary of another size than the model's",
            300);
    vocabulary v = llama_base();
    v.tokens[3 + 0x41] = "A";
    refused(t, llama_file(v), {"<0x41>"}, "a llama vocabulary without the token of a byte");
    v = llama_base();
    v.scores.pop_back();
    refused(t, llama_file(v), {"scores has 258"}, "too few scores");
    v = llama_base();
    v.scores[7] = NAN;
    refused(t, llama_file(v), {"entry 7"}, "a score that is NaN");
    v = llama_base();
    v.types.push_back(1);
    refused(t, llama_file(v), {"token_type has 260"}, "too many types");
    v = gpt2_base();
    v.tokens['A'] = "AA";
    refused(t, gpt2_file(v, {"a b"}, "gpt-2"), {"<0x41>"},
            "a gpt2 vocabulary without the character of a byte");
    refused(t, gpt2_file(gpt2_base(), {"a b"}, "deepseek-coder"), {"\"deepseek-coder\"", "llama-bpe"},
            "an unsupported pre-tokenizer");
    f = gpt2;
    rename_key(f, "tokenizer.ggml.merges");
    refused(t, f, {"tokenizer.ggml.merges"}, "a gpt2 vocabulary without merges");
    f = gguf_by_spec();
    f.text("tokenizer.ggml.model", "bert");
    refused(t, f, {"\"bert\""}, "an unsupported tokenizer", 1);
}

// The worst case for merging must take about n log n steps; a quadratic algorithm would not end.
void test_long_text(tap &t)
{
    vocabulary v = llama_base();
    std::string token = "a";
    for (int i = 0; i < 12; i++, token += token)
        v.add(token, -static_cast<float>(i));
    const opened k(llama_file(v));
    const size_t got = k->encode(std::string(1 << 17, 'a')).size();
    t.check(got == 1 + 3 + (1 << 17 >> 11), "131072 equal letters are encoded", std::to_string(got));
}

void test_all(tap &t)
{
    test_llama(t);
    test_gpt2(t);
    test_cuts(t);
    test_prompts(t);
    test_refusals(t);
    test_long_text(t);
}
} // namespace

int main(int argc, char **argv)
{
    return run_tests("tokenizer", test_all, argc, argv);
}
