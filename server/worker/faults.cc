// ingot-worker-faults: ingot-worker with faults to order, for tests; never
// installed. Orders are lines of the file "faults" in the working directory:
//
//   number match fault times
//
// A compile meets the first order whose `match` is a word of "symbol name=value
// name=value ..." and which has been used fewer than `times` times, whatever
// worker used it. Faults:
//
//   abort  segv  kill      the worker ends by SIGABRT, SIGSEGV, SIGKILL
//   exit0  exit1           it exits, with no answer
//   hang   spin            it sleeps, or burns CPU, for ever
//   memory                 it allocates until it may not
//   garbage  oversize      it answers with no message, with an absurd length
//   empty  truncated       it answers OK with no object, with half of one
//   machine                it answers with an object for another machine
//   pad                    it answers with an object padded to 1.5 MiB
//   refuse  internal       the compiler says FAILED_PRECONDITION, INTERNAL
//   read  write  connect   it reads /etc/passwd, writes into the folder above,
//   exec  signal  code     talks to a socket, starts a program, signals its
//                          daemon, makes a page of code; answers
//                          FAILED_PRECONDITION with "it could" or the error
//   sleep1500              it takes 1500 ms longer; any number
//
// The match "hello" makes a worker introduce itself as one of another build.
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/kernel_spec.h"
#include "server/worker/serve.h"

namespace {

using ingot::server::kWorkerSocket;
namespace worker = ingot::worker;

constexpr size_t kPaddedBytes = 3 << 19;
constexpr size_t kElfMachineOffset = 18;

// Whether this use of the order is within its `times`: the first to create the
// use's file has it.
bool Claim(const std::string& number, int times) {
  for (int use = 0; use < times; ++use) {
    const std::string claim = absl::StrCat("fault-", number, "-", use);
    const int fd = open(claim.c_str(), O_CREAT | O_EXCL | O_WRONLY, 0600);
    if (fd >= 0) {
      close(fd);
      return true;
    }
  }
  return false;
}

bool IsWordOf(const std::string& match, const std::string& words) {
  std::istringstream in(words);
  for (std::string word; in >> word;) {
    if (word == match) return true;
  }
  return false;
}

// The fault that is ordered for `words`; empty when none is.
std::string FaultFor(const std::string& words) {
  std::ifstream orders("faults");
  std::string number;
  std::string match;
  std::string fault;
  int times = 0;
  while (orders >> number >> match >> fault >> times) {
    if (IsWordOf(match, words) && Claim(number, times)) return fault;
  }
  return "";
}

std::string WordsOf(const worker::Request& request) {
  const absl::StatusOr<ingot::KernelSpec> spec =
      ingot::DecodeKernelSpec(request.compile().key_encoding());
  if (!request.has_compile() || !spec.ok()) return "";
  std::string words = spec->symbol;
  for (const ingot::Param& param : spec->params) {
    absl::StrAppend(&words, " ", param.name, "=");
    std::visit([&](const auto& value) { absl::StrAppend(&words, value); },
               param.value);
  }
  return words;
}

void SendRaw(const char* bytes, size_t size) {
  (void)!send(kWorkerSocket, bytes, size, MSG_NOSIGNAL);
}

[[noreturn]] void Spin() {
  for (;;) asm volatile("");
}

void Allocate() {
  constexpr size_t kStep = 64 << 20;
  for (;;) std::memset(new char[kStep], 1, 1);
}

void Before(const std::string& fault) {
  if (fault == "abort") std::abort();
  if (fault == "segv") raise(SIGSEGV);
  if (fault == "kill") raise(SIGKILL);
  if (fault == "exit0") _exit(0);
  if (fault == "exit1") _exit(1);
  if (fault == "spin") Spin();
  if (fault == "memory") Allocate();
  if (fault.rfind("sleep", 0) == 0) usleep(std::stoi(fault.substr(5)) * 1000);
  if (fault == "garbage") SendRaw("\x05\x00\x00\x00\xff\xff\xff\xff\xff", 9);
  if (fault == "oversize") SendRaw("\xff\xff\xff\xff", 4);
  while (fault == "hang" || fault == "garbage" || fault == "oversize") {
    sleep(1);
  }
}

void Answer(int code, worker::Reply& reply) {
  reply.Clear();
  reply.set_code(code);
  reply.set_message("ordered by a test");
}

// What a worker has no business to do; 0 or -1 with errno.
int Trespass(const std::string& fault) {
  if (fault == "read") return open("/etc/passwd", O_RDONLY);
  if (fault == "write") return open("../trespass", O_CREAT | O_WRONLY, 0600);
  if (fault == "connect") return socket(AF_INET, SOCK_STREAM, 0);
  if (fault == "exec") {
    char name[] = "true";
    char* argv[] = {name, nullptr};
    return execv("/bin/true", argv);
  }
  if (fault == "signal") return kill(getppid(), 0);
  const void* page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return page == MAP_FAILED ? -1 : 0;
}

bool IsTrespass(const std::string& fault) {
  return fault == "read" || fault == "write" || fault == "connect" ||
         fault == "exec" || fault == "signal" || fault == "code";
}

void After(const std::string& fault, worker::Reply& reply) {
  std::string& object = *reply.mutable_object();
  if (fault == "empty") object.clear();
  if (fault == "truncated") object.resize(object.size() / 2);
  if (fault == "machine") object[kElfMachineOffset] = 62;  // EM_X86_64
  if (fault == "pad") object.resize(kPaddedBytes);
  if (fault == "refuse") Answer(9, reply);
  if (IsTrespass(fault)) {
    const bool could = Trespass(fault) >= 0;
    const std::string why = could ? "it could" : std::strerror(errno);
    Answer(9, reply);
    reply.set_message(why);
  }
  if (fault == "internal") {
    Answer(13, reply);
    reply.set_ir_dump("module {}");
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::string fault;
  ingot::server::WorkerHooks hooks;
  hooks.writable = ".";  // where orders are claimed
  hooks.hello = [](worker::Hello& hello) {
    if (!FaultFor("hello").empty()) {
      hello.mutable_ops(0)->set_fingerprint(std::string(32, '\0'));
    }
  };
  hooks.before = [&](const worker::Request& request, worker::Reply&) {
    fault = FaultFor(WordsOf(request));
    Before(fault);
  };
  hooks.after = [&](const worker::Request&, worker::Reply& reply) {
    After(fault, reply);
  };
  return ingot::server::WorkerMain(argc, argv, hooks);
}
