#include "client/ctl/manifest.h"

#include <google/protobuf/util/json_util.h>

#include <fstream>
#include <iostream>

namespace ingot::ctl {

client::Status ReadManifest(const std::string& file,
                            std::vector<v1::Spec>* specs) {
  std::ifstream opened;
  if (file != "-") {
    opened.open(file);
    if (!opened) {
      return client::Error(INGOT_INVALID_ARGUMENT,
                           "manifest: found \"%s\", allowed a file that can be "
                           "read",
                           file.c_str());
    }
  }
  std::istream& in = file == "-" ? std::cin : opened;
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    v1::Spec spec;
    const auto status =
        google::protobuf::util::JsonStringToMessage(line, &spec);
    if (!status.ok()) {
      return client::Error(INGOT_INVALID_ARGUMENT,
                           "manifest %s:%d: %s; allowed is the JSON form of "
                           "ingot.v1.Spec on each line",
                           file.c_str(), number,
                           std::string(status.message()).c_str());
    }
    specs->push_back(std::move(spec));
  }
  return client::Status();
}

}  // namespace ingot::ctl
