// The generated C messages of admin.proto, for C++. protoc-c also writes a
// struct of the service's methods, and some are called as C++ has words.
#ifndef INGOT_CLIENT_SRC_ADMIN_MESSAGES_H_
#define INGOT_CLIENT_SRC_ADMIN_MESSAGES_H_

#include "ingot/v1/plan.pb-c.h"
#include "ingot/v1/record.pb-c.h"
#include "ingot/v1/spec.pb-c.h"

#define delete delete_objects
#define export export_objects
#include "ingot/v1/admin.pb-c.h"
#undef delete
#undef export

#endif  // INGOT_CLIENT_SRC_ADMIN_MESSAGES_H_
