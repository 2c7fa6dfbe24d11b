// SPDX-License-Identifier: MIT
#include "program_check.hpp"

#include <elf.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <vector>

namespace neffld::cli {
namespace {

#if defined(__x86_64__)
constexpr std::uint16_t own_machine = EM_X86_64;
#else
constexpr std::uint16_t own_machine = EM_AARCH64;
#endif

constexpr int most_interpreters = 4;  // as the kernel
constexpr std::size_t most_headers = 4096;

tl::unexpected<Error> no_preload(const std::string& path, std::string text) {
  return fail(Status::invalid, ErrorClass::unsupported, {.member = path}, std::move(text));
}

/// Whether the dynamic linker takes the program to be one with other rights.
bool gains_rights(const std::string& path, const struct stat& status) {
  const bool user = (status.st_mode & S_ISUID) && status.st_uid != getuid();
  const bool group = (status.st_mode & S_ISGID) && status.st_gid != getgid();
  const bool file = getuid() != 0 && getxattr(path.c_str(), "security.capability", nullptr, 0) > 0;
  return user || group || file;
}

template <class T>
bool read_at(std::ifstream& file, std::uint64_t place, T& out) {
  file.clear();
  file.seekg(static_cast<std::streamoff>(place));
  return static_cast<bool>(file.read(reinterpret_cast<char*>(&out), sizeof out));
}

bool has_interpreter(std::ifstream& file, const Elf64_Ehdr& head) {
  for (std::size_t i = 0; i < head.e_phnum && i < most_headers; ++i) {
    Elf64_Phdr segment;
    if (!read_at(file, head.e_phoff + i * head.e_phentsize, segment)) return false;
    if (segment.p_type == PT_INTERP) return true;
  }
  return false;
}

/// Go's own code makes system calls by itself; its linker leaves this section.
bool is_go(std::ifstream& file, const Elf64_Ehdr& head) {
  constexpr char wanted[] = ".go.buildinfo";
  Elf64_Shdr names;
  if (!read_at(file, head.e_shoff + std::uint64_t{head.e_shstrndx} * head.e_shentsize, names)) {
    return false;
  }
  for (std::size_t i = 0; i < head.e_shnum && i < most_headers; ++i) {
    Elf64_Shdr section;
    char name[sizeof wanted];
    if (read_at(file, head.e_shoff + i * head.e_shentsize, section) &&
        read_at(file, names.sh_offset + section.sh_name, name) &&
        std::memcmp(name, wanted, sizeof wanted) == 0) {
      return true;
    }
  }
  return false;
}

/// The program a script's first line names, or nothing.
std::string interpreter_of(const std::string& line) {
  std::istringstream words(line.substr(2));
  std::string first, second;
  words >> first >> second;
  const bool env = first.ends_with("/env") && !second.empty() && second[0] != '-';
  if (!env) return first;
  const auto found = find_program(second);
  return found ? *found : std::string();
}

Result<void> check_elf(const std::string& path, std::ifstream& file, std::string& warning) {
  Elf64_Ehdr head;
  if (!read_at(file, 0, head) || std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0) {
    return {};  // running it will tell
  }
  if (head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_machine != own_machine) {
    return no_preload(path, "is a program of another machine or word size than libneuron_shim.so");
  }
  if (!has_interpreter(file, head)) {
    return no_preload(
        path,
        "is statically linked: its calls do not go through the C library that "
        "libneuron_shim.so stands in front of; link it dynamically, or use the kernel "
        "module (devsim/kmod)");
  }
  if (is_go(file, head)) {
    warning = fmt::format(
        "{} is a Go program: calls of its Go code cannot be intercepted, those of C code in it can",
        path);
  }
  return {};
}

}  // namespace

Result<std::string> find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) {
    if (access(name.c_str(), F_OK) == 0) return name;
    return fail(Status::failure, ErrorClass::file, {.member = name},
                fmt::format("cannot be run: {}", std::strerror(errno)));
  }
  const char* path = std::getenv("PATH");
  std::string list = path != nullptr ? path : "/bin:/usr/bin";
  if (list.empty() || list.ends_with(':')) list += '.';  // a last empty element is no line
  std::istringstream folders(list);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string file = (folder.empty() ? "." : folder) + "/" + name;
    struct stat status {};
    if (access(file.c_str(), X_OK) == 0 && stat(file.c_str(), &status) == 0 &&
        S_ISREG(status.st_mode)) {
      return file;
    }
  }
  return fail(Status::failure, ErrorClass::file, {.member = name},
              "cannot be run: it is in no folder of PATH");
}

Result<void> check_preload(const std::string& path, std::string& warning) {
  std::string program = path;
  for (int depth = 0; depth <= most_interpreters && !program.empty(); ++depth) {
    struct stat status {};
    if (stat(program.c_str(), &status) == 0 && gains_rights(program, status)) {
      return no_preload(program,
                        "runs with other rights than its caller (setuid, setgid or file "
                        "capabilities): the dynamic linker then ignores LD_PRELOAD; run a copy of "
                        "it without them");
    }
    std::ifstream file(program, std::ios::binary);
    char start[2] = {};
    if (!file.read(start, sizeof start)) return {};
    if (start[0] != '#' || start[1] != '!') return check_elf(program, file, warning);
    std::string line;
    file.seekg(0);
    std::getline(file, line);
    program = interpreter_of(line);
  }
  return {};
}

}  // namespace neffld::cli
