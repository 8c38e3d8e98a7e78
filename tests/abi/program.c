/* A program that knows ingot.h alone. Compiled as C11 and as C++ by
 * abi_test.sh; needs no daemon and no GPU. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "ingot/ingot.h"

static int failures = 0;

#define EXPECT(condition)                                                \
  do {                                                                   \
    if (!(condition)) {                                                  \
      fprintf(stderr, "%s:%d: %s (last error: %s)\n", __FILE__, __LINE__, \
              #condition, ingot_last_error());                           \
      ++failures;                                                        \
    }                                                                    \
  } while (0)

static ingot_spec make_spec(ingot_dim dims[2], ingot_operand operands[2]) {
  ingot_spec spec;
  int i;
  memset(dims, 0, 2 * sizeof(dims[0]));
  memset(operands, 0, 2 * sizeof(operands[0]));
  memset(&spec, 0, sizeof(spec));
  for (i = 0; i < 2; ++i) {
    dims[i].size = sizeof(dims[i]);
    dims[i].name = i == 0 ? "rows" : "n";
    dims[i].value = 4096;
    operands[i].size = sizeof(operands[i]);
    operands[i].name = i == 0 ? "x" : "y";
    operands[i].dtype = "bf16";
  }
  spec.size = sizeof(spec);
  spec.op = "rmsnorm";
  spec.dims = dims;
  spec.dim_count = 2;
  spec.operands = operands;
  spec.operand_count = 2;
  return spec;
}

static void test_library(void) {
  EXPECT(strcmp(ingot_version(), "0.1.0") == 0);
  EXPECT(strcmp(ingot_status_name(INGOT_UNAVAILABLE), "UNAVAILABLE") == 0);
  EXPECT(strcmp(ingot_status_name(99), "UNKNOWN") == 0);
  EXPECT(strcmp(ingot_last_error(), "") == 0);
  ingot_free(NULL);
}

static void test_specs(void) {
  ingot_dim dims[2];
  ingot_operand operands[2];
  uint8_t one[32];
  uint8_t two[32];
  ingot_spec spec = make_spec(dims, operands);
  EXPECT(ingot_spec_digest(&spec, one) == INGOT_OK);
  dims[0].value = 1; /* a token count: the same spec */
  EXPECT(ingot_spec_digest(&spec, two) == INGOT_OK);
  EXPECT(memcmp(one, two, sizeof(one)) == 0);
  dims[1].value = 1;
  EXPECT(ingot_spec_digest(&spec, two) == INGOT_OK);
  EXPECT(memcmp(one, two, sizeof(one)) != 0);
  dims[1].value = -1;
  EXPECT(ingot_spec_digest(&spec, two) == INGOT_INVALID_ARGUMENT);
  EXPECT(strstr(ingot_last_error(), "dim n value: found -1") != NULL);
  EXPECT(ingot_spec_digest(NULL, two) == INGOT_INVALID_ARGUMENT);
  EXPECT(ingot_spec_digest(&spec, NULL) == INGOT_INVALID_ARGUMENT);
  spec.target = "gfx942";
  EXPECT(ingot_spec_digest(&spec, two) == INGOT_UNIMPLEMENTED);
}

static void test_clients(void) {
  ingot_client* client = NULL;
  ingot_client_options options;
  memset(&options, 0, sizeof(options));
  EXPECT(ingot_client_create(&options, &client) == INGOT_INVALID_ARGUMENT);
  options.size = sizeof(options);
  options.address = "nonsense";
  EXPECT(ingot_client_create(&options, &client) == INGOT_INVALID_ARGUMENT);
  options.address = "unix:/nowhere/ingotd.sock";
  options.target = "gfx950:foo+";
  EXPECT(ingot_client_create(&options, &client) == INGOT_INVALID_ARGUMENT);
  options.target = NULL;
  EXPECT(ingot_client_create(&options, NULL) == INGOT_INVALID_ARGUMENT);
  EXPECT(ingot_client_create(&options, &client) == INGOT_OK);
  EXPECT(strcmp(ingot_client_address(client), options.address) == 0);
  EXPECT(ingot_client_destroy(client) == INGOT_OK);
  EXPECT(ingot_client_destroy(client) == INGOT_INVALID_ARGUMENT);
  EXPECT(ingot_client_destroy(NULL) == INGOT_OK);
  EXPECT(ingot_client_address(client) == NULL);
}

