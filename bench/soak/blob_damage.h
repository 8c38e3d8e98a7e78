// Damage of stored objects: bits that flip in the files of a daemon's store.
#ifndef INGOT_BENCH_SOAK_BLOB_DAMAGE_H_
#define INGOT_BENCH_SOAK_BLOB_DAMAGE_H_

#include <random>
#include <string>
#include <vector>

namespace ingot::bench {

// Flips a bit in the bytes of `share` of the objects that lie in blob files of
// `store`, at least of one if there is any. The digests of those; some may be
// of copies that nobody reads any more.
std::vector<std::string> DamageObjects(const std::string& store, double share,
                                       std::mt19937_64& random);

}  // namespace ingot::bench

#endif  // INGOT_BENCH_SOAK_BLOB_DAMAGE_H_
