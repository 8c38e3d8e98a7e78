#include "client/ctl/gpu_memory.h"

#include <algorithm>

namespace ingot::ctl {
namespace {

using client::Error;
using client::HipError;
using client::Status;

constexpr size_t kMargin = 4096;
constexpr uint8_t kCanary = 0xa5;
constexpr int kHostToDevice = 1;
constexpr int kDeviceToHost = 2;

}  // namespace

Status Gpu::Open(std::unique_ptr<Gpu>* gpu) {
  auto made = std::make_unique<Gpu>();
  INGOT_CLIENT_RETURN_IF_ERROR(made->hip_.Open());
  const auto find = [&](const char* name, auto* slot) {
    *slot = reinterpret_cast<std::remove_pointer_t<decltype(slot)>>(
        made->hip_.Find(name));
    return *slot != nullptr;
  };
  if (!find("hipMalloc", &made->malloc_) || !find("hipFree", &made->free_) ||
      !find("hipMemcpy", &made->memcpy_) ||
      !find("hipDeviceSynchronize", &made->synchronize_)) {
    return Error(INGOT_FAILED_PRECONDITION,
                 "the HIP runtime lacks hipMalloc, hipFree, hipMemcpy or "
                 "hipDeviceSynchronize");
  }
  int device = 0;
  const client::HipDevice* facts = nullptr;
  INGOT_CLIENT_RETURN_IF_ERROR(made->hip_.CurrentDevice(&device));
  INGOT_CLIENT_RETURN_IF_ERROR(made->hip_.Device(device, &facts));
  made->target_ = facts->target;
  *gpu = std::move(made);
  return Status();
}

Status Gpu::Allocate(size_t bytes, void** pointer) const {
  const HipError error = malloc_(pointer, bytes);
  return error == 0 ? Status() : hip_.Failed("hipMalloc", error);
}

Status Gpu::Upload(void* to, const void* from, size_t bytes) const {
  const HipError error = memcpy_(to, from, bytes, kHostToDevice);
  return error == 0 ? Status() : hip_.Failed("hipMemcpy", error);
}

Status Gpu::Download(void* to, const void* from, size_t bytes) const {
  const HipError error = memcpy_(to, from, bytes, kDeviceToHost);
  return error == 0 ? Status() : hip_.Failed("hipMemcpy", error);
}

Status Gpu::Synchronize() const {
  const HipError error = synchronize_();
  return error == 0 ? Status() : hip_.Failed("hipDeviceSynchronize", error);
}

GuardedBuffer::~GuardedBuffer() {
  if (base_ != nullptr) gpu_->Free(base_);
}

void* GuardedBuffer::data() const {
  return static_cast<uint8_t*>(base_) + kMargin;
}

Status GuardedBuffer::Create(const Gpu& gpu,
                             const std::vector<uint8_t>& contents) {
  gpu_ = &gpu;
  size_ = contents.size();
  std::vector<uint8_t> all(size_ + 2 * kMargin, kCanary);
  std::copy(contents.begin(), contents.end(), all.begin() + kMargin);
  INGOT_CLIENT_RETURN_IF_ERROR(gpu.Allocate(all.size(), &base_));
  return gpu.Upload(base_, all.data(), all.size());
}

Status GuardedBuffer::Read(std::vector<uint8_t>* contents) const {
  std::vector<uint8_t> all(size_ + 2 * kMargin);
  INGOT_CLIENT_RETURN_IF_ERROR(gpu_->Download(all.data(), base_, all.size()));
  const auto intact = [](auto begin, auto end) {
    return std::all_of(begin, end,
                       [](uint8_t byte) { return byte == kCanary; });
  };
  if (!intact(all.begin(), all.begin() + kMargin) ||
      !intact(all.end() - kMargin, all.end())) {
    return Error(INGOT_DATA_LOSS, "the kernel wrote outside an operand");
  }
  contents->assign(all.begin() + kMargin, all.end() - kMargin);
  return Status();
}

}  // namespace ingot::ctl
