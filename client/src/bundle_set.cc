#include "client/src/bundle_set.h"

#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <utility>

#include "client/src/rpc.h"

namespace ingot::client {
namespace {

constexpr char kSuffix[] = ".bundle";

bool IsBundleName(const std::string& name) {
  const size_t size = sizeof(kSuffix) - 1;
  return name.size() > size && name[0] != '.' &&
         name.compare(name.size() - size, size, kSuffix) == 0;
}

Status NamesIn(const std::string& folder, std::vector<std::string>* names) {
  DIR* directory = opendir(folder.c_str());
  if (directory == nullptr) {
    return Error(INGOT_FAILED_PRECONDITION, "%s: %s", folder.c_str(),
                 strerror(errno));
  }
  while (const dirent* entry = readdir(directory)) {
    if (IsBundleName(entry->d_name)) names->push_back(entry->d_name);
  }
  closedir(directory);
  std::sort(names->begin(), names->end());
  return Status();
}

// Protobuf's wire format, as far as it is needed here.
void AppendVarint(uint64_t value, std::string* out) {
  for (; value >= 0x80; value >>= 7) *out += static_cast<char>(value | 0x80);
  *out += static_cast<char>(value);
}

void AppendBytes(uint32_t field, const std::string& bytes, std::string* out) {
  AppendVarint(uint64_t{field} << 3 | 2, out);
  AppendVarint(bytes.size(), out);
  *out += bytes;
}

void AppendNumber(uint32_t field, uint64_t value, std::string* out) {
  AppendVarint(uint64_t{field} << 3, out);
  AppendVarint(value, out);
}

// Fields of GetKernelResponse and Kernel.
constexpr uint32_t kResponsePlan = 1;
constexpr uint32_t kResponseKernels = 2;
constexpr uint32_t kKernelRecord = 1;
constexpr uint32_t kKernelObject = 2;
constexpr uint32_t kKernelSource = 4;

// Keys that the plan launches, each once.
Status KernelsOf(const BundleFile& file, const std::string& plan_bytes,
                 std::set<std::string>* keys) {
  const Message<Ingot__V1__Plan> plan(ingot__v1__plan__unpack(
      nullptr, plan_bytes.size(),
      reinterpret_cast<const uint8_t*>(plan_bytes.data())));
  if (plan == nullptr) {
    return Error(INGOT_DATA_LOSS, "%s: found a plan that cannot be read",
                 file.name().c_str());
  }
  for (size_t v = 0; v < plan->n_variants; ++v) {
    const Ingot__V1__Recipe* recipe = plan->variants[v]->recipe;
    for (size_t s = 0; recipe != nullptr && s < recipe->n_steps; ++s) {
      const Ingot__V1__Step& step = *recipe->steps[s];
      if (step.step_case != INGOT__V1__STEP__STEP_LAUNCH) continue;
      keys->insert(
          std::string(reinterpret_cast<const char*>(step.launch->key.data),
                      step.launch->key.len));
    }
  }
  return Status();
}

}  // namespace

Status BundleSet::List(std::vector<Opened>* files) const {
  std::vector<std::string> paths = {path_};
  struct stat facts = {};
  if (stat(path_.c_str(), &facts) != 0) {
    return Error(errno == ENOENT ? INGOT_NOT_FOUND : INGOT_FAILED_PRECONDITION,
                 "bundle %s: %s", path_.c_str(), strerror(errno));
  }
  if (S_ISDIR(facts.st_mode)) {
    std::vector<std::string> names;
    INGOT_CLIENT_RETURN_IF_ERROR(NamesIn(path_, &names));
    paths.clear();
    for (const std::string& name : names) paths.push_back(path_ + "/" + name);
    if (names.empty()) {
      return Error(INGOT_NOT_FOUND, "bundle %s: found a folder without *%s",
                   path_.c_str(), kSuffix);
    }
  }
  for (const std::string& path : paths) {
    Opened file;
    file.path = path;
    // One that is gone meanwhile says so when it is opened.
    if (stat(path.c_str(), &facts) == 0) {
      file.device = facts.st_dev;
      file.inode = facts.st_ino;
      file.size = facts.st_size;
      file.modified_ns =
          int64_t{facts.st_mtim.tv_sec} * 1'000'000'000 + facts.st_mtim.tv_nsec;
    }
    files->push_back(std::move(file));
  }
  return Status();
}

bool BundleSet::RefreshLocked() {
  std::vector<Opened> files;
  listed_ = List(&files);
  // What was opened serves on when its name is gone.
  if (!listed_.ok()) return false;
  bool news = files.size() != files_.size();
  for (Opened& file : files) {
    const auto known = std::find_if(
        files_.begin(), files_.end(),
        [&](const Opened& other) { return other.path == file.path; });
    if (known != files_.end() && known->device == file.device &&
        known->inode == file.inode && known->size == file.size &&
        known->modified_ns == file.modified_ns) {
      file.file = known->file;
      file.status = known->status;
      continue;
    }
    news = true;
    file.status = BundleFile::Open(file.path, &file.file);
    // And when what replaced it cannot be used.
    if (!file.status.ok() && known != files_.end()) file.file = known->file;
  }
  files_ = std::move(files);
  return news;
}

Status BundleSet::FindLocked(const std::string& spec_digest, uint64_t epoch,
                             FoundPlan* found) const {
  if (files_.empty()) return listed_;
  Status problem;
  for (const Opened& opened : files_) {
    if (problem.ok()) problem = Annotate(opened.status, "bundle");
    if (opened.file == nullptr) continue;
    const BundleFile& file = *opened.file;
    const auto [first, last] = file.FindPlans(HashOf(spec_digest));
    for (size_t i = first; i < last; ++i) {
      const BundlePlan& plan = file.plans()[i];
      if (plan.serving && (epoch == 0 || plan.epoch == epoch)) {
        *found = {opened.file, i};
        return Status();
      }
    }
    if (first == last || !problem.ok()) continue;
    const BundlePlan& other = file.plans()[first];
    problem =
        other.serving
            ? Error(INGOT_FAILED_PRECONDITION,
                    "bundle %s: found a plan of tuning epoch %llu, asked was "
                    "%llu",
                    file.name().c_str(),
                    static_cast<unsigned long long>(other.epoch),
                    static_cast<unsigned long long>(epoch))
            : Error(INGOT_FAILED_PRECONDITION,
                    "bundle %s: found a plan of fingerprint %s alone, which "
                    "was not the serving one when the bundle was made",
                    file.name().c_str(),
                    Hex(BytesOf(other.fingerprint)).c_str());
  }
  if (!problem.ok()) return problem;
  return Error(INGOT_NOT_FOUND, "bundle %s: no plan for spec %s", path_.c_str(),
               Hex(spec_digest).c_str());
}

Status BundleSet::Find(const std::string& spec_digest, uint64_t epoch,
                       FoundPlan* found) {
  const std::lock_guard<std::mutex> lock(mutex());
  if (files_.empty()) RefreshLocked();
  Status status = FindLocked(spec_digest, epoch, found);
  if (!status.ok() && RefreshLocked()) {
    status = FindLocked(spec_digest, epoch, found);
  }
  return status;
}

Status AnswerFromBundle(const FoundPlan& found,
                        const std::function<bool(const std::string&)>& held,
                        Deadline deadline, std::string* response) {
  const BundleFile& file = *found.file;
  std::string plan;
  INGOT_CLIENT_RETURN_IF_ERROR(file.ReadPlan(file.plans()[found.plan], &plan));
  std::set<std::string> keys;
  INGOT_CLIENT_RETURN_IF_ERROR(KernelsOf(file, plan, &keys));
  response->clear();
  AppendBytes(kResponsePlan, plan, response);
  for (const std::string& key : keys) {
    const size_t index = file.FindKernel(HashOf(key));
    if (key.size() != kHashBytes || index == file.kernels().size()) {
      return Error(INGOT_DATA_LOSS, "%s: kernel %s of a plan is missing",
                   file.name().c_str(), Hex(key).c_str());
    }
    if (deadline.Expired()) {
      return Error(INGOT_DEADLINE_EXCEEDED,
                   "%s: the time budget was spent while it was read",
                   file.name().c_str());
    }
    const BundleKernel& entry = file.kernels()[index];
    const BundleObject& object = file.objects()[entry.object];
    std::string bytes;
    std::string kernel;
    INGOT_CLIENT_RETURN_IF_ERROR(file.ReadRecord(entry, &bytes));
    AppendBytes(kKernelRecord, bytes, &kernel);
    if (!held(BytesOf(object.digest))) {
      INGOT_CLIENT_RETURN_IF_ERROR(file.ReadObject(object, &bytes));
      AppendBytes(kKernelObject, bytes, &kernel);
    }
    AppendNumber(kKernelSource, INGOT_SOURCE_BUNDLE, &kernel);
    AppendBytes(kResponseKernels, kernel, response);
  }
  return Status();
}

}  // namespace ingot::client
