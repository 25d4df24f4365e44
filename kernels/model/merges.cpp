#include "model/merges.h"

#include <cstdint>
#include <queue>

namespace
{
constexpr size_t none = SIZE_MAX;

struct piece {
    std::string_view text; // empty once merged into its predecessor
    size_t previous, next;
};

// A candidate is valid as long as both pieces have kept their lengths.
struct candidate {
    double worth;
    size_t left, right, bytes;

    bool operator<(const candidate &other) const
    {
        return worth < other.worth || (worth == other.worth && left > other.left);
    }
};

struct merger {
    const merge_worth &worth;
    std::vector<piece> pieces;
    std::priority_queue<candidate> queue;

    void propose(size_t left, size_t right)
    {
        if (left == none || right == none)
            return;
        const std::string_view a = pieces[left].text, b = pieces[right].text;
        if (const std::optional<double> w = worth(a, b))
            queue.push({*w, left, right, a.size() + b.size()});
    }

    void join(const candidate &c)
    {
        piece &left = pieces[c.left], &right = pieces[c.right];
        if (left.text.empty() || right.text.empty() || left.text.size() + right.text.size() != c.bytes ||
            left.next != c.right)
            return;
        left.text = {left.text.data(), c.bytes};
        right.text = {};
        left.next = right.next;
        if (right.next != none)
            pieces[right.next].previous = c.left;
        propose(left.previous, c.left);
        propose(c.left, left.next);
    }
};
} // namespace

std::vector<std::string_view> merge_symbols(const std::vector<std::string_view> &symbols,
                                            const merge_worth &worth)
{
    merger m{worth, {}, {}};
    for (size_t i = 0; i < symbols.size(); i++)
        m.pieces.push_back({symbols[i], i ? i - 1 : none, i + 1 < symbols.size() ? i + 1 : none});
    for (size_t i = 1; i < symbols.size(); i++)
        m.propose(i - 1, i);
    while (!m.queue.empty()) {
        const candidate best = m.queue.top();
        m.queue.pop();
        m.join(best);
    }
    std::vector<std::string_view> joined;
    for (const piece &p : m.pieces)
        if (!p.text.empty())
            joined.push_back(p.text);
    return joined;
}
