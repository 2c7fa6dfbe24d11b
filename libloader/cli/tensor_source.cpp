// SPDX-License-Identifier: MIT
#include "tensor_source.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>

#include "container/descriptor.hpp"
#include "neffld/text.hpp"
#include "npy/npy.hpp"
#include "report.hpp"

namespace neffld::cli {
namespace {

constexpr std::size_t source_piece_bytes = 4u << 20;

class NpySource final : public TensorSource {
 public:
  static Result<std::unique_ptr<NpySource>> open(const std::string& path, const std::string& name,
                                                 const TensorInfo& wanted) {
    auto source = std::unique_ptr<NpySource>(new NpySource(path));
    // O_NONBLOCK: opening a pipe nobody writes to must end in a message, not in waiting.
    source->fd_ = Descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!source->fd_.valid()) return file_error(path, "cannot be opened", errno);
    struct stat info {};
    if (fstat(source->fd_.get(), &info) != 0) return file_error(path, "cannot be examined", errno);
    if (!S_ISREG(info.st_mode)) return file_error(path, "is no regular file");
    const auto size = static_cast<std::uint64_t>(info.st_size);
    std::vector<std::uint8_t> start(std::min<std::uint64_t>(size, npy_start_bytes));
    NEFFLD_TRY(source->read_at(0, start));
    NEFFLD_ASSIGN(source->array_, read_npy_start(path, start, size));
    NEFFLD_TRY(source->check(name, wanted));
    return source;
  }

  std::string description() const override { return path_; }

  Result<void> read(const PieceSink& sink) override {
    const std::uint64_t size = array_.data_bytes;
    if (array_.fortran_order) {  // the order changes across the whole tensor
      std::vector<std::uint8_t> elements(size);
      NEFFLD_TRY(read_at(array_.data_offset, elements));
      return sink(to_c_order(array_, elements));
    }
    std::vector<std::uint8_t> buffer(std::min<std::uint64_t>(size, source_piece_bytes));
    for (std::uint64_t done = 0; done < size;) {
      const MutableBytes piece =
          MutableBytes(buffer).first(std::min<std::uint64_t>(size - done, buffer.size()));
      NEFFLD_TRY(read_at(array_.data_offset + done, piece));
      NEFFLD_TRY(sink(piece));
      done += piece.size();
    }
    return {};
  }

 private:
  explicit NpySource(std::string path) : path_(std::move(path)) {}

  Result<void> check(const std::string& name, const TensorInfo& wanted) const {
    if (array_.shape == wanted.shape && npy_type_fits(array_.type, wanted.dtype)) return {};
    return fail(Status::invalid, ErrorClass::usage, {.member = path_},
                fmt::format("found {}, the model's input {} is {}",
                            tensor_text(npy_type_name(array_.type), array_.shape), one_line(name),
                            tensor_text(wanted.dtype, wanted.shape)));
  }

  Result<void> read_at(std::uint64_t offset, MutableBytes bytes) const {
    while (!bytes.empty()) {
      const ssize_t count =
          pread(fd_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return file_error(path_, "cannot be read", errno);
      if (count == 0) return file_error(path_, "became shorter while it was read");
      offset += static_cast<std::uint64_t>(count);
      bytes = bytes.subspan(static_cast<std::size_t>(count));
    }
    return {};
  }

  std::string path_;
  Descriptor fd_;
  NpyArray array_;
};

/// A stream of its own for every seed and name, the same on every machine (splitmix64).
class Generator {
 public:
  Generator(std::uint64_t seed, std::string_view name) : state_(seed) {
    for (const char c : name) state_ = bits() ^ static_cast<std::uint8_t>(c);
  }
  std::uint64_t bits() {
    std::uint64_t z = state_ += 0x9E3779B97F4A7C15;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
    z = (z ^ z >> 27) * 0x94D049BB133111EB;
    return z ^ z >> 31;
  }
  /// Nearly normal: the sum of four uniform numbers, mean 0, variance 1, at most 3.47. All steps
  /// are exact but the last, so no machine's library can change a bit.
  float normal() {
    constexpr double scale = 1.7320508075688772 / 65536;  // sqrt(3) / 2^16
    const std::uint64_t random = bits();
    std::int64_t sum = -2 * 65535;
    for (int i = 0; i < 4; ++i) sum += static_cast<std::int64_t>(random >> 16 * i & 0xFFFF);
    return static_cast<float>(static_cast<double>(sum) * scale);
  }

