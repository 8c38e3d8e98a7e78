// ingot-worker: compiles one kernel at a time for the daemon that started it.
#include "server/worker/serve.h"

int main(int argc, char** argv) {
  return ingot::server::WorkerMain(argc, argv);
}
