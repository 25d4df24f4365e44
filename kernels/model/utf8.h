// Decodes text that may not be valid UTF-8: a byte that starts no valid character is returned on its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

struct utf8_char {
    uint32_t code; // invalid_utf8 for an invalid byte
    size_t bytes;
};
constexpr uint32_t invalid_utf8 = 0xffffffffu;

// The character at `at` < text.size().
inline utf8_char utf8_at(std::string_view text, size_t at)
{
    static constexpr uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[at + i]); };
    const unsigned char head = byte(0);
    const size_t bytes = head < 0x80             ? 1
                         : (head & 0xe0) == 0xc0 ? 2
                         : (head & 0xf0) == 0xe0 ? 3
                         : (head & 0xf8) == 0xf0 ? 4
                                                 : 0;
    if (bytes == 0 || bytes > text.size() - at)
        return {invalid_utf8, 1};
    uint32_t code = bytes == 1 ? head : head & (0x7fu >> bytes);
    for (size_t i = 1; i < bytes; i++) {
        if ((byte(i) & 0xc0) != 0x80)
            return {invalid_utf8, 1};
        code = code << 6 | (byte(i) & 0x3fu);
    }
    const bool wrong = code < least[bytes] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff);
    return wrong ? utf8_char{invalid_utf8, 1} : utf8_char{code, bytes};
}

inline void utf8_put(std::string &text, uint32_t code)
{
    if (code < 0x80) {
        text += static_cast<char>(code);
        return;
    }
    const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    text += static_cast<char>((0xf00u >> (more + 1) & 0xf0u) | code >> 6 * more);
    for (int i = more - 1; i >= 0; i--)
        text += static_cast<char>(0x80u | (code >> 6 * i & 0x3fu));
}
