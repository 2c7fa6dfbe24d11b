// SPDX-License-Identifier: MIT
// Ledger rows in words: what a field refers to and which record of the NEFF it comes from.
#pragma once

#include <string>

#include "neffld/session.hpp"

namespace neffld::cli {

/// "w", "qPoolIO0", "constant block", "register" or "-".
std::string row_symbol(const LoadedModel& model, const LedgerRow& row);
/// "slot 3", "block 0", "descriptor 7", "variable w" or "-".
std::string row_source(const LoadedModel& model, const LedgerRow& row);
/// The same with the member of the NEFF the record is in, e.g. "sg00/Pool.bin slot 3".
std::string row_origin(const LoadedModel& model, const LedgerRow& row);

}  // namespace neffld::cli
