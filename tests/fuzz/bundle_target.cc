#include <memory>
#include <string>
#include <vector>

#include "client/src/bundle_file.h"
#include "client/src/bundle_format.h"
#include "client/src/byte_source.h"
#include "compiler/sha256.h"
#include "tests/fuzz/targets.h"

namespace ingot::fuzz {
namespace {

using client::BundleFile;

void ExpectFound(const BundleFile& file) {
  for (size_t i = 0; i < file.plans().size(); ++i) {
    const auto [first, last] = file.FindPlans(file.plans()[i].spec_digest);
    Expect(first <= i && i < last && last <= file.plans().size());
  }
  for (size_t i = 0; i < file.kernels().size(); ++i) {
    Expect(file.FindKernel(file.kernels()[i].key) == i);
    Expect(file.kernels()[i].object < file.objects().size());
  }
}

// Whether every part is what the directory says.
bool ReadsWhole(const BundleFile& file) {
  bool whole = true;
  std::string bytes;
  for (const auto& plan : file.plans()) {
    const bool read = file.ReadPlan(plan, &bytes).ok();
    Expect(!read || Sha256(bytes) == client::BytesOf(plan.hash));
    whole = whole && read;
  }
  for (const auto& kernel : file.kernels()) {
    const bool read = file.ReadRecord(kernel, &bytes).ok();
    Expect(!read || Sha256(bytes) == client::BytesOf(kernel.hash));
    whole = whole && read;
  }
  for (const auto& object : file.objects()) {
    const bool read = file.ReadObject(object, &bytes).ok();
    Expect(!read || Sha256(bytes) == client::BytesOf(object.digest));
    whole = whole && read;
  }
  return whole;
}

// The same with sizes and hashes of the header put right, which chance would
// never do: what is behind them must hold by itself.
std::vector<uint8_t> Sealed(const uint8_t* data, size_t size) {
  std::vector<uint8_t> bytes(data, data + size);
  client::BundleHeader header;
  client::DecodeHeader(data, &header);
  header.version = header.oldest_reader = client::kBundleVersion;
  header.file_bytes = size;
  const uint64_t directory = client::DirectoryBytes(header);
  if (directory <= size) {
    header.directory_offset = size - directory;
    header.directory_hash = client::HashOf(Sha256(absl::string_view(
        reinterpret_cast<const char*>(data) + header.directory_offset,
        directory)));
  }
  client::EncodeHeader(header, bytes.data());
  return bytes;
}

void Read(const uint8_t* data, size_t size) {
  std::shared_ptr<const BundleFile> file;
  const client::Status opened =
      BundleFile::Open(client::BytesInMemory("bundle", data, size), &file);
  Expect(opened.ok() == (file != nullptr));
  Expect(opened.ok() || !opened.message.empty());
  if (!opened.ok()) return;
  Expect(file->bytes() == size);
  ExpectFound(*file);
  Expect(ReadsWhole(*file) || !file->CheckAll().ok());
}

}  // namespace

void BundleBytes(const uint8_t* data, size_t size) {
  Read(data, size);
  if (size < client::kBundleHeaderBytes) return;
  const std::vector<uint8_t> sealed = Sealed(data, size);
  Read(sealed.data(), sealed.size());
}

}  // namespace ingot::fuzz