/* Programs that were compiled when the struct was shorter go on working. */
static void test_older_options(void) {
  ingot_client* client = NULL;
  ingot_client_options options;
  memset(&options, 0xff, sizeof(options)); /* what an older one did not have */
  memset(&options, 0, offsetof(ingot_client_options, signature_policy));
  options.size = offsetof(ingot_client_options, signature_policy);
  options.address = "unix:/nowhere/ingotd.sock";
  EXPECT(ingot_client_create(&options, &client) == INGOT_OK);
  EXPECT(ingot_client_destroy(client) == INGOT_OK);
  options.size -= 8;
  EXPECT(ingot_client_create(&options, &client) == INGOT_INVALID_ARGUMENT);
}

static void test_trust(void) {
  ingot_client* client = NULL;
  ingot_client_options options;
  memset(&options, 0, sizeof(options));
  options.size = sizeof(options);
  options.address = "https://127.0.0.1:1";
  EXPECT(ingot_client_create(&options, &client) == INGOT_INVALID_ARGUMENT);
  EXPECT(strstr(ingot_last_error(), "tls_ca") != NULL);
  options.address = "unix:/nowhere/ingotd.sock";
  options.signature_policy = INGOT_SIGNATURES_REQUIRE;
  options.trusted_keys = "/nowhere.pem";
  EXPECT(ingot_client_create(&options, &client) == INGOT_INVALID_ARGUMENT);
  EXPECT(strstr(ingot_last_error(), "/nowhere.pem") != NULL);
  options.signature_policy = INGOT_SIGNATURES_OFF;
  EXPECT(ingot_client_create(&options, &client) == INGOT_OK);
  EXPECT(ingot_client_destroy(client) == INGOT_OK);
}

static void test_no_daemon(void) {
  ingot_dim dims[2];
  ingot_operand operands[2];
  ingot_client* client = NULL;
  ingot_prepared* prepared = NULL;
  ingot_client_options options;
  ingot_client_stats stats;
  char* json = NULL;
  ingot_spec spec = make_spec(dims, operands);
  memset(&options, 0, sizeof(options));
  options.size = sizeof(options);
  options.address = "unix:/nowhere/ingotd.sock";
  EXPECT(ingot_client_create(&options, &client) == INGOT_OK);
  EXPECT(ingot_prepare(client, &spec, NULL, &prepared) == INGOT_UNAVAILABLE);
  EXPECT(prepared == NULL);
  EXPECT(strstr(ingot_last_error(), "/nowhere/ingotd.sock") != NULL);
  EXPECT(ingot_prepare(NULL, &spec, NULL, &prepared) == INGOT_INVALID_ARGUMENT);
  EXPECT(ingot_prepare(client, NULL, NULL, &prepared) ==
         INGOT_INVALID_ARGUMENT);
  EXPECT(ingot_prepare(client, &spec, NULL, NULL) == INGOT_INVALID_ARGUMENT);
  EXPECT(ingot_capabilities(client, &json) == INGOT_UNAVAILABLE);
  memset(&stats, 0, sizeof(stats));
  EXPECT(ingot_stats(client, &stats) == INGOT_INVALID_ARGUMENT);
  stats.size = sizeof(stats);
  EXPECT(ingot_stats(client, &stats) == INGOT_OK);
  EXPECT(stats.calls == 0 && stats.objects == 0);
  EXPECT(ingot_client_destroy(client) == INGOT_OK);
  EXPECT(ingot_prepare(client, &spec, NULL, &prepared) ==
         INGOT_INVALID_ARGUMENT);
}

