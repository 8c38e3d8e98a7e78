#include "client/src/reports.h"

#include "client/src/json_writer.h"
#include "client/src/status.h"

namespace ingot::client {
namespace {

void Strings(const char* name, char* const* values, size_t count,
             JsonWriter* json) {
  json->OpenArray(name);
  for (size_t i = 0; i < count; ++i) json->String(nullptr, values[i]);
  json->CloseArray();
}

void Op(const Ingot__V1__OpCapability& op, JsonWriter* json) {
  json->OpenObject();
  json->String("name", op.name);
  json->String("fingerprint",
               Hex(std::string(reinterpret_cast<char*>(op.fingerprint.data),
                               op.fingerprint.len)));
  Strings("dims", op.dims, op.n_dims, json);
  Strings("token_dims", op.token_dims, op.n_token_dims, json);
  json->String("summary", op.summary);
  json->CloseObject();
}

}  // namespace

std::string CapabilitiesJson(const Ingot__V1__GetCapabilitiesResponse& reply) {
  JsonWriter json;
  json.OpenObject();
  json.String("version", reply.version);
  json.Number("api_min", uint64_t{reply.api_min});
  json.Number("api_max", uint64_t{reply.api_max});
  json.Number("recipe_version_max", uint64_t{reply.recipe_version_max});
  json.Number("max_request_bytes", uint64_t{reply.max_request_bytes});
  json.Number("max_inline_object_bytes",
              uint64_t{reply.max_inline_object_bytes});
  json.Number("max_batch", uint64_t{reply.max_batch});
  json.Bool("restart_pending", reply.restart_pending != 0);
  Strings("targets", reply.targets, reply.n_targets, &json);
  json.OpenArray("ops");
  for (size_t i = 0; i < reply.n_ops; ++i) Op(*reply.ops[i], &json);
  json.CloseArray();
  json.CloseObject();
  return json.text();
}

std::string StatsJson(const Ingot__V1__StatsResponse& reply) {
  JsonWriter json;
  json.OpenObject();
  json.String("version", reply.version);
  json.Number("uptime_ms", uint64_t{reply.uptime_ms});
  json.Number("entries", uint64_t{reply.entries});
  json.Number("store_bytes", uint64_t{reply.store_bytes});
  json.Number("memory_bytes", uint64_t{reply.memory_bytes});
  json.Number("workers", uint64_t{reply.workers});
  json.Number("workers_busy", uint64_t{reply.workers_busy});
  json.Number("queued", uint64_t{reply.queued});
  json.Number("daemon_rss_bytes", uint64_t{reply.daemon_rss_bytes});
  json.OpenObject("counters");
  for (size_t i = 0; i < reply.n_counters; ++i) {
    json.Number(reply.counters[i]->name, reply.counters[i]->value);
  }
  json.CloseObject();
  json.CloseObject();
  return json.text();
}

}  // namespace ingot::client
