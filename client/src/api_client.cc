// ingot.h: clients, and what a daemon says of itself.
#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "client/include/ingot/ingot.h"
#include "client/src/canonical.h"
#include "client/src/check_struct.h"
#include "client/src/client_handle.h"
#include "client/src/last_error.h"
#include "client/src/reports.h"
#include "client/src/tls_stream.h"

namespace ingot::client {
namespace {

constexpr int64_t kReportTimeoutMs = 5000;

constinit std::atomic<ingot_client*> all_clients = nullptr;

// What the caller's build of the struct has, and zeros.
Status CopyOptions(const ingot_client_options* from, ingot_client_options* to) {
  *to = ingot_client_options();
  if (from == nullptr) return Status();
  constexpr size_t kFirst = offsetof(ingot_client_options, signature_policy);
  if (!ingot_size_between(from, from->size, kFirst, sizeof(*from))) {
    return Error(INGOT_INVALID_ARGUMENT,
                 "options size: found %u, allowed %zu to %zu", from->size,
                 kFirst, sizeof(*from));
  }
  memcpy(to, from, std::min<size_t>(from->size, sizeof(*from)));
  return Status();
}

std::string Text(const char* text) { return text != nullptr ? text : ""; }

Status ReadTrust(const ingot_client_options& given, ClientOptions* to) {
  SignatureOptions* signatures = &to->signatures;
  signatures->trusted_keys = Text(given.trusted_keys);
  if (given.signature_policy > INGOT_SIGNATURES_REQUIRE) {
    return Error(INGOT_INVALID_ARGUMENT,
                 "signature_policy: found %u, allowed INGOT_SIGNATURES_*",
                 given.signature_policy);
  }
  if (given.signature_policy == INGOT_SIGNATURES_DEFAULT) {
    INGOT_CLIENT_RETURN_IF_ERROR(FillFromEnvironment(signatures));
  } else {
    signatures->policy =
        static_cast<SignaturePolicy>(given.signature_policy - 1);
    FillKeysFromEnvironment(signatures);
  }
  TlsOptions* tls = &to->channel.tls;
  tls->ca = Text(given.tls_ca);
  tls->certificate = Text(given.tls_certificate);
  tls->private_key = Text(given.tls_private_key);
  tls->server_name = Text(given.tls_server_name);
  FillFromEnvironment(tls);
  INGOT_CLIENT_RETURN_IF_ERROR(ResolveTls(*tls, &to->channel.address));
  return to->channel.address.tls ? CheckTlsFiles(*tls) : Status();
}

Status ReadOptions(const ingot_client_options* from, ClientOptions* to) {
  ingot_client_options given;
  INGOT_CLIENT_RETURN_IF_ERROR(CopyOptions(from, &given));
  to->bundle = Text(given.bundle_dir != nullptr ? given.bundle_dir
                                                : getenv("INGOT_BUNDLE"));
  const char* environment = getenv("INGOT_ADDRESS");
  std::string address = environment != nullptr ? environment : "";
  if (given.address != nullptr) address = given.address;
  if (address.empty()) address = DefaultAddress();
  INGOT_CLIENT_RETURN_IF_ERROR(ParseAddress(address, &to->channel.address));
  INGOT_CLIENT_RETURN_IF_ERROR(ReadTrust(given, to));
  if (given.target != nullptr) {
    char target[64];
    char error[512];
    const ingot_status status =
        ingot_canonical_target(given.target, target, error, sizeof(error));
    if (status != INGOT_OK) return Error(status, "%s", error);
    to->target = target;
  }
  if (given.hip_library != nullptr) to->hip_library = given.hip_library;
  if (given.connect_timeout_ms != 0) {
    to->channel.connect_timeout_ms = given.connect_timeout_ms;
  }
  if (given.call_timeout_ms != 0) to->call_timeout_ms = given.call_timeout_ms;
  if (given.max_idle != 0) to->channel.max_idle = given.max_idle;
  return Status();
}

char* Copy(const std::string& text) {
  char* copy = static_cast<char*>(malloc(text.size() + 1));
  if (copy != nullptr) memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

Status HandOut(const std::string& text, char** out) {
  *out = Copy(text);
  if (*out != nullptr) return Status();
  return Error(INGOT_RESOURCE_EXHAUSTED, "no memory");
}

}  // namespace
}  // namespace ingot::client

using namespace ingot::client;  // NOLINT(google-build-using-namespace)

extern "C" {

INGOT_API ingot_status ingot_client_create(const ingot_client_options* options,
                                           ingot_client** client) {
  if (client == nullptr) return Report(NullOutput("client"));
  ClientOptions read;
  std::unique_ptr<Signatures> signatures;
  Status status = ReadOptions(options, &read);
  if (status.ok()) status = Signatures::Open(read.signatures, &signatures);
  if (!status.ok()) return Report(status);
  auto* handle = new ingot_client;
  handle->client.store(new Client(std::move(read), std::move(signatures)));
  handle->next = all_clients.load(std::memory_order_relaxed);
  while (!all_clients.compare_exchange_weak(handle->next, handle,
                                            std::memory_order_release)) {
  }
  *client = handle;
  return INGOT_OK;
}

INGOT_API ingot_status ingot_client_destroy(ingot_client* client) {
  if (client == nullptr) return INGOT_OK;
  Client* gone = client->client.exchange(nullptr);
  if (gone == nullptr) return Report(NoClient());
  delete gone;
  return INGOT_OK;
}

INGOT_API const char* ingot_client_address(const ingot_client* client) {
  const Client* self = Get(client);
  if (self == nullptr) return nullptr;
  return self->options().channel.address.text.c_str();
}

INGOT_API ingot_status ingot_capabilities(ingot_client* client, char** json) {
  Client* self = Get(client);
  if (self == nullptr) return Report(NoClient());
  if (json == nullptr) return Report(NullOutput("json"));
  Message<Ingot__V1__GetCapabilitiesResponse> reply;
  const Status status = GetCapabilities(
      self->channel(), Deadline::After(kReportTimeoutMs), &reply);
  if (!status.ok()) return Report(status);
  return Report(HandOut(CapabilitiesJson(*reply), json));
}

INGOT_API ingot_status ingot_daemon_stats(ingot_client* client, char** json) {
  Client* self = Get(client);
  if (self == nullptr) return Report(NoClient());
  if (json == nullptr) return Report(NullOutput("json"));
  Message<Ingot__V1__StatsResponse> reply;
  const Status status =
      Stats(self->channel(), Deadline::After(kReportTimeoutMs), &reply);
  if (!status.ok()) return Report(status);
  return Report(HandOut(StatsJson(*reply), json));
}

INGOT_API ingot_status ingot_stats(const ingot_client* client,
                                   ingot_client_stats* stats) {
  const Client* self = Get(client);
  if (self == nullptr) return Report(NoClient());
  if (stats == nullptr) return Report(NullOutput("stats"));
  constexpr size_t kFirst = offsetof(ingot_client_stats, bundle_specs);
  if (!ingot_size_between(stats, stats->size, kFirst, sizeof(*stats))) {
    return Report(Error(INGOT_INVALID_ARGUMENT,
                        "stats size: found %u, allowed %zu to %zu", stats->size,
                        kFirst, sizeof(*stats)));
  }
  ingot_client_stats filled = {stats->size};
  self->FillStats(&filled);
  memcpy(stats, &filled, std::min<size_t>(stats->size, sizeof(filled)));
  return INGOT_OK;
}

}  // extern "C"
