#include "model/pretokenize.h"
#include "model/unicode_ranges.h"
#include "model/utf8.h"

#include <algorithm>
#include <iterator>

namespace
{
template <size_t n> bool is_in(const unicode_range (&ranges)[n], uint32_t code)
{
    const auto *after =
        std::upper_bound(std::begin(ranges), std::end(ranges), code,
                         [](uint32_t c, const unicode_range &range) { return c < range.first; });
    return after != std::begin(ranges) && code <= std::prev(after)->last;
}

bool is_letter(uint32_t code)
{
    return is_in(unicode_letters, code);
}

bool is_number(uint32_t code)
{
    return is_in(unicode_numbers, code);
}

bool is_space(uint32_t code)
{
    return (code >= 9 && code <= 13) || code == ' ' || code == 0x85 || code == 0xa0 || code == 0x1680 ||
           (code >= 0x2000 && code <= 0x200a) || code == 0x2028 || code == 0x2029 || code == 0x202f ||
           code == 0x205f || code == 0x3000;
}

bool is_newline(uint32_t code)
{
    return code == '\n' || code == '\r';
}

bool is_other(uint32_t code)
{
    return !is_space(code) && !is_letter(code) && !is_number(code);
}

// A position in the text. Copy it to look ahead.
struct cursor {
    std::string_view text;
    size_t at;

    bool ended() const
    {
        return at == text.size();
    }
    bool is(bool what(uint32_t)) const
    {
        return !ended() && what(utf8_at(text, at).code);
    }
    void step()
    {
        at += utf8_at(text, at).bytes;
    }
    size_t skip(bool what(uint32_t), size_t most = SIZE_MAX)
    {
        size_t count = 0;
        for (; count < most && is(what); count++)
            step();
        return count;
    }
    bool take(char c)
    {
        const bool there = !ended() && text[at] == c;
        at += there;
        return there;
    }
};

// 's 't 're 've 'm 'll 'd. With case folding also U+017F, the long s.
bool take_contraction(cursor &c, bool fold)
{
    static constexpr std::string_view endings[] = {"s", "t", "re", "ve", "m", "ll", "d"};
    if (c.ended() || c.text[c.at] != '\'')
        return false;
    const std::string_view rest = c.text.substr(c.at + 1);
    const auto same = [fold](char have, char want) {
        return have == want || (fold && have >= 'A' && have <= 'Z' && have - 'A' + 'a' == want);
    };
    for (const std::string_view ending : endings)
        if (rest.size() >= ending.size() &&
            std::equal(ending.begin(), ending.end(), rest.begin(),
                       [&](char want, char have) { return same(have, want); })) {
            c.at += 1 + ending.size();
            return true;
        }
    if (!fold || rest.substr(0, 2) != "\xc5\xbf")
        return false;
    c.at += 3;
    return true;
}

// ` ?X+`
bool take_run(cursor &c, bool what(uint32_t))
{
    cursor ahead = c;
    ahead.take(' ');
    if (ahead.skip(what) == 0)
        return false;
    c = ahead;
    return true;
}

// `\s+(?!\S)|\s+`: white space, leaving its last character to a word that follows.
void take_space(cursor &c)
{
    const size_t start = c.at;
    size_t last = start;
    for (; c.is(is_space); c.step())
        last = c.at;
    if (!c.ended() && last > start)
        c.at = last;
}

void next_gpt2(cursor &c)
{
    if (take_contraction(c, false) || take_run(c, is_letter) || take_run(c, is_number) ||
        take_run(c, is_other))
        return;
    take_space(c);
}

// `[^\r\n\p{L}\p{N}]?\p{L}+`
bool take_led_letters(cursor &c)
{
    cursor ahead = c;
    if (!ahead.is(is_letter) && !ahead.is(is_newline) && !ahead.is(is_number) && !ahead.ended())
        ahead.step();
    if (ahead.skip(is_letter) == 0)
        return false;
    c = ahead;
    return true;
}

// `\s*[\r\n]+`: white space up to its last line break.
bool take_lines(cursor &c)
{
    cursor ahead = c;
    size_t end = 0;
    for (; ahead.is(is_space);) {
        const bool line = ahead.is(is_newline);
        ahead.step();
        end = line ? ahead.at : end;
    }
    c.at = end ? end : c.at;
    return end != 0;
}

void next_llama3(cursor &c)
{
    if (take_contraction(c, true) || take_led_letters(c) || c.skip(is_number, 3) > 0)
        return;
    if (take_run(c, is_other)) {
        c.skip(is_newline);
        return;
    }
    if (!take_lines(c))
        take_space(c);
}
} // namespace

std::vector<std::string_view> pretokenize(pretokenizer kind, std::string_view text)
{
    std::vector<std::string_view> words;
    for (cursor c{text, 0}; !c.ended();) {
        const size_t start = c.at;
        switch (kind) {
        case PRETOKENIZER_GPT2:
            next_gpt2(c);
            break;
        case PRETOKENIZER_LLAMA3:
            next_llama3(c);
            break;
        }
        words.push_back(text.substr(start, c.at - start));
    }
    return words;
}
