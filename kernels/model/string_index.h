// A hash table from strings, stored elsewhere, to their indices. For vocabularies and merges of a few hundred
// thousand entries, which are looked up too often for a general-purpose map.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

class string_index
{
  public:
    static constexpr uint32_t none = UINT32_MAX;

    string_index() : slots_(1, slot{0, none})
    {
    }
    // Of equal strings the first is found. find() must be given the same list.
    explicit string_index(const std::vector<std::string_view> &strings)
    {
        size_t size = 1;
        while (3 * size < 4 * strings.size() + 4)
            size *= 2;
        slots_.assign(size, slot{0, none});
        std::vector<uint32_t> hashes(strings.size());
        for (size_t i = 0; i < strings.size(); i++)
            hashes[i] = hash(strings[i]);
        for (size_t i = 0; i < strings.size(); i++) {
            if (i + ahead < strings.size()) // building is bound by memory latency
                __builtin_prefetch(&slots_[hashes[i + ahead] & (size - 1)]);
            slot &place = slots_[find_place(strings, strings[i], hashes[i])];
            if (place.number == none)
                place = {hashes[i], static_cast<uint32_t>(i)};
        }
    }
    uint32_t find(const std::vector<std::string_view> &strings, std::string_view wanted) const
    {
        return slots_[find_place(strings, wanted, hash(wanted))].number;
    }

  private:
    static constexpr size_t ahead = 12;

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
    // The string's slot, or the empty slot where it would be inserted.
    size_t find_place(const std::vector<std::string_view> &strings, std::string_view wanted, uint32_t h) const
    {
        size_t i = h & (slots_.size() - 1);
        while (slots_[i].number != none && (slots_[i].hash != h || strings[slots_[i].number] != wanted))
            i = (i + 1) & (slots_.size() - 1);
        return i;
    }

    std::vector<slot> slots_;
};
