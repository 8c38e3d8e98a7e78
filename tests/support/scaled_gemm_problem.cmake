# ingot_test_scaled_gemm: problems of scaled_gemm on the emulator, with their
# reference, and the sweep over random ones.
add_library(ingot_test_scaled_gemm STATIC
            scaled_gemm_problem.cc scaled_gemm_sweep.cc)
target_link_libraries(ingot_test_scaled_gemm PUBLIC ingot_test_gemm)
