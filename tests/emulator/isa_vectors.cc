#include "tests/emulator/isa_vectors.h"

#include <cmath>
#include <cstdlib>
#include <cstring>

#include "tests/emulator/gzip_file.h"

namespace ingot::emulator {
namespace {

// 64 hex numbers from *at on, then a separator.
bool ReadLanes(const char** at, uint64_t* out) {
  for (int l = 0; l < 64; ++l) {
    char* end;
    out[l] = std::strtoull(*at, &end, 16);
    if (end == *at) return false;
    *at = end;
  }
  while (**at == ' ' || **at == '|') ++*at;
  return true;
}

bool ParseCase(const std::string& line, VectorCase* c) {
  const size_t hash = line.find('#');
  if (hash == std::string::npos) return false;
  char kernel[32];
  int used = 0;
  if (std::sscanf(line.c_str(), "%31s %d %d %n", kernel, &c->width, &c->batch,
                  &used) != 3) {
    return false;
  }
  c->kernel = kernel;
  const char* at = line.c_str() + used;
  if (!ReadLanes(&at, c->x) || !ReadLanes(&at, c->y) || !ReadLanes(&at, c->z) ||
      !ReadLanes(&at, c->expected)) {
    return false;
  }
  const size_t kind = hash + 2, space = line.find(' ', kind);
  if (space == std::string::npos) return false;
  c->kind = line.substr(kind, space - kind);
  c->assembly = line.substr(space + 1);
  return true;
}

float F(uint64_t bits) {
  const uint32_t low = static_cast<uint32_t>(bits);
  float f;
  std::memcpy(&f, &low, 4);
  return f;
}
double D(uint64_t bits) {
  double d;
  std::memcpy(&d, &bits, 8);
  return d;
}

bool SameFloat(uint64_t a, uint64_t b) {
  if (std::isnan(F(a)) && std::isnan(F(b))) return true;
  return static_cast<uint32_t>(a) == static_cast<uint32_t>(b);
}
bool SameDouble(uint64_t a, uint64_t b) {
  return (std::isnan(D(a)) && std::isnan(D(b))) || a == b;
}

// Two 16-bit floats with the given exponent mask.
bool SameHalves(uint64_t a, uint64_t b, uint32_t inf) {
  for (int n = 0; n < 32; n += 16) {
    const uint32_t x = a >> n & 0xffff, y = b >> n & 0xffff;
    const bool nan_x = (x & 0x7fff) > inf, nan_y = (y & 0x7fff) > inf;
    if (x != y && !(nan_x && nan_y)) return false;
  }
  return true;
}

// Distance in units of the last place, by ordering the bit patterns.
int64_t Ulps(float a, float b) {
  const auto key = [](float f) {
    int32_t i;
    std::memcpy(&i, &f, 4);
    return i < 0 ? -(int64_t{i} & 0x7fffffff) : int64_t{i};
  };
  return std::llabs(key(a) - key(b));
}
bool Denormal(float f) { return f != 0 && std::fabs(f) < 1.17549435e-38f; }

bool NearFloat(const VectorCase& c, int lane, uint64_t actual) {
  const float want = F(c.expected[lane]), got = F(actual);
  if (std::isnan(want) && std::isnan(got)) return true;
  if (Denormal(F(c.x[lane])) || Denormal(want)) return true;
  return Ulps(want, got) <=
         (c.assembly.find("log") != std::string::npos ? 4 : 1);
}

double Half(uint64_t bits) {
  const uint32_t h = bits & 0xffff, e = h >> 10 & 31, m = h & 0x3ff;
  const double v = e == 0    ? std::ldexp(m, -24)
                   : e == 31 ? (m != 0 ? std::nan("") : INFINITY)
                             : std::ldexp(m + 1024.0, static_cast<int>(e) - 25);
  return (h & 0x8000) != 0 ? -v : v;
}

// dot2 of f16: relative to the sum of the terms' magnitudes.
bool NearDot(const VectorCase& c, int lane, uint64_t actual) {
  const float want = F(c.expected[lane]), got = F(actual);
  if (std::isnan(want) && std::isnan(got)) return true;
  if (want == got) return true;
  double sum = std::fabs(static_cast<double>(F(c.z[lane])));
  for (int n = 0; n < 32; n += 16)
    sum += std::fabs(Half(c.x[lane] >> n) * Half(c.y[lane] >> n));
  return std::fabs(static_cast<double>(want) - got) <= 1e-6 * sum;
}

bool NearMatrix(const VectorCase& c, int lane, uint64_t actual) {
  if (c.batch != 2) return true;
  double largest = 0;
  for (const uint64_t e : c.expected) {
    if (std::isfinite(F(e)))
      largest = std::fmax(largest, std::fabs(static_cast<double>(F(e))));
  }
  const float want = F(c.expected[lane]), got = F(actual);
  if (std::isnan(want) && std::isnan(got)) return true;
  return want == got ||
         std::fabs(static_cast<double>(want) - got) <= 1e-5 * largest;
}

bool NearSine(const VectorCase& c, int lane, uint64_t actual) {
  const double x = std::fabs(static_cast<double>(F(c.x[lane])));
  if (!(x > 1e-30 && x < 256)) return true;
  return std::fabs(static_cast<double>(F(c.expected[lane])) - F(actual)) < 2e-6;
}

// Where the quotient x/y is of moderate size.
bool DivisionInRange(const VectorCase& c, int lane) {
  const double q = std::fabs(static_cast<double>(F(c.x[lane])) / F(c.y[lane]));
  return q > 1e-6 && q < 1e6;
}

bool NanOrZero(uint64_t bits) { return std::isnan(F(bits)) || F(bits) == 0; }

}  // namespace

std::vector<VectorCase> ReadVectorCases(const std::string& path) {
  const std::string text = ReadGzip(path);
  std::vector<VectorCase> cases;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    at = end + 1;
    VectorCase c;
    if (ParseCase(line, &c)) {
      cases.push_back(std::move(c));
    } else if (line.rfind("total", 0) != 0 && !line.empty() &&
               line.find(" | ") != std::string::npos) {
      return {};
    }
  }
  return cases;
}

