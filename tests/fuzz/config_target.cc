#include <string>

#include "server/config.h"
#include "tests/fuzz/targets.h"

namespace ingot::fuzz {

void ConfigBytes(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  server::Config config;
  const absl::Status first = server::ApplyToml(text, "fuzz.toml", &config);
  Expect(first.ok() || !first.message().empty());
  server::Config again = config;
  Expect(server::ApplyToml(text, "fuzz.toml", &again).code() == first.code());
}

}  // namespace ingot::fuzz
