// SPDX-License-Identifier: MIT
#include "server.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/capability.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace neffld::shim {
namespace {

tl::unexpected<Error> socket_error(const std::string& path) {
  return fail(Status::failure, ErrorClass::file, {.member = path},
              fmt::format("the session's socket cannot be made: {}", std::strerror(errno)));
}

Result<Descriptor> listen_at(const std::string& path) {
  Descriptor listener(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    errno = ENAMETOOLONG;
    return socket_error(path);
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  if (!listener ||
      bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      chmod(path.c_str(), 0666) != 0 || listen(listener.get(), SOMAXCONN) != 0) {
    return socket_error(path);
  }
  return listener;
}

Descriptor open_process(std::int32_t process) {
  return Descriptor(static_cast<int>(syscall(SYS_pidfd_open, process, 0)));
}

/// Only the session's user is served, by root everybody.
bool may_use(int socket) {
  ucred who{};
  socklen_t length = sizeof who;
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &who, &length) != 0) return false;
  return geteuid() == 0 || who.uid == 0 || who.uid == geteuid();
}

/// Whether a process has the right to map any device address, CAP_SYS_RAWIO.
bool may_map_raw(std::int32_t process) {
  __user_cap_header_struct head{_LINUX_CAPABILITY_VERSION_3, process};
  __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3] = {};
  if (syscall(SYS_capget, &head, sets) != 0) return false;
  return (sets[0].effective >> CAP_SYS_RAWIO & 1) != 0;
}

}  // namespace

// --- Workers

Workers::~Workers() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Workers::run(std::function<void()> job) {
  const std::lock_guard lock(mutex_);
  jobs_.push_back(std::move(job));
  if (jobs_.size() > idle_) threads_.emplace_back([this] { work(); });
  changed_.notify_one();
}

void Workers::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    ++idle_;
    changed_.wait(lock, [this] { return ending_ || !jobs_.empty(); });
    --idle_;
    if (jobs_.empty()) return;
    const std::function<void()> job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    job();
    lock.lock();
  }
}

// --- the loop

Server::Server(SessionFolder folder, std::unique_ptr<Devices> devices, std::unique_ptr<CallLog> log)
    : folder_(std::move(folder)), devices_(std::move(devices)), log_(std::move(log)) {}

Result<void> Server::start(std::int32_t owner) {
  NEFFLD_ASSIGN(listener_, listen_at(folder_.path() + "/" + socket_name));
  epoll_ = Descriptor(epoll_create1(EPOLL_CLOEXEC));
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigprocmask(SIG_BLOCK, &signals, nullptr);
  stop_ = Descriptor(signalfd(-1, &signals, SFD_CLOEXEC));
  owner_ = open_process(owner);
  if (!owner_) {
    return fail(Status::invalid, ErrorClass::usage, {.path = "--owner"},
                fmt::format("process {}: {}", owner, std::strerror(errno)));
  }
  watch(listener_.get(), Watched::listener, 0);
  watch(stop_.get(), Watched::stop, 0);
  watch(owner_.get(), Watched::owner, 0);
  return {};
}

void Server::watch(int descriptor, Watched what, std::uint64_t number) {
  epoll_event event{};
  event.events = EPOLLIN | EPOLLRDHUP;
  event.data.u64 = static_cast<std::uint64_t>(what) << 56 | number;
  epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, descriptor, &event);
}

Result<void> Server::run() {
  // Real nodes' files are not ours; whoever has used one may go on.
  const auto unused = [this] {
    return files_.empty() && connections_.empty() && (devices_ || clients_.empty());
  };
  while (!stopped_ && !(owner_gone_ && unused())) wait_and_serve();
  for (auto& [socket, file] : files_) file->end_all();
  return log_ ? log_->finish() : Result<void>();
}

