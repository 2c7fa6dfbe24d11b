// SPDX-License-Identifier: MIT
// What happens when a file grows past the limit of the process (ulimit -f).
#pragma once

namespace neffld::cli {

/// From now on a write past the limit is an error (EFBIG), which is told and leaves no file behind,
/// instead of the process's end by SIGXFSZ.
void ignore_file_size_signal();

/// What a program that takes this process's place, or a child's, would find without us.
void restore_file_size_signal();

}  // namespace neffld::cli
