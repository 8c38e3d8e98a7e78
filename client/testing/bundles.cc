#include "client/testing/bundles.h"

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "client/src/code_object.h"
#include "client/testing/plans.h"
#include "gtest/gtest.h"

namespace ingot::client {

TestFolder::TestFolder() : path_(::testing::TempDir() + "bundle-XXXXXX") {
  if (mkdtemp(path_.data()) == nullptr) abort();
}

TestFolder::~TestFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string TestHash(uint64_t number) {
  const std::string text = "hash " + std::to_string(number);
  return Sha256(text.data(), text.size());
}

v1::Record RecordOf(const std::string& symbol, const std::string& object) {
  v1::Record record;
  record.set_schema(1);
  record.set_key(Sha256(symbol.data(), symbol.size()));
  record.set_digest(Sha256(object.data(), object.size()));
  record.set_size(object.size());
  record.set_fingerprint(TestHash(0));
  v1::Description* description = record.mutable_description();
  description->set_symbol(symbol);
  description->set_target("gfx950");
  description->set_op("test");
  description->set_max_workgroup(64);
  return record;
}

v1::Plan PlanOf(const std::string& spec_digest, const std::string& symbol) {
  v1::Plan plan;
  plan.set_schema(1);
  plan.set_spec_digest(spec_digest);
  plan.set_fingerprint(TestHash(0));
  plan.set_epoch(1);
  plan.mutable_resolved_spec()->set_op("test");
  AddLaunch(AddVariant(&plan, "only"), symbol, Const(1));
  return plan;
}

std::string ReadAll(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

void WriteAll(const std::string& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary);
  file << bytes;
  file.close();
  ASSERT_TRUE(file) << path;
}

}  // namespace ingot::client
