// Bundles made up by tests.
#ifndef INGOT_CLIENT_TESTING_BUNDLES_H_
#define INGOT_CLIENT_TESTING_BUNDLES_H_

#include <cstdint>
#include <string>

#include "ingot/v1/plan.pb.h"
#include "ingot/v1/record.pb.h"

namespace ingot::client {

// A folder that goes with the object.
class TestFolder {
 public:
  TestFolder();
  ~TestFolder();
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;

  std::string operator/(const std::string& name) const {
    return path_ + "/" + name;
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// 32 bytes that differ by `number`.
std::string TestHash(uint64_t number);

// A record for `object` under the key that AddLaunch of plans.h gives `symbol`.
v1::Record RecordOf(const std::string& symbol, const std::string& object);

// A plan without dims or operands that launches `symbol`.
v1::Plan PlanOf(const std::string& spec_digest, const std::string& symbol);

std::string ReadAll(const std::string& path);
void WriteAll(const std::string& path, const std::string& bytes);

}  // namespace ingot::client

#endif  // INGOT_CLIENT_TESTING_BUNDLES_H_
