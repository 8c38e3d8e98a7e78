// What a bench prints: one line a figure, beside the target it is held against,
// with the machine and the command that made it. Not thread-safe.
#ifndef INGOT_BENCH_REPORT_H_
#define INGOT_BENCH_REPORT_H_

#include <optional>
#include <string>
#include <vector>

namespace ingot::bench {

struct Target {
  enum Sense { kAtMost, kAtLeast };
  Sense sense = kAtMost;
  double value = 0;
};

struct Figure {
  std::string name;  // "memory hit without bytes, p50"
  double value = 0;
  std::string unit;  // "us", "x echo", "1/s", "MiB"
  std::optional<Target> target;
};

inline Target AtMost(double value) { return {Target::kAtMost, value}; }
inline Target AtLeast(double value) { return {Target::kAtLeast, value}; }

// Whether the figure meets its target; true when it has none.
bool Meets(const Figure& figure);

class Report {
 public:
  // `command` as the user typed it; with `json`, Add prints nothing and Finish
  // prints one JSON object.
  Report(std::string command, bool json);

  // Prints the figure at once, so that a long bench shows its progress.
  void Add(Figure figure);
  // A line of text between figures; left out of JSON.
  void Section(const std::string& title);
  // Figures in order of Add.
  const std::vector<Figure>& figures() const { return figures_; }
  // Prints the JSON object, or how many targets were met.
  void Finish() const;

 private:
  std::string command_;
  bool json_;
  std::string machine_;
  std::vector<Figure> figures_;
};

// "2 x <processor model>, 24 GiB, Linux 6.1.0"
std::string MachineName();

}  // namespace ingot::bench

#endif  // INGOT_BENCH_REPORT_H_
