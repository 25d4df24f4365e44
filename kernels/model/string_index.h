// Which of many strings is this one: a hash table of the numbers of strings that live elsewhere. For
// vocabularies and merges of a few hundred thousand entries, which are looked up more often than a general
// map would like.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

class string_index
{
  public:
    static constexpr uint32_t none = UINT32_MAX;

    // Room for `most` strings.
    explicit string_index(size_t most = 0)
    {
        size_t size = 16;
        while (size < 2 * most)
            size *= 2;
        slots_.assign(size, slot{0, none});
    }
    // The first of equal strings stays. `strings` is the list that `number` counts in.
    void add(const std::vector<std::string_view> &strings, uint32_t number)
    {
        const uint32_t h = hash(strings[number]);
        size_t i = place(strings, strings[number], h);
        if (slots_[i].number == none)
            slots_[i] = {h, number};
    }
    uint32_t find(const std::vector<std::string_view> &strings, std::string_view wanted) const
    {
        return slots_[place(strings, wanted, hash(wanted))].number;
    }

  private:
    struct slot {
        uint32_t hash, number;
    };

    static uint32_t hash(std::string_view s)
    {
        uint64_t h = s.size() * 0x9e3779b97f4a7c15u;
        for (size_t at = 0; at < s.size(); at += 8) {
            uint64_t part = 0;
            std::memcpy(&part, s.data() + at, s.size() - at < 8 ? s.size() - at : 8);
            h = (h ^ part) * 0xbf58476d1ce4e5b9u;
            h ^= h >> 32;
        }
        return static_cast<uint32_t>(h);
    }
    // Where it is, or the empty slot where it would be.
    size_t place(const std::vector<std::string_view> &strings, std::string_view wanted, uint32_t h) const
    {
        size_t i = h & (slots_.size() - 1);
        while (slots_[i].number != none && (slots_[i].hash != h || strings[slots_[i].number] != wanted))
            i = (i + 1) & (slots_.size() - 1);
        return i;
    }

    std::vector<slot> slots_;
};
