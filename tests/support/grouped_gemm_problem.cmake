# ingot_test_grouped_gemm: problems of grouped_gemm on the emulator, with their
# reference, and the sweep over random ones.
add_library(ingot_test_grouped_gemm STATIC
            grouped_gemm_problem.cc grouped_gemm_sweep.cc)
target_link_libraries(ingot_test_grouped_gemm PUBLIC ingot_test_gemm)
