#include "client/ctl/text_table.h"

#include <algorithm>
#include <cstdio>

namespace ingot::ctl {
namespace {

std::string Format(const char* format, double value) {
  char text[64];
  snprintf(text, sizeof(text), format, value);
  return text;
}

}  // namespace

std::string FormatTable(const std::vector<std::vector<std::string>>& rows) {
  std::vector<size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], row[i].size());
    }
  }
  std::string text;
  for (const auto& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) {
      text += row[i];
      if (i + 1 < row.size()) text.append(widths[i] - row[i].size() + 2, ' ');
    }
    text += '\n';
  }
  return text;
}

std::string FormatBytes(double bytes) {
  static const char* const formats[] = {"%.0f B", "%.1f KiB", "%.1f MiB",
                                        "%.1f GiB", "%.1f TiB"};
  size_t unit = 0;
  while (bytes >= 1024 && unit + 1 < std::size(formats)) {
    bytes /= 1024;
    ++unit;
  }
  return Format(formats[unit], bytes);
}

std::string FormatMicroseconds(double microseconds) {
  if (microseconds < 1000) return Format("%.0f us", microseconds);
  if (microseconds < 1e6) return Format("%.1f ms", microseconds / 1e3);
  return Format("%.2f s", microseconds / 1e6);
}

}  // namespace ingot::ctl
