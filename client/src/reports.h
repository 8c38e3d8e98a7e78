// The daemon's answers about itself as JSON, as ingot.h describes it.
#ifndef INGOT_CLIENT_SRC_REPORTS_H_
#define INGOT_CLIENT_SRC_REPORTS_H_

#include <string>

#include "client/src/admin_messages.h"
#include "ingot/v1/kernels.pb-c.h"

namespace ingot::client {

std::string CapabilitiesJson(const Ingot__V1__GetCapabilitiesResponse& reply);
std::string StatsJson(const Ingot__V1__StatsResponse& reply);

}  // namespace ingot::client

#endif  // INGOT_CLIENT_SRC_REPORTS_H_
