// The build's version, as replies, logs and `--version` give it.
#ifndef INGOT_SERVER_VERSION_H_
#define INGOT_SERVER_VERSION_H_

namespace ingot::server {

inline constexpr char kVersion[] = INGOT_VERSION;  // from CMake's project()

}  // namespace ingot::server

#endif  // INGOT_SERVER_VERSION_H_
