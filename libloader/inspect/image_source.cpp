// SPDX-License-Identifier: MIT
#include "image_source.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

namespace neffld {
namespace {

constexpr std::size_t block_bytes = 64u << 10;
constexpr int largest_window_log = 27;  // what `dump` and zstd's own levels stay within

tl::unexpected<Error> image_error(const std::string& path, const char* what) {
  return fail(Status::failure, ErrorClass::file, {.member = path},
              fmt::format("cannot {}: {}", what, std::strerror(errno)));
}

class File {
 public:
  static Result<File> open(const std::string& path) {
    File file;
    file.path_ = path;
    file.descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file.descriptor_ < 0) return image_error(path, "open");
    struct stat facts {};
    if (fstat(file.descriptor_, &facts) != 0) return image_error(path, "read");
    if (!S_ISREG(facts.st_mode)) {
      return fail(Status::invalid, ErrorClass::file, {.member = path}, "is not a regular file");
    }
    file.size_ = static_cast<std::uint64_t>(facts.st_size);
    return file;
  }
  File(File&& other) noexcept
      : path_(std::move(other.path_)),
        descriptor_(std::exchange(other.descriptor_, -1)),
        size_(other.size_) {}
  File& operator=(File&&) = delete;
  ~File() {
    if (descriptor_ >= 0) close(descriptor_);
  }

  std::uint64_t size() const { return size_; }
  const std::string& path() const { return path_; }

  Result<void> read(std::uint64_t offset, MutableBytes out) const {
    while (!out.empty()) {
      const ssize_t got = pread(descriptor_, out.data(), out.size(), static_cast<off_t>(offset));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return image_error(path_, "read");
      if (got == 0) {  // it was longer when it was opened
        return fail(Status::failure, ErrorClass::file, {.member = path_, .offset = offset},
                    "the file ends here, it became shorter while it was read");
      }
      out = out.subspan(static_cast<std::size_t>(got));
      offset += static_cast<std::uint64_t>(got);
    }
    return {};
  }

 private:
  File() = default;
  std::string path_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

class PlainSource final : public ImageSource {
 public:
  explicit PlainSource(File file) : file_(std::move(file)) {}
  std::uint64_t size() const override { return file_.size(); }
  Result<void> read(std::uint64_t offset, MutableBytes out) const override {
    return file_.read(offset, out);
  }

 private:
  File file_;
};

/// The inflated bytes in blocks; a block of one repeated byte is kept as that byte.
class InflatedSource final : public ImageSource {
 public:
  static Result<std::unique_ptr<ImageSource>> inflate(const File& file, const ImageLimits& limits) {
    auto source = std::make_unique<InflatedSource>();
    const std::unique_ptr<ZSTD_DStream, decltype(&ZSTD_freeDStream)> stream(ZSTD_createDStream(),
                                                                            ZSTD_freeDStream);
    if (!stream) throw std::bad_alloc();
    ZSTD_DCtx_setParameter(stream.get(), ZSTD_d_windowLogMax, largest_window_log);
    std::vector<std::uint8_t> stored(ZSTD_DStreamInSize());
    std::size_t expects_more = 1;
    for (std::uint64_t at = 0; at < file.size();) {
      const auto piece = std::min<std::uint64_t>(stored.size(), file.size() - at);
      NEFFLD_TRY(file.read(at, MutableBytes(stored).first(piece)));
      at += piece;
      ZSTD_inBuffer in{stored.data(), piece, 0};
      ZSTD_outBuffer out{};
      do {
        out = {source->open_block_.data(), block_bytes, source->open_bytes_};
        expects_more = ZSTD_decompressStream(stream.get(), &out, &in);
        if (ZSTD_getErrorCode(expects_more) == ZSTD_error_memory_allocation) return host_shortage();
        if (ZSTD_isError(expects_more)) {
          return invalid({.member = file.path()},
                         fmt::format("zstd: {}", ZSTD_getErrorName(expects_more)));
        }
        source->open_bytes_ = out.pos;
        if (out.pos == block_bytes) NEFFLD_TRY(source->keep_block(file.path(), limits));
      } while (in.pos < in.size || out.pos == block_bytes);
    }
    if (expects_more != 0) {
      return invalid({.member = file.path(), .offset = file.size()},
                     "the zstd frame is cut off, expected more bytes");
    }
    NEFFLD_TRY(source->keep_block(file.path(), limits));
    return source;
  }

  std::uint64_t size() const override { return size_; }

  Result<void> read(std::uint64_t offset, MutableBytes out) const override {
    while (!out.empty()) {
      const Block& block = blocks_[offset / block_bytes];
      const std::size_t in_block = offset % block_bytes;
      const std::size_t count = std::min(out.size(), block_bytes - in_block);
      if (block.bytes) {
        std::memcpy(out.data(), block.bytes.get() + in_block, count);
      } else {
        std::memset(out.data(), block.fill, count);
      }
      out = out.subspan(count);
      offset += count;
    }
    return {};
  }

 private:
  struct Block {
    std::unique_ptr<std::uint8_t[]> bytes;  ///< null: `fill` throughout
    std::uint8_t fill = 0;
  };

  Result<void> keep_block(const std::string& path, const ImageLimits& limits) {
    if (open_bytes_ == 0) return {};
    size_ += open_bytes_;
    Block block{nullptr, open_block_[0]};
    const bool uniform =
        std::memcmp(open_block_.data(), open_block_.data() + 1, open_bytes_ - 1) == 0;
    if (!uniform) {
      resident_ += open_bytes_;
      block.bytes.reset(new std::uint8_t[open_bytes_]);
      std::memcpy(block.bytes.get(), open_block_.data(), open_bytes_);
    }
    if (size_ > limits.inflated_bytes || resident_ > limits.resident_bytes) {
      return fail(Status::resource, ErrorClass::resource, {.member = path},
                  fmt::format("the image inflates to more than {} bytes, or {} that do not repeat",
                              limits.inflated_bytes, limits.resident_bytes));
    }
    blocks_.push_back(std::move(block));
    open_bytes_ = 0;
    return {};
  }

  std::vector<Block> blocks_;
  std::uint64_t size_ = 0, resident_ = 0;
  std::vector<std::uint8_t> open_block_ = std::vector<std::uint8_t>(block_bytes);
  std::size_t open_bytes_ = 0;
};

enum class FileKind : std::uint8_t { other, elf, zstd };

Result<FileKind> kind_of(const File& file) {
  std::uint8_t magic[4] = {};
  if (file.size() < sizeof magic) return FileKind::other;
  NEFFLD_TRY(file.read(0, magic));
  switch (load_le<std::uint32_t>(Bytes(magic), 0)) {
    case 0x464C457F:
      return FileKind::elf;
    case ZSTD_MAGICNUMBER:
      return FileKind::zstd;
    default:
      return FileKind::other;
  }
}

}  // namespace

Result<std::unique_ptr<ImageSource>> open_image_source(const std::string& path,
                                                       const ImageLimits& limits) {
  NEFFLD_ASSIGN(File file, File::open(path));
  NEFFLD_ASSIGN(const FileKind kind, kind_of(file));
  if (kind == FileKind::zstd) return InflatedSource::inflate(file, limits);
  return std::unique_ptr<ImageSource>(std::make_unique<PlainSource>(std::move(file)));
}

Result<bool> is_image_file(const std::string& path) {
  return guarded([&]() -> Result<bool> {
    NEFFLD_ASSIGN(const File file, File::open(path));
    NEFFLD_ASSIGN(const FileKind kind, kind_of(file));
    return kind != FileKind::other;
  });
}

}  // namespace neffld
