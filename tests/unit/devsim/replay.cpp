// SPDX-License-Identifier: MIT
#include "replay.hpp"

#include <rapidjson/document.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <optional>

#include "abi_fields.hpp"

namespace devsim_test {
namespace {

using rapidjson::Value;

constexpr std::uint8_t fill = 0xAA;  // the recorder's pattern for fields the driver may write
constexpr std::size_t buffer_bytes = 16 << 20;
constexpr std::int32_t first_process = 100;

std::int64_t errno_of(const std::string& name) {
  static const std::map<std::string, int> values = {{"EPERM", EPERM},
                                                    {"ENOENT", ENOENT},
                                                    {"E2BIG", E2BIG},
                                                    {"ENOMEM", ENOMEM},
                                                    {"EACCES", EACCES},
                                                    {"EFAULT", EFAULT},
                                                    {"EBUSY", EBUSY},
                                                    {"EINVAL", EINVAL},
                                                    {"ENOTTY", ENOTTY},
                                                    {"EFBIG", EFBIG},
                                                    {"ENOSYS", ENOSYS},
                                                    {"EBADMSG", EBADMSG},
                                                    {"EALREADY", EALREADY},
                                                    {"ENOTSUPP", 524},
                                                    {"ENODEV", ENODEV},
                                                    {"ETIMEDOUT", ETIMEDOUT},
                                                    {"EINTR", EINTR},
                                                    {"EAGAIN", EAGAIN},
                                                    {"EPROTONOSUPPORT", EPROTONOSUPPORT}};
  return values.at(name);
}

/// A buffer whose second half is out of reach.
class ShortBuffer {
 public:
  ShortBuffer() {
    base_ = static_cast<std::uint8_t*>(
        ::mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ::mprotect(base_ + 4096, 4096, PROT_NONE);
  }
  ~ShortBuffer() { ::munmap(base_, 8192); }
  ShortBuffer(const ShortBuffer&) = delete;
  ShortBuffer& operator=(const ShortBuffer&) = delete;
  std::uint64_t address() const { return reinterpret_cast<std::uintptr_t>(base_); }

 private:
  std::uint8_t* base_;
};

class Replay {
 public:
  Replay(const nds_config& config, std::uint32_t devices)
      : device_architecture_(config.architecture), layouts_(parse_layouts()) {
    for (std::uint32_t i = 0; i < devices; ++i) {
      auto own = config;
      own.device_index = i;
      devices_.push_back(std::make_unique<Device>(own, &machine_));
    }
    for (auto& buffer : buffers_) buffer.resize(buffer_bytes);
  }

  void run(const std::string& file) {
    file_ = file.substr(file.rfind('/') + 1);
    std::ifstream input(file);
    std::string line;
    while (std::getline(input, line)) {
      rapidjson::Document document;
      document.Parse(line.c_str());
      play(document);
    }
    clients_.clear();  // exit without close ends here too
  }

  ReplayResult result;

 private:
  void play(const Value& line) {
    const std::string op = line["op"].GetString();
    number_ = line["i"].GetInt();
    tgid_ = first_process + (std::string(line["proc"].GetString()) == "A" ? 0 : 1);
    if (op == "section") section_ = line["info"].GetString();
    if (op == "open") return open(line);
    if (op == "close") return close(line);
    if (op == "exit") return exit();
    if (op == "ioctl") return ioctl(line);
    if (op == "mmap") return mmap(line);
    if (op == "data" && !line.HasMember("info")) return data(line);
  }

  void skip(const std::string& reason) { ++result.skipped[reason]; }

  void differ(const std::string& what, const std::string& got, const std::string& expected) {
    result.differences.push_back(file_ + " " + std::to_string(number_) + " " + what + ": " + got +
                                 ", recorded " + expected);
  }

  std::string client_key(const Value& line) const {
    return std::to_string(tgid_) + line["fd"].GetString();
  }

  /// A child inherits the files of its parent.
  Client* client(const Value& line) {
    auto found = clients_.find(client_key(line));
    if (found == clients_.end()) {
      found = clients_.find(std::to_string(first_process) + line["fd"].GetString());
    }
    return found == clients_.end() ? nullptr : found->second.get();
  }

