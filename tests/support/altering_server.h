// A daemon as another version would be: a gRPC server that hands every unary
// call on to a real daemon and changes what is asked or answered on the way.
#ifndef INGOT_TESTS_SUPPORT_ALTERING_SERVER_H_
#define INGOT_TESTS_SUPPORT_ALTERING_SERVER_H_

#include <functional>
#include <memory>
#include <string>

#include "google/protobuf/message.h"
#include "grpcpp/generic/async_generic_service.h"
#include "grpcpp/generic/generic_stub.h"
#include "grpcpp/grpcpp.h"

namespace ingot::testing {

struct Alterations {
  // Methods that this version does not have, as "GetCapabilities".
  std::function<bool(const std::string& method)> lacks;
  // Changes the bytes of a message in place. Each may be empty.
  std::function<void(const std::string& method, std::string* bytes)> request;
  std::function<void(const std::string& method, std::string* bytes)> reply;
};

class AlteringServer {
 public:
  // Listens on the Unix socket `path`; `daemon` is a gRPC target. The functions
  // are called from threads of gRPC. Fails the test when it cannot listen.
  AlteringServer(const std::string& path, const std::string& daemon,
                 Alterations alterations);
  ~AlteringServer();

  std::string address() const { return "unix:" + path_; }

 private:
  class Service;

  const std::string path_;
  std::unique_ptr<Service> service_;
  std::unique_ptr<grpc::Server> server_;
};

// Gives `message` and every message inside it fields that nobody knows, as a
// later version may.
void AddUnknownFields(google::protobuf::Message* message);

}  // namespace ingot::testing

#endif  // INGOT_TESTS_SUPPORT_ALTERING_SERVER_H_
