// The merge loop of byte-pair encoding: merges the best pair of neighbours until no pair can be merged.
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

// The priority of merging two neighbours, higher first, never NaN; nullopt when they must not be merged.
using merge_worth = std::function<std::optional<double>(std::string_view left, std::string_view right)>;

// `symbols` are adjacent views of one text, and so is the result. Ties go to the leftmost pair.
std::vector<std::string_view> merge_symbols(const std::vector<std::string_view> &symbols,
                                            const merge_worth &worth);