 private:
  std::uint64_t state_;
};

std::uint32_t float_bits(float value) {
  return std::bit_cast<std::uint32_t>(value);
}

/// The upper half of a float32, rounded to nearest even. `value` is finite and small.
std::uint16_t to_bfloat16(float value) {
  const std::uint32_t bits = float_bits(value);
  return static_cast<std::uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

/// Rounded to nearest even; |value| is below 65504 here.
std::uint16_t to_float16(float value) {
  const auto sign = static_cast<std::uint16_t>(float_bits(value) >> 16 & 0x8000);
  const float magnitude = std::fabs(value);
  if (magnitude < 0x1p-14f) {  // denormal: counts of 2^-24
    return static_cast<std::uint16_t>(
        sign | static_cast<std::uint16_t>(std::nearbyint(magnitude * 0x1p24f)));
  }
  const std::uint32_t bits = float_bits(magnitude);
  const std::uint32_t rounded = bits + 0xFFF + (bits >> 13 & 1);
  return static_cast<std::uint16_t>(sign | (rounded - (112u << 23)) >> 13);
}

class RandomSource final : public TensorSource {
 public:
  RandomSource(const InputOptions& options, const std::string& name, const TensorInfo& wanted)
      : seed_(options.seed), dtype_(wanted.dtype), size_(wanted.size), generator_(seed_, name) {}

  std::string description() const override { return fmt::format("random {}", seed_); }

  Result<void> read(const PieceSink& sink) override {
    std::vector<std::uint8_t> buffer(std::min<std::uint64_t>(size_, source_piece_bytes));
    for (std::uint64_t done = 0; done < size_;) {
      const MutableBytes piece =
          MutableBytes(buffer).first(std::min<std::uint64_t>(size_ - done, buffer.size()));
      fill(piece);
      NEFFLD_TRY(sink(piece));
      done += piece.size();
    }
    return {};
  }

 private:
  void fill(MutableBytes piece) {
    if (dtype_ == "float32") return each<std::uint32_t>(piece, float_bits);
    if (dtype_ == "float16") return each<std::uint16_t>(piece, to_float16);
    if (dtype_ == "bfloat16") return each<std::uint16_t>(piece, to_bfloat16);
    for (std::size_t at = 0; at < piece.size(); at += 8) {
      const std::uint64_t random = generator_.bits();
      std::memcpy(piece.data() + at, &random, std::min<std::size_t>(piece.size() - at, 8));
    }
  }

  template <class T>
  void each(MutableBytes piece, T (*convert)(float)) {
    for (std::size_t at = 0; at + sizeof(T) <= piece.size(); at += sizeof(T)) {
      store_le(piece, at, convert(generator_.normal()));
    }
  }

  std::uint64_t seed_;
  std::string dtype_;
  std::uint64_t size_;
  Generator generator_;
};

tl::unexpected<Error> usage(std::string text) {
  return fail(Status::invalid, ErrorClass::usage, {.path = "--in"}, std::move(text));
}

std::string names_of(const std::map<std::string, TensorInfo>& tensors) {
  std::string names;
  for (const auto& [name, tensor] : tensors) {
    names += (names.empty() ? "" : ", ") + one_line(name);
  }
  return names.empty() ? "none" : names;
}

/// NAME=FILE. Names may hold a '=', files may, too: the longest name the model knows wins.
Result<std::pair<std::string, std::string>> split(const std::string& argument,
                                                  const Manifest& manifest) {
  if (argument.find('=') == std::string::npos) {
    return usage(fmt::format("found '{}', expected NAME=FILE", one_line(argument)));
  }
  for (std::size_t at = argument.rfind('='); at != std::string::npos && at != 0;
       at = argument.rfind('=', at - 1)) {
    if (!manifest.inputs.contains(argument.substr(0, at))) continue;
    if (at + 1 == argument.size()) {
      return usage(
          fmt::format("found '{}' without a file, expected NAME=FILE", one_line(argument)));
    }
    return std::pair(argument.substr(0, at), argument.substr(at + 1));
  }
  return usage(fmt::format("'{}' is no input of the model, its inputs are {}",
                           one_line(argument.substr(0, argument.find('='))),
                           names_of(manifest.inputs)));
}

}  // namespace

Result<Sources> open_inputs(const Manifest& manifest, const InputOptions& options) {
  Sources sources;
  for (const std::string& argument : options.files) {
    NEFFLD_ASSIGN(const auto pair, split(argument, manifest));
    const auto& [name, path] = pair;
    if (sources.contains(name)) {
      return usage(fmt::format("'{}' is given twice", one_line(name)));
    }
    NEFFLD_ASSIGN(sources[name], NpySource::open(path, name, manifest.inputs.at(name)));
  }
  for (const auto& [name, tensor] : manifest.inputs) {
    if (sources.contains(name)) continue;
    if (!options.random) {
      return usage(fmt::format("input {} {} is missing, expected --in {}=FILE.npy or --random SEED",
                               one_line(name), tensor_text(tensor.dtype, tensor.shape),
                               one_line(name)));
    }
    sources[name] = std::make_unique<RandomSource>(options, name, tensor);
  }
  return sources;
}

}  // namespace neffld::cli
