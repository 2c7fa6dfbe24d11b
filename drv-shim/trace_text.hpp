// SPDX-License-Identifier: MIT
// Calls in words, for `trace show`, dry runs and messages.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "command_table.hpp"
#include "neffld/trace.hpp"

namespace neffld::shim {

/// `text` with controls, line ends, writing direction marks and what is no UTF-8 escaped.
std::string printable(std::string_view text);
/// "MEM_FREE", or "unknown command 0x...".
std::string command_name(std::uint32_t command);
/// "0", "-ENOMEM", "+40" (the driver's own positive result).
std::string result_name(int result);
/// A field of the argument in words.
std::string value_of(const CommandField& field, std::uint32_t offset, Bytes argument);
/// A word behind a pointer: handles are numbers, the others addresses.
std::string word_value(std::string_view name, std::uint64_t value);
/// "buffer" for buffer_ptr.
std::string pointer_name(const CommandInfo& info, const PointerRule& rule);
/// "MEM_FREE mem_handle=3": the part of the line that is known before the call.
std::string describe_sent(const TraceCall& call);
/// "0 mem_handle=3": result and what came back.
std::string describe_reply(const TraceCall& call);

}  // namespace neffld::shim