/// What has ended comes before what is asked: a program that has waited for another one's end finds
/// the device without it, as the kernel closes files before it tells the parent.
void Server::wait_and_serve() {
  std::array<epoll_event, 1024> events;
  const int count = epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), -1);
  if (count <= 0) return;
  const auto kind = [](const epoll_event& event) {
    return static_cast<Watched>(event.data.u64 >> 56);
  };
  std::sort(events.begin(), events.begin() + count,
            [&](const epoll_event& a, const epoll_event& b) {
              const auto rank = [&](const epoll_event& event) {
                const bool ended = kind(event) == Watched::client_end || (event.events & EPOLLHUP);
                return std::pair(!ended, event.data.u64);
              };
              return rank(a) < rank(b);
            });
  for (int i = 0; i < count; ++i) {
    const auto number = events[static_cast<std::size_t>(i)].data.u64 & 0xFFFFFFFF;
    const bool ended = events[static_cast<std::size_t>(i)].events & EPOLLHUP;
    switch (kind(events[static_cast<std::size_t>(i)])) {
      case Watched::client_end:
        end_client(static_cast<std::int32_t>(number));
        break;
      case Watched::file:
        if (ended) {
          end_file(static_cast<int>(number));
        } else {
          serve_file(static_cast<int>(number));
        }
        break;
      case Watched::owner:
        owner_gone_ = true;
        epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, owner_.get(), nullptr);
        break;
      case Watched::stop:
        stopped_ = true;
        break;
      case Watched::listener:
        accept_connections();
        break;
      case Watched::connection:
        serve_connection(static_cast<int>(number));
        break;
    }
  }
}

void Server::end_client(std::int32_t process) {
  const auto found = clients_.find(process);
  if (found == clients_.end()) return;
  {
    // A process does not end inside a system call; its calls notice and end soon.
    std::unique_lock lock(calls_mutex_);
    call_ended_.wait(lock, [&] { return found->second->calls == 0; });
  }
  for (auto& [socket, file] : files_) file->end(process);
  clients_.erase(found);
}

void Server::end_file(int socket) {
  const auto found = files_.find(socket);
  if (found == files_.end()) return;
  epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, socket, nullptr);
  found->second->end_all();
  files_.erase(found);
}

void Server::accept_connections() {
  for (;;) {
    Descriptor socket(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!socket) return;
    const int number = socket.get();
    connections_[number] = std::move(socket);
    watch(number, Watched::connection, static_cast<std::uint64_t>(number));
  }
}

std::shared_ptr<Client> Server::client_of(int socket, std::int32_t& process) {
  process = process_behind(socket);
  if (process <= 0) return nullptr;
  if (const auto found = clients_.find(process); found != clients_.end()) return found->second;
  auto client = std::make_shared<Client>();
  client->life = open_process(process);
  if (!client->life) return nullptr;
  clients_[process] = client;
  watch(client->life.get(), Watched::client_end, static_cast<std::uint64_t>(process));
  return client;
}

// --- requests

void Server::serve_connection(int number) {
  Descriptor socket = std::move(connections_[number]);
  connections_.erase(number);
  epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, number, nullptr);
  Request request;
  if (receive_message(number, &request, sizeof request) != sizeof request) return;
  if (request.ask == Ask::hello) return say_hello(number);
  std::int32_t process = 0;
  const bool allowed = may_use(number) && request.version == protocol_version;
  const auto client = allowed ? client_of(number, process) : nullptr;
  auto remote =
      std::make_shared<Remote>(std::move(socket), process, client ? client->life.get() : -1);
  if (client == nullptr) return remote->done(-EPERM);
  request.path[sizeof request.path - 1] = 0;
  switch (request.ask) {
    case Ask::open:
      return open(*remote, request);
    case Ask::refresh:
      return refresh(*remote, request);
    case Ask::record:
      if (log_ == nullptr) break;
      return start_call(client, [this, remote, request] {
        remote->done(log_->record(request, *remote, [&] { return remote->go(); }));
      });
    case Ask::record_map:
      if (log_ == nullptr) break;
      return start_call(client, [this, remote, request] {
        log_->mapping(request, *remote,
                      {request.argument, request.length, request.writable != 0, true,
                       request.succeeded != 0});
        remote->done(0);
      });
    case Ask::unmap:
      if (log_ == nullptr) break;
      return start_call(client, [this, remote, request] {
        log_->unmapping(request.length);
        remote->done(0);
      });
    default:
      break;
  }
  remote->done(-EINVAL);
}

