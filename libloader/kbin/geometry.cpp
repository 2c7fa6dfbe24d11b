// SPDX-License-Identifier: MIT
#include "kbin/geometry.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "manifest/printable.hpp"

namespace neffld {
namespace {

// 16 rings of the longest length a ring may have (decision 26): no block can move more elements.
constexpr std::uint64_t max_elements = 16ull * 16'777'200ull;

/// Lowest and highest value of a sum of `index * step`, index 0..size-1, over dimensions.
struct Span {
  std::int64_t low = 0, high = 0;
  bool overflow = false;

  void start(std::uint64_t value) {
    overflow = value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    low = high = static_cast<std::int64_t>(value);
  }
  void add(std::uint64_t size, std::int64_t step) {
    std::int64_t reach = 0;
    std::int64_t& side = step < 0 ? low : high;
    overflow = overflow || __builtin_mul_overflow(size - 1, step, &reach) ||
               __builtin_add_overflow(side, reach, &side);
  }
};

std::optional<GeometryProblem> check_flat(const AccessPattern& side, const Variable& variable,
                                          std::string_view prefix) {
  Span span;
  span.start(side.offset);
  for (std::size_t i = 0; i < side.dims; ++i) span.add(side.sizes[i], side.steps[i]);
  if (!span.overflow && span.low >= 0 && static_cast<std::uint64_t>(span.high) < variable.size) {
    return std::nullopt;
  }
  std::string range = "an address range of more than 63 bits";
  if (!span.overflow) range = fmt::format("bytes {} to {}", span.low, span.high);
  return GeometryProblem{fmt::format(".{}_off", prefix),
                         fmt::format("the access covers {}, outside the {} bytes of variable {}",
                                     range, variable.size, printable(variable.name))};
}

/// The SBUF is 128 partitions far apart, each with its own end, so partition and byte are followed
/// separately. A step is a step of partitions plus a step of bytes; as long as the byte part never
/// leaves its partition no carry happens and the two are independent.
std::optional<GeometryProblem> check_partitions(const AccessPattern& side,
                                                const MemoryBounds& bounds,
                                                std::string_view prefix) {
  const auto stride = static_cast<std::int64_t>(bounds.partition_stride);
  Span byte, partition;
  byte.start(side.offset % bounds.partition_stride);
  partition.start(side.offset / bounds.partition_stride);
  for (std::size_t i = 0; i < side.dims; ++i) {
    byte.add(side.sizes[i], side.steps[i] % stride);
    partition.add(side.sizes[i], side.steps[i] / stride);
  }
  const auto inside = [](const Span& span, std::uint64_t limit) {
    return !span.overflow && span.low >= 0 && static_cast<std::uint64_t>(span.high) < limit;
  };
  if (!inside(partition, bounds.partitions)) {
    return GeometryProblem{fmt::format(".{}_off", prefix),
                           fmt::format("the access covers partitions {} to {}, there are {}",
                                       partition.low, partition.high, bounds.partitions)};
  }
  if (!inside(byte, bounds.partition_limit)) {
    return GeometryProblem{fmt::format(".{}_off", prefix),
                           fmt::format("the access covers bytes {} to {} of a partition, usable "
                                       "are {}",
                                       byte.low, byte.high, bounds.partition_limit)};
  }
  return std::nullopt;
}

std::string sizes_text(const AccessPattern& side) {
  return fmt::format("[{}]", fmt::join(side.sizes.begin(), side.sizes.begin() + side.dims, ","));
}

GeometryProblem sizes_differ(const DmaDescriptor& d, std::string_view rule) {
  return {".to_sizes", fmt::format("found {} and from_sizes {}, {}", sizes_text(d.to),
                                   sizes_text(d.from), rule)};
}

bool outer_sizes_equal(const DmaDescriptor& d, std::size_t first) {
  return std::equal(d.from.sizes.begin() + static_cast<std::ptrdiff_t>(first), d.from.sizes.end(),
                    d.to.sizes.begin() + static_cast<std::ptrdiff_t>(first));
}

std::optional<GeometryProblem> check_copy(const DmaDescriptor& d) {
  if (d.from.sizes == d.to.sizes) return std::nullopt;
  return sizes_differ(d, "a copy needs equal sizes on both sides");
}

std::optional<GeometryProblem> check_cast(const DmaDescriptor& d) {
  const std::uint64_t from_bytes = dtype_bytes(d.from.dtype), to_bytes = dtype_bytes(d.to.dtype);
  if (d.from.sizes[0] % from_bytes != 0) {
    return GeometryProblem{".from_sizes", fmt::format("{} bytes are not whole elements of {}",
                                                      d.from.sizes[0], from_bytes)};
  }
  const bool runs_fit =
      d.to.sizes[0] % to_bytes == 0 && d.from.sizes[0] / from_bytes == d.to.sizes[0] / to_bytes;
  if (runs_fit && outer_sizes_equal(d, 1)) return std::nullopt;
  return sizes_differ(d, "a cast needs equal element counts on both sides");
}

/// Dims 0 and 1 are one tile, dims 2 and 3 enumerate tiles (spec 08 section 3.4).
std::optional<GeometryProblem> check_transpose(const DmaDescriptor& d) {
  const std::uint64_t element = d.transpose_element_size;
  const std::uint64_t y = d.transpose_shape[2], x = d.transpose_shape[3];
  if (d.transpose_shape[0] != 1 || d.transpose_shape[1] != 1 || y == 0 || x == 0) {
    return GeometryProblem{".transpose_shape",
                           fmt::format("found [{}], supported are tiles [1,1,Y,X]",
                                       fmt::join(d.transpose_shape, ","))};
  }
  // One descriptor moves one element, and a descriptor moves at most 65536 bytes.
  if (element == 0 || element > 65536) {
    return GeometryProblem{".transpose_element_size",
                           fmt::format("found {}, an element has 1 to 65536 bytes", element)};
  }
  // y, x and element have 32 bits, so one product fits in 64.
  if (d.from.sizes[0] != x * element || d.from.sizes[1] != y) {
    return GeometryProblem{".from_sizes", fmt::format("found {}, the tile needs [{},{}] first",
                                                      sizes_text(d.from), x * element, y)};
  }
  if (d.to.sizes[0] != y * element || d.to.sizes[1] != x) {
    return GeometryProblem{".to_sizes", fmt::format("found {}, the tile needs [{},{}] first",
                                                    sizes_text(d.to), y * element, x)};
  }
  if (!outer_sizes_equal(d, 2)) {
    return sizes_differ(d, "a transpose needs equal numbers of tiles on both sides");
  }
  if (d.tiling_dims != 2) {
    return GeometryProblem{".num_tiling_dimensions",
                           fmt::format("found {}, a transpose is supported with 2", d.tiling_dims)};
  }
  return std::nullopt;
}

std::optional<GeometryProblem> check_cce(const DmaDescriptor& d, const CceInfo& cce) {
  if (d.from.sizes != d.to.sizes) {
    return sizes_differ(d, "a compute descriptor needs equal sizes on all sides");
  }
  for (std::size_t i = 0; i < cce.extra_sources.size(); ++i) {
    if (cce.extra_sources[i].sizes != d.to.sizes) {
      return GeometryProblem{fmt::format(".from_arr[{}].from_sizes", i + 1),
                             fmt::format("found {} and to_sizes {}, a compute descriptor needs "
                                         "equal sizes on all sides",
                                         sizes_text(cce.extra_sources[i]), sizes_text(d.to))};
    }
  }
  return std::nullopt;
}

std::optional<GeometryProblem> check_volume(const DmaDescriptor& d) {
  std::uint64_t elements = 1;
  for (std::size_t i = 1; i < d.from.sizes.size(); ++i) {
    if (__builtin_mul_overflow(elements, d.from.sizes[i], &elements) || elements > max_elements) {
      return GeometryProblem{".from_sizes",
                             fmt::format("{} are more than {} elements, 16 full rings",
                                         sizes_text(d.from), max_elements)};
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<GeometryProblem> check_side(const AccessPattern& side, const Variable& variable,
                                          const MemoryBounds& bounds, std::string_view prefix) {
  if (variable.kind == VarKind::state_buffer) return check_partitions(side, bounds, prefix);
  if (variable.kind == VarKind::pointer && side.offset != 0) {  // spec 03 section 3.4 item 2
    return GeometryProblem{
        fmt::format(".{}_off", prefix),
        fmt::format("found {}, a pointer's cell is used as a whole: 0 is allowed", side.offset)};
  }
  return check_flat(side, variable, prefix);
}

std::optional<GeometryProblem> check_shapes(const DmaDescriptor& d, const Kbin& kbin) {
  if (auto problem = check_volume(d)) return problem;
  switch (d.op) {
    case DmaOp::copy:
      return check_copy(d);
    case DmaOp::cast:
      return check_cast(d);
    case DmaOp::transpose:
      return check_transpose(d);
    case DmaOp::fma:
    case DmaOp::add:
    case DmaOp::min:
    case DmaOp::max:
      return check_cce(d, kbin.cce[*d.cce]);
  }
  return std::nullopt;
}

}  // namespace neffld