  void open(const Value& line) {
    const std::string path = line["path"].GetString();
    const std::size_t index = std::stoul(path.substr(path.find_last_not_of("0123456789") + 1));
    if (index >= devices_.size()) return;  // the node does not exist
    auto opened = std::make_unique<Client>(*devices_[index], tgid_,
                                           static_cast<std::uint32_t>(line["flags"].GetInt()));
    ++result.lines;
    const std::int64_t expected = recorded(line);
    if (opened->status() != expected) {
      differ("open", std::to_string(opened->status()), std::to_string(expected));
    }
    if (opened->status() == 0) clients_[client_key(line)] = std::move(opened);
  }

  void close(const Value& line) {
    const std::string label = line["fd"].GetString();
    if (label != "dup") {
      clients_.erase(client_key(line));
      return;
    }
    // The duplicate was made without a record; closing it flushes the file it stands for.
    nds_file_flush(clients_.at(std::to_string(tgid_) + "rw")->file(), tgid_);
  }

  void exit() {
    for (auto at = clients_.begin(); at != clients_.end();) {
      at = at->first.starts_with(std::to_string(tgid_)) ? clients_.erase(at) : std::next(at);
    }
  }

  static std::int64_t recorded(const Value& line) {
    const std::int64_t ret = line["ret"].GetInt64();
    const std::string name = line.HasMember("errno") ? line["errno"].GetString() : "0";
    return ret == -1 && name != "0" ? -errno_of(name) : ret;
  }

  /// True if the call may not be replayed, and why.
  bool set_aside(const std::string& name, const Value& line) {
    const Value& in = line["in"];
    const std::string note = line.HasMember("note") ? line["note"].GetString() : "";
    if (note == "wraps") return skip("we refuse what overflows in the real driver"), true;
    if (name == "MEM_BUF_COPY64" && in.HasMember("size") && in["size"].IsUint64() &&
        in["size"].GetUint64() >> 32) {
      return skip("we do not cut sizes to 32 bits"), true;
    }
    if (section_ == "descriptor vetting" && name == "DMA_COPY_DESCRIPTORS64" &&
        recorded(line) == -EINVAL && in["offset"].GetUint64() == 0 &&
        in["mem_handle"].GetUint64() >= 8 && in["mem_handle"].GetUint64() <= 9) {
      return skip("descriptor contents are not recorded"), true;
    }
    if (file_.find("-proc") != std::string::npos && name == "SEMAPHORE_READ") {
      return skip("the semaphore was set by a call that is not recorded"), true;
    }
    if (name.starts_with("EVENT_") &&
        in["nc_id"].GetUint64() >= (device_architecture_ == NEURON_ARCH_V2 ? 2 : 8)) {
      return skip("we refuse the events of cores that do not exist"), true;
    }
    if (name == "PRINTK" && in.HasMember("buffer") &&
        std::string(in["buffer"].GetString()) == "buf") {
      return skip("text is not recorded"), true;
    }
    return false;
  }

  std::uint64_t buffer_for(std::size_t index, const std::string& kind, const Value& line) {
    if (kind == "null") return 0;
    if (kind == "bad") return 8;
    const std::string note = line.HasMember("note") ? line["note"].GetString() : "";
    if (note == "half of the buffer unmapped") return short_.address();
    return reinterpret_cast<std::uintptr_t>(buffers_.at(index).data());
  }

  static void store(std::vector<std::uint8_t>& bytes, const Field& field, std::uint64_t value) {
    std::memcpy(bytes.data() + field.offset, &value, field.size);
  }

  static std::uint64_t load(const std::uint8_t* bytes, std::size_t size) {
    std::uint64_t value = 0;
    std::memcpy(&value, bytes, size);
    return value;
  }

  std::uint64_t number(const Value& value) const {
    if (value.IsString()) {
      const std::string text = value.GetString();
      if (text == "own") return static_cast<std::uint64_t>(tgid_);
      const auto process = processes_.find(text);
      return process == processes_.end() ? named(text).value_or(0) : process->second;
    }
    return value.IsUint64() ? value.GetUint64() : static_cast<std::uint64_t>(value.GetInt64());
  }