bool VectorLaneAgrees(const VectorCase& c, int lane, uint64_t actual) {
  const uint64_t want = c.expected[lane];
  const std::string& k = c.kind;
  if (k == "f") {
    const bool division = c.assembly.find("v_div_scale") != std::string::npos;
    return (division && !DivisionInRange(c, lane)) || SameFloat(want, actual);
  }
  if (k == "d") return SameDouble(want, actual);
  if (k == "h") return SameHalves(want, actual, 0x7c00);
  if (k == "p") {
    return SameHalves(want, actual, 0x7c00) &&
           (c.width == 1 || want >> 32 == actual >> 32);
  }
  if (k == "b") return SameHalves(want, actual, 0x7f80);
  if (k == "z" && !DivisionInRange(c, lane)) return true;
  if (k == "q" || k == "z")
    return SameFloat(want, actual) && SameFloat(want >> 32, actual >> 32);
  if (k == "~") return NearFloat(c, lane, actual);
  if (k == "a") return NearDot(c, lane, actual);
  if (k == "n")
    return SameFloat(want, actual) || (NanOrZero(want) && NanOrZero(actual));
  if (k == "o") {
    return SameFloat(want, actual) ||
           (std::fabs(F(want)) < 1e-37f && std::fabs(F(actual)) < 1e-37f);
  }
  if (k == "s") return NearSine(c, lane, actual);
  if (k == "m4") return NearMatrix(c, lane, actual);
  return c.width == 1
             ? static_cast<uint32_t>(want) == static_cast<uint32_t>(actual)
             : want == actual;
}

}  // namespace ingot::emulator
