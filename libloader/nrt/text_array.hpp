// SPDX-License-Identifier: MIT
// Arrays of texts for C callers, who may free each text and the array with free().
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "neffld/error.hpp"

namespace neffld::nrt {

/// Fills `*array` and `*count`. Error: NRT_RESOURCE; nothing is left allocated then.
Result<void> make_text_array(const std::vector<std::string_view>& texts, const char*** array,
                             std::size_t* count);
/// Frees such an array; NULL is allowed.
void free_text_array(const char** array, std::size_t count) noexcept;

}  // namespace neffld::nrt