  /// Addresses that are names in the record; nothing for names that cannot be resolved.
  std::optional<std::uint64_t> named(const std::string& text) const {
    for (const std::string prefix : {"hostpa:h", "hostpa:nq"}) {
      if (!text.starts_with(prefix)) continue;
      const auto rest = text.substr(prefix.size());
      if (rest.empty() || rest.front() < '0' || rest.front() > '9') continue;
      const auto plus = rest.find('+');
      const std::uint64_t extra =
          plus == std::string::npos ? 0 : std::stoull(rest.substr(plus + 1));
      return pa_of(std::stoull(rest)) + extra;
    }
    return std::nullopt;
  }

  std::uint64_t pa_of(std::uint64_t handle) const {
    neuron_mem_get_extended_info info{};
    info.mem_handle = handle;
    for (const auto& [key, client] : clients_) {
      if (client->call(NEURON_IOCTL_MEM_GET_EXTENDED_INFO, info) == 0) return info.pa;
    }
    return 0;
  }

  void prepare(const Layout& layout, const Value& line, std::vector<std::uint8_t>& bytes) {
    std::size_t buffers = 0;
    std::size_t slots = 0;
    const Value& in = line["in"];
    for (const Field& field : layout.fields) {
      const Value* given = in.HasMember(field.name.c_str()) ? &in[field.name.c_str()] : nullptr;
      if (field.kind == 'b' || field.kind == 'p') {
        const bool is_text = given != nullptr && given->IsString();
        if (field.kind == 'p' && !is_text) {
          slot_[slots] = 0xAAAAAAAAAAAAAAAA;
          store(bytes, field, reinterpret_cast<std::uintptr_t>(&slot_[slots]));
          slot_names_[slots++] = field.name;
        } else if (is_text) {
          store(bytes, field, buffer_for(buffers++, given->GetString(), line));
        }
      } else if (given != nullptr) {
        store(bytes, field, number(*given));
      } else if (field.kind == 'o') {
        std::memset(bytes.data() + field.offset, fill, field.size);
      }
    }
    slot_count_ = slots;
  }

  /// Rings of the recorded test: TX i reads 4 KiB piece i of chunk 1, RX i writes piece i of
  /// chunk 2.
  void author_descriptors(const Value& in) {
    const std::uint64_t count = std::min<std::uint64_t>(in["num_descs"].GetUint64(), 4096);
    const bool rx = in["queue_type"].GetUint64() == NEURON_QUEUE_RX;
    const bool packet = section_ == "multi-descriptor packet";
    const std::uint32_t length = packet ? (rx ? 4000 : 1000) : 4096;
    const std::uint64_t base = pa_of(rx ? 2 : 1);
    for (std::uint64_t i = 0; i < count; ++i) {
      const neuron_udma_tx_desc desc{length, rx ? 0 : NEURON_UDMA_META_COPY, base + i * length};
      std::memcpy(buffers_[0].data() + i * sizeof desc, &desc, sizeof desc);
    }
  }

  /// The recorded test wrote a firmware word, then the protected ones, then a queue's cfg register.
  void author_bar_addresses(const Value& line) {
    const bool v2 = device_architecture_ == NEURON_ARCH_V2;
    const std::uint64_t misc = v2 ? NEURON_V2_BAR0_MISC_RAM : NEURON_V3_BAR0_MISC_RAM;
    const std::uint64_t engine = v2 ? neuron_v2_bar0_dma_engine(0) : neuron_v3_bar0_dma_engine(0);
    const std::string note = line.HasMember("note") ? line["note"].GetString() : "";
    std::uint64_t offset = misc;
    if (recorded(line) == -EINVAL) offset = misc + 0x1F0 + 4 * (protected_words_++ % 4);
    if (note == "doorbell") offset = engine + neuron_udma_tx_register(0, NEURON_UDMA_Q_TAIL_INC);
    if (note == "queue cfg register")
      offset = engine + neuron_udma_tx_register(0, NEURON_UDMA_Q_CFG);
    for (std::uint64_t i = 0; i < 128; ++i) {
      const std::uint64_t address = 0x100000000 + offset;
      std::memcpy(buffers_[0].data() + 8 * i, &address, 8);
    }
  }