void Server::serve_file(int socket) {
  const auto found = files_.find(socket);
  if (found == files_.end()) return;
  const std::shared_ptr<OpenFile> file = found->second;
  Request request;
  Descriptor reply;
  if (receive_message(socket, &request, sizeof request, {}, &reply) != sizeof request || !reply) {
    return;  // not from our library
  }
  std::int32_t process = 0;
  const auto client = client_of(reply.get(), process);
  auto remote =
      std::make_shared<Remote>(std::move(reply), process, client ? client->life.get() : -1);
  if (client == nullptr || request.version != protocol_version) return remote->done(-EPERM);
  request.device = file->device();
  request.flags = file->flags();
  switch (request.ask) {
    case Ask::close:
      return close(*remote, request, *file);
    case Ask::ioctl:
      file->hold(process);
      return start_call(client, [this, remote, request, file] { call(*remote, request, *file); });
    case Ask::map:
      file->hold(process);
      return start_call(client, [this, remote, request, file] { map(*remote, request, *file); });
    default:
      return remote->done(-EINVAL);
  }
}

void Server::say_hello(int socket) {
  Hello hello;
  hello.count = devices_ ? static_cast<std::uint32_t>(devices_->all().size()) : 0;
  hello.pass_through = devices_ == nullptr;
  hello.traced = log_ != nullptr;
  send_message(socket, &hello, sizeof hello);
}

void Server::open(Remote& remote, const Request& request) {
  if (!devices_) return remote.done(-ENOENT);
  std::shared_ptr<OpenFile> file;
  Descriptor programs_end;
  const int error = devices_->open(request, remote.process(), file, programs_end);
  if (error != 0) return remote.done(error);
  const int socket = file->socket();
  files_[socket] = std::move(file);
  watch(socket, Watched::file, static_cast<std::uint64_t>(socket));
  remote.done({}, programs_end.get());
}

void Server::refresh(Remote& remote, const Request& request) {
  if (!devices_) return remote.done(-ENOENT);
  const auto done = folder_.refresh(request.path, devices_->all(), devices_->driver_version());
  if (!done) tell(done.error());
  remote.done(done ? 0 : -EIO);
}

void Server::close(Remote& remote, const Request& request, OpenFile& file) {
  file.close(remote.process(), request.last != 0);
  remote.done(0);
}

void Server::start_call(std::shared_ptr<Client> client, std::function<void()> body) {
  {
    const std::lock_guard lock(calls_mutex_);
    ++client->calls;
  }
  workers_.run([this, client = std::move(client), body = std::move(body)] {
    body();
    // Notified under the lock: the server may end as soon as it is free.
    const std::lock_guard lock(calls_mutex_);
    --client->calls;
    call_ended_.notify_all();
  });
}

void Server::call(Remote& remote, const Request& request, OpenFile& file) {
  const auto make = [&] {
    nds_user_set_caller(&remote.model_caller());
    const long result =
        nds_file_ioctl(file.get(), remote.process(), request.command, request.argument);
    nds_user_set_caller(nullptr);
    return static_cast<int>(result);
  };
  remote.done(log_ ? log_->record(request, remote, make) : make());
}

void Server::map(Remote& remote, const Request& request, OpenFile& file) {
  nds_mapping mapping{};
  Message message;
  nds_user_allow_raw_mappings(may_map_raw(remote.process()));
  message.result =
      nds_file_mmap(file.get(), remote.process(), request.argument, request.length, &mapping);
  int memory = -1;
  if (message.result == 0) {
    memory = nds_user_space_file(mapping.space, mapping.offset, &message.offset);
    message.read_only = mapping.read_only;
  }
  if (log_) {
    log_->mapping(
        request, remote,
        {request.argument, request.length, request.writable != 0, true, message.result == 0});
  }
  remote.done(message, memory);
}

}  // namespace neffld::shim
