#include "client/ctl/manifest.h"

#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <utility>

#include "client/ctl/spec_digest.h"

namespace ingot::ctl {
namespace {

using client::Error;
using client::Status;
using google::protobuf::util::JsonStringToMessage;
using google::protobuf::util::MessageToJsonString;

constexpr char kRecorded[] = "recorded";

// Takes the field "recorded" out of a line. False when there is none, and for
// what is no JSON: the spec's parser says that better.
bool TakeRecorded(std::string* line, std::string* recorded) {
  google::protobuf::Struct fields;
  if (line->find(kRecorded) == std::string::npos ||
      !JsonStringToMessage(*line, &fields).ok()) {
    return false;
  }
  const auto found = fields.fields().find(kRecorded);
  if (found == fields.fields().end()) return false;
  recorded->clear();
  line->clear();
  if (!MessageToJsonString(found->second, recorded).ok()) return false;
  fields.mutable_fields()->erase(kRecorded);
  return MessageToJsonString(fields, line).ok();
}

Status ParseLine(std::string line, v1::RecordedSpec* spec) {
  std::string recorded;
  if (TakeRecorded(&line, &recorded)) {
    const auto status = JsonStringToMessage(recorded, spec->mutable_traffic());
    if (!status.ok()) {
      return Error(INGOT_INVALID_ARGUMENT,
                   "recorded: %s; allowed is the JSON form of "
                   "ingot.v1.SpecTraffic",
                   std::string(status.message()).c_str());
    }
  } else {
    spec->mutable_traffic()->set_requests(1);
  }
  const auto status = JsonStringToMessage(line, spec->mutable_spec());
  if (status.ok()) return Status();
  return Error(INGOT_INVALID_ARGUMENT,
               "%s; allowed is the JSON form of ingot.v1.Spec on each line",
               std::string(status.message()).c_str());
}

Status ReadLines(const std::string& file,
                 const std::function<Status(v1::RecordedSpec)>& take) {
  std::ifstream opened;
  if (file != "-") {
    opened.open(file);
    if (!opened) {
      return Error(INGOT_INVALID_ARGUMENT,
                   "manifest: found \"%s\", allowed a file that can be read",
                   file.c_str());
    }
  }
  std::istream& in = file == "-" ? std::cin : opened;
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    v1::RecordedSpec spec;
    Status status = ParseLine(line, &spec);
    if (status.ok()) status = take(std::move(spec));
    if (!status.ok()) {
      return Error(status.code, "manifest %s:%d: %s", file.c_str(), number,
                   status.message.c_str());
    }
  }
  return Status();
}

void AddTokens(const v1::SeenTokens& more, v1::SpecTraffic* traffic) {
  for (v1::SeenTokens& tokens : *traffic->mutable_tokens()) {
    if (tokens.dim() != more.dim()) continue;
    tokens.set_min(std::min(tokens.min(), more.min()));
    tokens.set_max(std::max(tokens.max(), more.max()));
    return;
  }
  *traffic->add_tokens() = more;
}

void AddTraffic(const v1::SpecTraffic& more, v1::SpecTraffic* traffic) {
  traffic->set_requests(traffic->requests() + more.requests());
  traffic->set_hits(traffic->hits() + more.hits());
  traffic->set_compiled(traffic->compiled() + more.compiled());
  traffic->set_refused(traffic->refused() + more.refused());
  traffic->set_abandoned(traffic->abandoned() + more.abandoned());
  if (more.last_unix_ms() >= traffic->last_unix_ms()) {
    traffic->set_last_unix_ms(more.last_unix_ms());
    traffic->set_last_result(more.last_result());
  }
  if (traffic->first_unix_ms() == 0 ||
      (more.first_unix_ms() != 0 &&
       more.first_unix_ms() < traffic->first_unix_ms())) {
    traffic->set_first_unix_ms(more.first_unix_ms());
  }
  for (const v1::SeenTokens& tokens : more.tokens()) AddTokens(tokens, traffic);
}

}  // namespace

Status ReadManifest(const std::string& file, std::vector<v1::Spec>* specs) {
  return ReadLines(file, [&](v1::RecordedSpec spec) {
    specs->push_back(std::move(*spec.mutable_spec()));
    return Status();
  });
}

Status ReadRecorded(const std::vector<std::string>& files,
                    std::vector<v1::RecordedSpec>* specs) {
  std::map<std::string, v1::RecordedSpec> by_digest;
  for (const std::string& file : files) {
    INGOT_CLIENT_RETURN_IF_ERROR(
        ReadLines(file, [&](v1::RecordedSpec spec) -> Status {
          std::string digest;
          INGOT_CLIENT_RETURN_IF_ERROR(DigestOf(spec.spec(), &digest));
          v1::RecordedSpec& sum = by_digest[digest];
          if (sum.spec_digest().empty()) {
            *sum.mutable_spec() = spec.spec();
            sum.set_spec_digest(digest);
          }
          AddTraffic(spec.traffic(), sum.mutable_traffic());
          return Status();
        }));
  }
  for (auto& [digest, spec] : by_digest) specs->push_back(std::move(spec));
  std::stable_sort(specs->begin(), specs->end(),
                   [](const v1::RecordedSpec& a, const v1::RecordedSpec& b) {
                     return a.traffic().requests() > b.traffic().requests();
                   });
  return Status();
}

std::string ManifestLine(const v1::Spec& spec) {
  std::string line;
  (void)MessageToJsonString(spec, &line);
  return line;
}

std::string RecordedLine(const v1::RecordedSpec& spec) {
  std::string line = ManifestLine(spec.spec());
  std::string traffic;
  (void)MessageToJsonString(spec.traffic(), &traffic);
  line.pop_back();  // the brace; a spec has at least its op before it
  return line + ",\"" + kRecorded + "\":" + traffic + "}";
}

}  // namespace ingot::ctl
