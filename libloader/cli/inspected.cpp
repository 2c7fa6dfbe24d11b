// SPDX-License-Identifier: MIT
#include "inspected.hpp"

#include <fmt/format.h>

#include <charconv>

#include "neffld/auto_bind.hpp"

namespace neffld::cli {
namespace {

Result<Inspected> open_image(const std::string& file, const LoadingOptions& options) {
  if (!options.binds.empty()) {
    return fail(Status::invalid, ErrorClass::usage, {.path = "--bind"},
                "needs a NEFF, an image is as it was written");
  }
  Inspected out;
  NEFFLD_ASSIGN(out.image, DeviceImage::open(file));
  out.layouts = out.image->layouts();
  if (out.layouts.empty()) {
    return fail(Status::invalid, ErrorClass::unsupported, {.member = file},
                "has no layout note, expected an image that `neffld dump` of this version wrote");
  }
  return out;
}

/// Nobody gave these addresses, so a model that does not take them is a bad file.
Result<void> bind_to_free_addresses(Session& session, LoadedModel& model) {
  NEFFLD_ASSIGN(auto io, free_io_addresses(session, model));
  auto bound = session.bind(model, std::move(io));
  if (!bound && bound.error().error_class == ErrorClass::usage) {
    bound.error().error_class = ErrorClass::format;
  }
  return bound;
}

Result<Inspected> load_neff(const std::string& file, LoadingOptions options, bool bind) {
  options.files = {file};
  Inspected out;
  NEFFLD_ASSIGN(out.loading, load_files(options));
  for (const auto& model : out.loading.session->models()) {
    if (bind && !model->bound) {
      if (auto bound = bind_to_free_addresses(*out.loading.session, *model); !bound) {
        return tl::unexpected<Error>(in_file(std::move(bound.error()), file));
      }
    }
    NEFFLD_ASSIGN(Layout layout, layout_of(*model));
    out.layouts.push_back(std::move(layout));
  }
  out.live = session_memory(*out.loading.session);
  return out;
}

}  // namespace

bool Inspected::bound() const {
  for (const Layout& layout : layouts) {
    for (const Layout::Subgraph& subgraph : layout.subgraphs) {
      for (const Layout::Variable& variable : subgraph.variables) {
        const bool tensor = variable.kind == VarKind::input || variable.kind == VarKind::output;
        if (tensor && !variable.pa) return false;
      }
    }
  }
  return true;
}

Result<Inspected> inspect_file(const std::string& file, LoadingOptions options, bool bind) {
  NEFFLD_ASSIGN(const bool image, is_image_file(file));
  return image ? open_image(file, options) : load_neff(file, std::move(options), bind);
}

Result<std::uint64_t> parse_address(const std::string& text, const char* what) {
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  const char* begin = text.data() + (hex ? 2 : 0);
  const char* end = text.data() + text.size();
  std::uint64_t address = 0;
  const auto [rest, error] = std::from_chars(begin, end, address, hex ? 16 : 10);
  if (begin == end || error != std::errc() || rest != end) {
    return fail(
        Status::invalid, ErrorClass::usage, {.path = what},
        fmt::format("found '{}', expected an address below 2^64 (0x hexadecimal or decimal)",
                    text.substr(0, 80)));
  }
  return address;
}

}  // namespace neffld::cli
