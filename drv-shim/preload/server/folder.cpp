// SPDX-License-Identifier: MIT
#include "folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "protocol.hpp"

namespace neffld::shim {
namespace {

namespace fs = std::filesystem;

constexpr char devices_folder[] = "/sys/devices/virtual/neuron_device/";
constexpr char class_folder[] = "/sys/class/neuron_device/";
constexpr std::size_t fact_room = 4096;
constexpr std::array class_facts = {"node_id_2", "node_id_4", "server_id_2", "server_id_4",
                                    "ultraserver_mode"};

tl::unexpected<Error> file_error(const std::string& path, const char* what) {
  return fail(Status::failure, ErrorClass::file, {.member = path},
              fmt::format("cannot {}: {}", what, std::strerror(errno)));
}

/// Replaces a file as a whole: whoever has it open goes on reading the old text.
Result<void> write_file(const std::string& path, std::string_view text, mode_t mode) {
  const std::string part = path + ".new";
  std::FILE* file = std::fopen(part.c_str(), "wb");
  if (file == nullptr) return file_error(path, "be written");
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (std::fclose(file) != 0 || !written || chmod(part.c_str(), mode) != 0 ||
      std::rename(part.c_str(), path.c_str()) != 0) {
    return file_error(path, "be written");
  }
  return {};
}

Result<void> make_folders(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (!error) return {};
  errno = error.value();
  return file_error(path, "be made");
}

Result<void> make_link(const std::string& target, const std::string& path) {
  if (symlink(target.c_str(), path.c_str()) == 0) return {};
  return file_error(path, "be made");
}

/// Only root reads these on a real machine, and only it may write the last.
mode_t mode_of(const std::string& fact) {
  const bool is_private = fact == "core_count" || fact == "connected_devices" || fact == "reset";
  return is_private ? 0400 : 0444;
}

Result<void> write_fact(nds_device* device, const std::string& folder, const std::string& fact) {
  char text[fact_room];
  const int length = nds_device_fact(device, fact.c_str(), text, sizeof text);
  if (length < 0) return {};  // a folder, a link, or a file that never changes
  return write_file(folder + fact, {text, static_cast<std::size_t>(length)}, mode_of(fact));
}

/// An empty file, to be filled when somebody asks for it.
Result<void> make_file(const std::string& path, mode_t mode) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, mode);
  if (file < 0) return file_error(path, "be made");
  close(file);
  return {};
}

/// In memory where that is offered: a device has a thousand files.
std::string place_for_folders() {
  constexpr char memory[] = "/dev/shm";
  const char* wanted = std::getenv("TMPDIR");
  if (wanted != nullptr && *wanted != 0) return wanted;
  return access(memory, W_OK | X_OK) == 0 ? memory : "/tmp";
}

/// Index and fact of a path, by whichever way it goes to the device.
struct Place {
  std::size_t device;
  std::string fact;
};
bool find_place(const std::string& path, Place& out) {
  const std::string by_number = fmt::format("/sys/dev/char/{}:", node_major);
  for (const std::string& prefix :
       {devices_folder + std::string("neuron"), class_folder + std::string("neuron"), by_number}) {
    if (path.compare(0, prefix.size(), prefix) != 0) continue;
    char* end = nullptr;
    out.device = std::strtoul(path.c_str() + prefix.size(), &end, 10);
    if (*end != '/') return false;
    out.fact = end + 1;
    return true;
  }
  return false;
}

}  // namespace

void tell(const Error& error) {
  const std::string& about = error.where.member.empty() ? error.where.path : error.where.member;
  const std::string line =
      fmt::format("neuron_shim: {}{}{}\n", about, about.empty() ? "" : ": ", error.text);
  std::fputs(line.c_str(), stderr);
}

Result<SessionFolder> SessionFolder::create() {
  std::string path = fmt::format("{}/neffld-shim.XXXXXX", place_for_folders());
  if (mkdtemp(path.data()) == nullptr) return file_error(path, "be made");
  SessionFolder folder(path);
  // Programs may change their user; who is served is decided by the server.
  if (chmod(path.c_str(), 0755) != 0) return file_error(path, "be opened to others");
  return folder;
}

SessionFolder::~SessionFolder() {
  std::error_code error;
  if (!path_.empty()) fs::remove_all(path_, error);
}

Result<void> SessionFolder::make_device(nds_device* device, std::size_t index) {
  const std::string name = fmt::format("neuron{}", index);
  const std::string folder = path_ + devices_folder + name + "/";
  char path[256];
  std::string last;
  NEFFLD_TRY(make_folders(folder));
  for (std::uint32_t fact = 0; nds_device_fact_path(device, fact, path, sizeof path) > 0; ++fact) {
    const std::string file = folder + path;
    const std::string parent = file.substr(0, file.rfind('/'));
    if (parent != last) NEFFLD_TRY(make_folders(parent));
    last = parent;
    NEFFLD_TRY(make_file(file, mode_of(path)));
  }
  const std::string number = fmt::format("{}:{}", node_major, index);
  NEFFLD_TRY(write_file(folder + "dev", number + "\n", 0444));
  NEFFLD_TRY(write_file(folder + "uevent",
                        fmt::format("MAJOR={}\nMINOR={}\nDEVNAME={}\n", node_major, index, name),
                        0444));
  // What tells our devices from a real driver's (the kernel module has it too).
  NEFFLD_TRY(write_file(folder + "simulated", "neuron_sim\n", 0444));
  NEFFLD_TRY(make_link("../../../../class/neuron_device", folder + "subsystem"));
  const std::string target = "../../devices/virtual/neuron_device/" + name;
  NEFFLD_TRY(make_link(target, path_ + class_folder + name));
  return make_link(target, path_ + "/sys/dev/char/" + number);
}

Result<void> SessionFolder::make_all(const std::vector<nds_device*>& devices,
                                     const std::string& driver_version) {
  NEFFLD_TRY(make_folders(path_ + class_folder));
  NEFFLD_TRY(make_folders(path_ + "/sys/dev/char"));
  NEFFLD_TRY(make_folders(path_ + "/sys/module/neuron"));
  NEFFLD_TRY(write_file(path_ + "/sys/module/neuron/version", driver_version + "\n", 0444));
  NEFFLD_TRY(write_file(path_ + "/sys/module/neuron/initstate", "live\n", 0444));
  for (const char* fact : class_facts) {
    char text[fact_room];
    const int length = nds_class_fact(fact, text, sizeof text);
    if (length < 0) continue;
    NEFFLD_TRY(
        write_file(path_ + class_folder + fact, {text, static_cast<std::size_t>(length)}, 0444));
  }
  for (std::size_t index = 0; index < devices.size(); ++index) {
    NEFFLD_TRY(make_device(devices[index], index));
  }
  return {};
}

Result<void> SessionFolder::refresh(const std::string& path,
                                    const std::vector<nds_device*>& devices,
                                    const std::string& driver_version) {
  if (!made_) {
    made_ = true;
    NEFFLD_TRY(make_all(devices, driver_version));
  }
  Place place;
  if (!find_place(path, place) || place.device >= devices.size()) return {};
  const std::string folder = fmt::format("{}{}neuron{}/", path_, devices_folder, place.device);
  return write_fact(devices[place.device], folder, place.fact);
}

}  // namespace neffld::shim
