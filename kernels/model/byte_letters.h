// Byte-level BPE's mapping of bytes to printable characters, which makes a vocabulary text: printable Latin-1
// bytes map to themselves, the other 68 to U+0100 onwards, in order.
#pragma once

#include "model/utf8.h"

#include <array>
#include <string>

struct byte_letters {
    std::array<std::string, 256> letter; // UTF-8
    std::array<int, 0x144> byte;         // by code point; -1 where none maps to it

    byte_letters()
    {
        byte.fill(-1);
        uint32_t next = 0x100;
        for (int b = 0; b < 256; b++) {
            const bool itself = (b >= '!' && b <= '~') || (b >= 0xa1 && b != 0xad);
            const uint32_t code = itself ? static_cast<uint32_t>(b) : next++;
            utf8_put(letter[static_cast<size_t>(b)], code);
            byte[code] = b;
        }
    }
};