  void ioctl(const Value& line) {
    const std::string name = line["name"].GetString();
    if (set_aside(name, line)) return;
    const auto layout = layouts_.find(name);
    Client* who = client(line);
    if (layout == layouts_.end() || who == nullptr) return skip("no layout or file for " + name);
    std::vector<std::uint8_t> bytes(std::max<std::size_t>(layout->second.size, 16384), 0);
    if (name == "DMA_COPY_DESCRIPTORS64" || name == "DMA_COPY_DESCRIPTORS") {
      author_descriptors(line["in"]);
    } else if (!name.ends_with("COPYOUT")) {
      std::fill_n(buffers_[0].begin(), 8192, fill);
      std::fill_n(buffers_[1].begin(), 8192, fill);
    }
    if (name.starts_with("BAR_")) author_bar_addresses(line);
    prepare(layout->second, line, bytes);
    const auto command =
        static_cast<std::uint32_t>(std::stoul(line["cmd"].GetString(), nullptr, 16));
    const std::int64_t got =
        nds_file_ioctl(who->file(), tgid_, command, reinterpret_cast<std::uintptr_t>(bytes.data()));
    ++result.lines;
    const std::int64_t expected = recorded(line);
    if (got != expected) {
      return differ(name, std::to_string(got), std::to_string(expected));
    }
    compare_out(name, layout->second, line, bytes);
  }

  void compare_out(const std::string& name, const Layout& layout, const Value& line,
                   const std::vector<std::uint8_t>& bytes) {
    if (!line.HasMember("out")) return;
    for (const auto& member : line["out"].GetObject()) {
      const std::string field_name = member.name.GetString();
      const auto field =
          std::find_if(layout.fields.begin(), layout.fields.end(),
                       [&](const Field& candidate) { return candidate.name == field_name; });
      if (field == layout.fields.end()) {
        if (field_name != "_bytes_past_end") skip("unknown output field " + field_name);
        continue;
      }
      if (field_name == "bar_size0" && file_.find("qemu") != std::string::npos) {
        skip("size of the virtual machine's BAR");
        continue;
      }
      std::uint64_t got = load(bytes.data() + field->offset, field->size);
      std::size_t size = field->size;
      if (field->kind == 'p') {
        size = 8;
        for (std::size_t i = 0; i < slot_count_; ++i)
          if (slot_names_[i] == field_name) got = slot_[i];
      }
      compare(name + "." + field_name, got, size, member.value);
    }
  }

  void compare(const std::string& what, std::uint64_t got, std::size_t size,
               const Value& expected) {
    std::uint64_t value = 0;
    if (expected.IsString()) {
      const std::string text = expected.GetString();
      if (text.starts_with("pid")) return note_process(what, got, text);
      if (text == "unwritten") {
        value = 0xAAAAAAAAAAAAAAAA >> (64 - 8 * size);
      } else if (const auto address = named(text)) {
        value = *address;
      } else {
        return;  // kernel pointers and the driver's own memory
      }
    } else {
      value = number(expected);
    }
    if (got != value) differ(what, std::to_string(got), std::to_string(value));
  }

  void note_process(const std::string& what, std::uint64_t got, const std::string& name) {
    const auto [at, added] = processes_.emplace(name, got);
    if (!added && at->second != got) differ(what, std::to_string(got), name);
  }

  /// Structures the call before stored through its pointers.
  void data(const Value& line) {
    const std::string name = line["name"].GetString();
    if (name == "state")
      return fields(line, 0, {"revision_id", "max_queues", "num_queues", "tx_state", "rx_state"});
    if (name == "tx" || name == "rx") return queue_state(line, name == "tx" ? 0 : 1);
    if (name == "chunk") return chunk(line);
    if (name == "map") return hex(line);
    skip("recorded bytes of " + name);
  }

