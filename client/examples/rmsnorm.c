/* Root-mean-square norm of 5 rows of 1000 floats, by libingot and HIP.
 *
 *   cc rmsnorm.c $(pkg-config --cflags --libs ingot) -lamdhip64 -lm
 */
#include <hip/hip_runtime_api.h>
#include <ingot/ingot.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { kRows = 5, kColumns = 1000 };

static void expect(ingot_status status, const char* what) {
  if (status == INGOT_OK) return;
  fprintf(stderr, "%s: %s: %s\n", what, ingot_status_name(status),
          ingot_last_error());
  exit(1);
}

static void expect_hip(hipError_t error, const char* what) {
  if (error == hipSuccess) return;
  fprintf(stderr, "%s: HIP error %d\n", what, (int)error);
  exit(1);
}

int main(void) {
  /* What is to be computed. Any number of rows; the row's length is baked. */
  const ingot_dim dims[] = {
      {.size = sizeof(ingot_dim), .kind = INGOT_DIM_RANGE, .name = "rows"},
      {.size = sizeof(ingot_dim), .name = "n", .value = kColumns}};
  const ingot_operand operands[] = {
      {.size = sizeof(ingot_operand), .name = "x", .dtype = "f32"},
      {.size = sizeof(ingot_operand), .name = "y", .dtype = "f32"}};
  const ingot_spec spec = {.size = sizeof(ingot_spec),
                           .op = "rmsnorm",
                           .dims = dims,
                           .dim_count = 2,
                           .operands = operands,
                           .operand_count = 2};

  /* Once a process: a client; once a spec: a call to the daemon. */
  ingot_client* client;
  expect(ingot_client_create(NULL, &client), "client");
  ingot_prepared* rmsnorm;
  expect(ingot_prepare(client, &spec, NULL, &rmsnorm), "prepare");

  static float x[kRows][kColumns], y[kRows][kColumns];
  for (int r = 0; r < kRows; ++r) {
    for (int i = 0; i < kColumns; ++i) x[r][i] = (float)((r + 3 * i) % 17 - 8);
  }
  void* device_x;
  void* device_y;
  expect_hip(hipMalloc(&device_x, sizeof(x)), "hipMalloc");
  expect_hip(hipMalloc(&device_y, sizeof(y)), "hipMalloc");
  expect_hip(hipMemcpy(device_x, x, sizeof(x), hipMemcpyHostToDevice), "copy");

  /* As often as wanted: a launch asks nobody and allocates nothing. */
  const int64_t extents[] = {kRows, kColumns};
  void* const pointers[] = {device_x, device_y};
  const ingot_scalar eps = {.f = 1e-6};
  const ingot_launch_args args = {.size = sizeof(ingot_launch_args),
                                  .dims = extents,
                                  .dim_count = 2,
                                  .operands = pointers,
                                  .operand_count = 2,
                                  .scalars = &eps,
                                  .scalar_count = 1};
  expect(ingot_launch(rmsnorm, NULL, &args), "launch");
  expect_hip(hipMemcpy(y, device_y, sizeof(y), hipMemcpyDeviceToHost), "copy");

  double worst = 0;
  for (int r = 0; r < kRows; ++r) {
    double squares = 0;
    for (int i = 0; i < kColumns; ++i) squares += (double)x[r][i] * x[r][i];
    const double scale = 1 / sqrt(squares / kColumns + 1e-6);
    for (int i = 0; i < kColumns; ++i) {
      worst = fmax(worst, fabs(y[r][i] - x[r][i] * scale));
    }
  }
  printf("rmsnorm of %d x %d: largest error %.1e\n", kRows, kColumns, worst);

  ingot_prepared_release(rmsnorm);
  ingot_client_destroy(client);
  expect_hip(hipFree(device_x), "hipFree");
  expect_hip(hipFree(device_y), "hipFree");
  return worst < 1e-5 ? 0 : 1;
}
