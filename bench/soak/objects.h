// Which code objects a soak has been given, and which of them the store must
// still have.
#ifndef INGOT_BENCH_SOAK_OBJECTS_H_
#define INGOT_BENCH_SOAK_OBJECTS_H_

#include <atomic>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace ingot::bench {

// Thread-safe.
class Objects {
 public:
  // The keys of a problem's kernels, by the planner in this process.
  std::vector<std::string> KeysOf(int problem);

  // Whether `digest` is what the key had before; the first is remembered. The
  // same kernel compiles to the same bytes, whatever happens around it.
  bool Agrees(const std::string& key, const std::string& digest);
  std::map<std::string, std::string> digests() const;
  std::string RandomDigest(std::mt19937_64& random) const;

  // While the disk is full the store drops what it is told.
  void SetDiskFull(bool full) { disk_full_.store(full); }
  bool disk_full() const { return disk_full_.load(); }
  // A daemon that could write has answered with this kernel.
  void NoteStored(const std::string& key);
  // Bytes of the object were changed on the disk: losing it is right.
  void NoteDamaged(const std::string& digest);

  std::set<std::string> stored() const;
  // Of `before`, what was stored when the listing was asked for, those that are
  // neither in it nor damaged. Forgets them: missing once, they count once.
  std::vector<std::string> TakeMissing(const std::set<std::string>& before,
                                       const std::set<std::string>& listed);

 private:
  std::atomic<bool> disk_full_ = false;
  mutable std::mutex mutex_;
  std::map<int, std::vector<std::string>> keys_;
  std::map<std::string, std::string> digests_;  // by key
  std::vector<std::string> order_;              // digests, as they came
  std::set<std::string> stored_;                // keys
  std::set<std::string> damaged_;               // digests
};

}  // namespace ingot::bench

#endif  // INGOT_BENCH_SOAK_OBJECTS_H_
