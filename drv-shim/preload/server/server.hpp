// SPDX-License-Identifier: MIT
// Serves the programs of a session until its owner and every user of a device have gone.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "call_log.hpp"
#include "devices.hpp"
#include "folder.hpp"

namespace neffld::shim {

/// Threads that run jobs, as many as there are jobs at once.
class Workers {
 public:
  ~Workers();
  void run(std::function<void()> job);

 private:
  void work();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> jobs_;
  std::vector<std::thread> threads_;
  std::size_t idle_ = 0;
  bool ending_ = false;
};

/// A process that has used the session.
struct Client {
  Descriptor life;     ///< pidfd(2)
  unsigned calls = 0;  ///< in progress, guarded by Server::calls_mutex_
};

class Server {
 public:
  /// `devices` is null for pass-through, `log` if nothing is recorded.
  Server(SessionFolder folder, std::unique_ptr<Devices> devices, std::unique_ptr<CallLog> log);

  /// Errors: the socket cannot be made (class file), the owner is not there (class usage).
  Result<void> start(std::int32_t owner);
  /// Returns when the session is over, or when it is told to end by SIGTERM. Errors: the trace
  /// could not be written (class file).
  Result<void> run();
  const std::string& folder() const { return folder_.path(); }

 private:
  enum class Watched { client_end, file, owner, stop, listener, connection };
  void watch(int descriptor, Watched what, std::uint64_t number);
  void wait_and_serve();

  void end_client(std::int32_t process);
  void end_file(int socket);
  void accept_connections();
  void serve_connection(int socket);
  void serve_file(int socket);

  /// The client behind a socket; null if it cannot be told or has ended.
  std::shared_ptr<Client> client_of(int socket, std::int32_t& process);
  void say_hello(int socket);
  void open(Remote& remote, const Request& request);
  void refresh(Remote& remote, const Request& request);
  void close(Remote& remote, const Request& request, OpenFile& file);
  /// Runs a call in a thread of its own; the client's end waits for it.
  void start_call(std::shared_ptr<Client> client, std::function<void()> body);
  void call(Remote& remote, const Request& request, OpenFile& file);
  void map(Remote& remote, const Request& request, OpenFile& file);

  SessionFolder folder_;
  std::unique_ptr<Devices> devices_;
  std::unique_ptr<CallLog> log_;
  Descriptor epoll_, listener_, owner_, stop_;
  bool owner_gone_ = false, stopped_ = false;
  std::map<int, Descriptor> connections_;           ///< accepted, without a request yet
  std::map<int, std::shared_ptr<OpenFile>> files_;  ///< by the server's end of their sockets
  std::map<std::int32_t, std::shared_ptr<Client>> clients_;
  std::mutex calls_mutex_;
  std::condition_variable call_ended_;
  Workers workers_;  ///< the last: its threads use the rest
};

}  // namespace neffld::shim
