// The loop that all byte-pair encodings share: of all neighbours that may be joined, join the best, until
// none may.
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

// What joining two neighbours is worth; nothing when they may not be. More is better, and no NaN.
using merge_worth = std::function<std::optional<double>(std::string_view left, std::string_view right)>;

// `symbols` are neighbouring views of one text; so is the result. Of equals the leftmost goes first.
std::vector<std::string_view> merge_symbols(const std::vector<std::string_view> &symbols,
                                            const merge_worth &worth);
