// SPDX-License-Identifier: MIT
// make-sample: writes a synthetic NEFF, or its members as plain files.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <string>

#include "sample_catalogue.hpp"

namespace {

using namespace neffld;
using namespace neffld::sample;

struct Options {
  std::string name, file, folder, compression = "deflate", arch = "v3";
  bool list = false;
  ScaleParameters scale;
};

void list_samples() {
  for (const auto& entry : catalogue()) {
    std::printf("%-20s %s\n", std::string(entry.name).c_str(), std::string(entry.covers).c_str());
  }
}

void write_folder(const SampleNeff& sample, const std::string& folder) {
  for (const auto& member : sample.members) {
    const auto path = std::filesystem::path(folder) / member.name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(member.bytes.data()),
               static_cast<std::streamsize>(member.bytes.size()));
    file.close();
    if (!file) throw std::runtime_error("cannot write " + path.string());
  }
}

void write_neff(const SampleNeff& sample, const std::string& path) {
  const auto bytes = pack(sample);
  if (!bytes) throw std::runtime_error(to_sentence(bytes.error()));
  if (const auto written = write_file(path, *bytes); !written) {
    throw std::runtime_error(to_sentence(written.error()));
  }
}

void add_scale_options(CLI::App& app, Options& options) {
  const std::string group = "Parameters of the sample 'scale'";
  auto& scale = options.scale;
  app.add_option("--arch", options.arch, "v2 or v3")
      ->check(CLI::IsMember({"v2", "v3"}))
      ->group(group);
  app.add_option("--subgraphs", scale.subgraphs, "cores")->group(group);
  app.add_option("--weights", scale.weights_bytes, "bytes of constants per subgraph")->group(group);
  app.add_flag("--bf16", scale.bf16_weights, "constants that compress as weights do")->group(group);
  app.add_option("--slots", scale.slots, "instruction slots per subgraph")->group(group);
  app.add_option("--elements", scale.elements, "DMA elements per subgraph")->group(group);
  app.add_option("--element-bytes", scale.element_bytes, "bytes of one element")->group(group);
  app.add_option("--variables", scale.variables, "variables per subgraph")->group(group);
}

SampleNeff make(Options& options) {
  SampleNeff sample;
  if (options.name == "scale") {
    options.scale.arch = options.arch == "v2" ? Arch::v2 : Arch::v3;
    sample = make_scale_sample(options.scale);
  } else {
    sample = make_sample(options.name, options.scale.seed);
  }
  if (options.compression == "none") sample.options.compression = Compression::none;
  if (options.compression == "stored") sample.options.compression = Compression::stored;
  return sample;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Writes a synthetic NEFF for tests, demos and benchmarks.", "make-sample");
  app.add_option("name", options.name, "sample, see --list");
  app.add_option("file", options.file, "NEFF to write");
  app.add_option("--folder", options.folder, "write the members as plain files instead");
  app.add_flag("--list", options.list, "list the samples");
  app.add_option("--seed", options.scale.seed, "everything random comes from it (default 1)");
  app.add_option("--compression", options.compression, "none, stored or deflate")
      ->check(CLI::IsMember({"none", "stored", "deflate"}));
  add_scale_options(app, options);
  CLI11_PARSE(app, argc, argv);
  if (options.list) {
    list_samples();
    return 0;
  }
  if (options.name.empty() || options.file.empty() == options.folder.empty()) {
    std::fputs("make-sample: name a sample, and a file or --folder\n", stderr);
    return 2;
  }
  try {
    const SampleNeff sample = make(options);
    if (options.folder.empty()) {
      write_neff(sample, options.file);
    } else {
      write_folder(sample, options.folder);
    }
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "make-sample: %s\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "make-sample: %s\n", error.what());
    return 3;
  }
  return 0;
}