  void fields(const Value& line, std::size_t buffer, const std::vector<std::string>& names) {
    ++result.lines;
    for (std::size_t i = 0; i < names.size(); ++i) {
      compare(names[i], load(buffers_[buffer].data() + 4 * i, 4), 4,
              line["fields"][names[i].c_str()]);
    }
  }

  void queue_state(const Value& line, std::size_t buffer) {
    static const std::map<std::string, Field> layout = {{"hw_status", {"", 0, 4}},
                                                        {"sw_status", {"", 4, 4}},
                                                        {"base_addr", {"", 8, 8}},
                                                        {"length", {"", 16, 4}},
                                                        {"head", {"", 20, 4}},
                                                        {"tail", {"", 24, 4}},
                                                        {"completion_base", {"", 32, 8}},
                                                        {"completion_head", {"", 40, 4}}};
    ++result.lines;
    for (const auto& member : line["fields"].GetObject()) {
      const Field& field = layout.at(member.name.GetString());
      compare(line["name"].GetString() + std::string(".") + member.name.GetString(),
              load(buffers_[buffer].data() + field.offset, field.size), field.size, member.value);
    }
  }

  void chunk(const Value& line) {
    // Records follow each other; each consumes 24 bytes of the dump.
    const std::uint8_t* at = buffers_[0].data() + 24 * chunk_index(line);
    ++result.lines;
    compare("chunk.pa", load(at, 8), 8, line["fields"]["pa"]);
    compare("chunk.size", load(at + 8, 8), 8, line["fields"]["size"]);
    compare("chunk.mem_type", load(at + 16, 4), 4, line["fields"]["mem_type"]);
  }

  std::size_t chunk_index(const Value&) {
    if (number_ != last_chunk_ + 1) chunk_count_ = 0;
    last_chunk_ = number_;
    return chunk_count_++;
  }

  void hex(const Value& line) {
    const std::string text = line["hex"].GetString();
    ++result.lines;
    for (std::size_t i = 0; i * 2 < text.size(); ++i) {
      const auto value = std::stoul(text.substr(2 * i, 2), nullptr, 16);
      if (buffers_[0][i] != value) {
        return differ("map byte " + std::to_string(i), std::to_string(buffers_[0][i]),
                      std::to_string(value));
      }
    }
  }

  void mmap(const Value& line) {
    const Value& in = line["in"];
    const std::string note = line.HasMember("note") ? line["note"].GetString() : "";
    Client* who = client(line);
    if (who == nullptr) return skip("no file for mmap");
    if (in["offset"].IsString() && !named(in["offset"].GetString())) {
      return skip("mmap of the driver's own memory");
    }
    nds_mapping mapping{};
    const int got =
        nds_file_mmap(who->file(), tgid_, number(in["offset"]), in["len"].GetUint64(), &mapping);
    const std::int64_t expected = recorded(line);
    if (got == -EPERM && expected == 0 && file_.find("mmapu") == std::string::npos) {
      return skip("raw mapping that only root may make");
    }
    ++result.lines;
    if (got != expected) differ("mmap", std::to_string(got), std::to_string(expected));
  }

  Machine machine_;
  std::vector<std::unique_ptr<Device>> devices_;
  std::uint32_t device_architecture_;
  unsigned protected_words_ = 0;
  std::map<std::string, Layout, std::less<>> layouts_;
  std::map<std::string, std::unique_ptr<Client>> clients_;
  std::array<std::vector<std::uint8_t>, 2> buffers_;
  ShortBuffer short_;
  std::uint64_t slot_[4] = {};
  std::string slot_names_[4];
  std::size_t slot_count_ = 0;
  std::map<std::string, std::uint64_t> processes_;
  std::string file_;
  std::string section_;
  int number_ = 0;
  int last_chunk_ = -2;
  std::size_t chunk_count_ = 0;
  std::int32_t tgid_ = first_process;
};

}  // namespace

ReplayResult replay(const nds_config& config, const std::vector<std::string>& files,
                    std::uint32_t devices) {
  Replay run(config, devices);
  for (const auto& file : files) run.run(file);
  return std::move(run.result);
}

}  // namespace devsim_test
