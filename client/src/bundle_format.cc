#include "client/src/bundle_format.h"

#include <cstring>
#include <tuple>

#include "client/src/code_object.h"

namespace ingot::client {
namespace {

// Little-endian, whatever the machine.
template <typename T>
void Put(T value, uint8_t* out) {
  for (size_t i = 0; i < sizeof(T); ++i) {
    out[i] = static_cast<uint8_t>(value >> (8 * i));
  }
}

template <typename T>
T Take(const uint8_t* bytes) {
  T value = 0;
  for (size_t i = 0; i < sizeof(T); ++i) {
    value |= static_cast<T>(static_cast<T>(bytes[i]) << (8 * i));
  }
  return value;
}

void PutHash(const Hash& hash, uint8_t* out) {
  memcpy(out, hash.data(), hash.size());
}

Hash TakeHash(const uint8_t* bytes) {
  Hash hash;
  memcpy(hash.data(), bytes, hash.size());
  return hash;
}

bool AllZero(const uint8_t* bytes, size_t size) {
  for (size_t i = 0; i < size; ++i) {
    if (bytes[i] != 0) return false;
  }
  return true;
}

constexpr size_t kHeaderHashOffset = kBundleHeaderBytes - kHashBytes;

}  // namespace

bool Before(const BundlePlan& a, const BundlePlan& b) {
  return std::tuple(a.spec_digest, !a.serving, ~a.epoch, a.fingerprint) <
         std::tuple(b.spec_digest, !b.serving, ~b.epoch, b.fingerprint);
}

uint64_t DirectoryBytes(const BundleHeader& header) {
  return BundleAlign(header.manifest_bytes) +
         uint64_t{header.plans} * kPlanEntryBytes +
         uint64_t{header.kernels} * kKernelEntryBytes +
         uint64_t{header.objects} * kObjectEntryBytes;
}

void EncodeHeader(const BundleHeader& header, uint8_t* out) {
  memset(out, 0, kBundleHeaderBytes);
  memcpy(out, kBundleMagic, sizeof(kBundleMagic));
  Put(header.version, out + 8);
  Put(header.oldest_reader, out + 12);
  Put(header.file_bytes, out + 16);
  Put(header.directory_offset, out + 24);
  Put(header.manifest_bytes, out + 32);
  Put(header.plans, out + 36);
  Put(header.kernels, out + 40);
  Put(header.objects, out + 44);
  PutHash(header.directory_hash, out + 64);
  const std::string own = Sha256(out, kHeaderHashOffset);
  memcpy(out + kHeaderHashOffset, own.data(), own.size());
}

bool DecodeHeader(const uint8_t* bytes, BundleHeader* header) {
  header->version = Take<uint32_t>(bytes + 8);
  header->oldest_reader = Take<uint32_t>(bytes + 12);
  header->file_bytes = Take<uint64_t>(bytes + 16);
  header->directory_offset = Take<uint64_t>(bytes + 24);
  header->manifest_bytes = Take<uint32_t>(bytes + 32);
  header->plans = Take<uint32_t>(bytes + 36);
  header->kernels = Take<uint32_t>(bytes + 40);
  header->objects = Take<uint32_t>(bytes + 44);
  header->directory_hash = TakeHash(bytes + 64);
  return AllZero(bytes + 48, 16);
}

void EncodePlan(const BundlePlan& plan, uint8_t* out) {
  memset(out, 0, kPlanEntryBytes);
  PutHash(plan.spec_digest, out);
  PutHash(plan.fingerprint, out + 32);
  PutHash(plan.hash, out + 64);
  Put(plan.epoch, out + 96);
  Put(plan.offset, out + 104);
  Put(plan.size, out + 112);
  Put(static_cast<uint32_t>(plan.serving), out + 116);
}

bool DecodePlan(const uint8_t* bytes, BundlePlan* plan) {
  plan->spec_digest = TakeHash(bytes);
  plan->fingerprint = TakeHash(bytes + 32);
  plan->hash = TakeHash(bytes + 64);
  plan->epoch = Take<uint64_t>(bytes + 96);
  plan->offset = Take<uint64_t>(bytes + 104);
  plan->size = Take<uint32_t>(bytes + 112);
  const auto flags = Take<uint32_t>(bytes + 116);
  plan->serving = flags == 1;
  return flags <= 1 && AllZero(bytes + 120, 8);
}

void EncodeKernel(const BundleKernel& kernel, uint8_t* out) {
  memset(out, 0, kKernelEntryBytes);
  PutHash(kernel.key, out);
  PutHash(kernel.hash, out + 32);
  Put(kernel.offset, out + 64);
  Put(kernel.size, out + 72);
  Put(kernel.object, out + 76);
}

bool DecodeKernel(const uint8_t* bytes, BundleKernel* kernel) {
  kernel->key = TakeHash(bytes);
  kernel->hash = TakeHash(bytes + 32);
  kernel->offset = Take<uint64_t>(bytes + 64);
  kernel->size = Take<uint32_t>(bytes + 72);
  kernel->object = Take<uint32_t>(bytes + 76);
  return AllZero(bytes + 80, 8);
}

void EncodeObject(const BundleObject& object, uint8_t* out) {
  PutHash(object.digest, out);
  Put(object.offset, out + 32);
  Put(object.size, out + 40);
}

void DecodeObject(const uint8_t* bytes, BundleObject* object) {
  object->digest = TakeHash(bytes);
  object->offset = Take<uint64_t>(bytes + 32);
  object->size = Take<uint64_t>(bytes + 40);
}

}  // namespace ingot::client
