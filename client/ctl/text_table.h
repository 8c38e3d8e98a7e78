// Columns of text, each as wide as its widest cell.
#ifndef INGOT_CLIENT_CTL_TEXT_TABLE_H_
#define INGOT_CLIENT_CTL_TEXT_TABLE_H_

#include <string>
#include <vector>

namespace ingot::ctl {

// The first row is the heading. Ends with a newline.
std::string FormatTable(const std::vector<std::vector<std::string>>& rows);

// "17.4 KiB".
std::string FormatBytes(double bytes);

// "23.1 ms", "61 us".
std::string FormatMicroseconds(double microseconds);

}  // namespace ingot::ctl

#endif  // INGOT_CLIENT_CTL_TEXT_TABLE_H_
