// A program that knows ingot/client.h alone.
#include "ingot/client.h"

#include <cstdio>
#include <utility>

int main() {
  ingot_client_options options = {};
  options.size = sizeof(options);
  options.address = "127.0.0.1:1";
  ingot::Client client;
  if (ingot::Client::Create(&options, &client) != INGOT_OK) return 1;
  ingot::Client moved = std::move(client);
  if (client || !moved) return 2;
  ingot_spec spec = {};
  spec.size = sizeof(spec);
  spec.op = "gemm";
  ingot::Prepared prepared;
  if (moved.Prepare(&spec, nullptr, &prepared) != INGOT_UNAVAILABLE) return 3;
  if (prepared || prepared.Launch(nullptr, {}) != INGOT_INVALID_ARGUMENT) {
    return 4;
  }
  std::puts("ok");
  return 0;
}