static void test_tuning(void) {
  ingot_dim dims[2];
  ingot_operand operands[2];
  ingot_client* client = NULL;
  ingot_candidates* candidates = NULL;
  ingot_candidate candidate;
  ingot_client_options options;
  ingot_tuning_record record;
  ingot_tuning tuning;
  uint64_t epochs[1] = {2};
  uint64_t epoch = 99;
  ingot_spec spec = make_spec(dims, operands);
  memset(&options, 0, sizeof(options));
  options.size = sizeof(options);
  options.address = "unix:/nowhere/ingotd.sock";
  EXPECT(ingot_client_create(&options, &client) == INGOT_OK);
  EXPECT(ingot_list_candidates(NULL, &spec, 0, &candidates) ==
         INGOT_INVALID_ARGUMENT);
  EXPECT(ingot_list_candidates(client, NULL, 0, &candidates) ==
         INGOT_INVALID_ARGUMENT);
  EXPECT(ingot_list_candidates(client, &spec, 0, NULL) ==
         INGOT_INVALID_ARGUMENT);
  EXPECT(ingot_list_candidates(client, &spec, 0, &candidates) ==
         INGOT_UNAVAILABLE);
  EXPECT(candidates == NULL);
  EXPECT(ingot_candidates_count(NULL) == 0);
  memset(&candidate, 0, sizeof(candidate));
  candidate.size = sizeof(candidate);
  EXPECT(ingot_candidates_get(NULL, 0, &candidate) == INGOT_INVALID_ARGUMENT);
  EXPECT(ingot_candidates_release(NULL) == INGOT_OK);

  memset(&tuning, 0, sizeof(tuning));
  memset(&record, 0, sizeof(record));
  EXPECT(ingot_tuning_store(client, &spec, &record, &epoch) ==
         INGOT_INVALID_ARGUMENT);
  EXPECT(strstr(ingot_last_error(), "record size: found 0") != NULL);
  record.size = sizeof(record);
  EXPECT(ingot_tuning_store(client, &spec, &record, &epoch) ==
         INGOT_INVALID_ARGUMENT);
  EXPECT(strstr(ingot_last_error(), "microseconds: found 0") != NULL);
  record.microseconds = 2.5;
  EXPECT(ingot_tuning_store(client, &spec, &record, &epoch) ==
         INGOT_INVALID_ARGUMENT);
  EXPECT(strstr(ingot_last_error(), "tuning: found none") != NULL);
  record.tuning = &tuning;
  record.tuning_count = 1;
  EXPECT(ingot_tuning_store(client, &spec, &record, &epoch) ==
         INGOT_INVALID_ARGUMENT);
  tuning.size = sizeof(tuning);
  EXPECT(ingot_tuning_store(client, &spec, &record, &epoch) ==
         INGOT_INVALID_ARGUMENT);
  EXPECT(strstr(ingot_last_error(), "NULL name") != NULL);
  tuning.name = "threads";
  EXPECT(ingot_tuning_store(client, &spec, NULL, &epoch) ==
         INGOT_INVALID_ARGUMENT);
  EXPECT(ingot_tuning_store(client, NULL, &record, &epoch) ==
         INGOT_INVALID_ARGUMENT);
  EXPECT(ingot_tuning_store(NULL, &spec, &record, &epoch) ==
         INGOT_INVALID_ARGUMENT);
  EXPECT(ingot_tuning_store(client, &spec, &record, &epoch) ==
         INGOT_UNAVAILABLE);
  EXPECT(epoch == 99);
  EXPECT(ingot_tuning_delete(client, NULL, 1, NULL) == INGOT_INVALID_ARGUMENT);
  EXPECT(ingot_tuning_delete(NULL, epochs, 1, NULL) == INGOT_INVALID_ARGUMENT);
  EXPECT(ingot_tuning_delete(client, epochs, 1, NULL) == INGOT_UNAVAILABLE);
  EXPECT(ingot_client_destroy(client) == INGOT_OK);
  EXPECT(ingot_list_candidates(client, &spec, 0, &candidates) ==
         INGOT_INVALID_ARGUMENT);
}

static void test_no_handles(void) {
  ingot_launch_args args;
  const ingot_launch_args* sets[1];
  ingot_measurement measurement;
  uint64_t bytes = 0;
  memset(&args, 0, sizeof(args));
  args.size = sizeof(args);
  sets[0] = &args;
  memset(&measurement, 0, sizeof(measurement));
  measurement.size = sizeof(measurement);
  EXPECT(ingot_measure(NULL, NULL, sets, 1, NULL, &measurement) ==
         INGOT_INVALID_ARGUMENT);
  EXPECT(ingot_read_operand(NULL, &args, 0, NULL, &bytes) ==
         INGOT_INVALID_ARGUMENT);
  EXPECT(ingot_prepared_writes(NULL, 0) == 0);
  EXPECT(ingot_launch(NULL, NULL, &args) == INGOT_INVALID_ARGUMENT);
  EXPECT(ingot_workspace_bytes(NULL, &args, &bytes, NULL) ==
         INGOT_INVALID_ARGUMENT);
  EXPECT(ingot_prepared_release(NULL) == INGOT_OK);
  EXPECT(ingot_prepared_load(NULL) == INGOT_INVALID_ARGUMENT);
  EXPECT(ingot_prepared_dim(NULL, 0) == NULL);
  EXPECT(ingot_prepared_scalar_dtype(NULL, 0) == NULL);
}

int main(void) {
  test_library();
  test_specs();
  test_clients();
  test_older_options();
  test_trust();
  test_no_daemon();
  test_tuning();
  test_no_handles();
  if (failures == 0) puts("ok");
  return failures != 0;
}
