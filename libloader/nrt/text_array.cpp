// SPDX-License-Identifier: MIT
#include "text_array.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace neffld::nrt {

Result<void> make_text_array(const std::vector<std::string_view>& texts, const char*** array,
                             std::size_t* count) {
  auto** made = static_cast<const char**>(
      std::calloc(std::max<std::size_t>(texts.size(), 1), sizeof(const char*)));
  bool complete = made != nullptr;
  for (std::size_t i = 0; complete && i < texts.size(); ++i) {
    made[i] = strndup(texts[i].data(), texts[i].size());
    complete = made[i] != nullptr;
  }
  if (!complete) {
    free_text_array(made, texts.size());
    return fail(Status::resource, ErrorClass::resource, {}, "out of host memory");
  }
  *array = made;
  *count = texts.size();
  return {};
}

void free_text_array(const char** array, std::size_t count) noexcept {
  if (array == nullptr) return;
  for (std::size_t i = 0; i < count; ++i) std::free(const_cast<char*>(array[i]));
  std::free(array);
}

}  // namespace neffld::nrt
