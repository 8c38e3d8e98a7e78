# ingot_test_gemm: problems of gemm on the emulator, with their reference.
add_library(ingot_test_gemm STATIC device_matrices.cc epilogue_reference.cc gemm_problem.cc gemm_shapes.cc gemm_sweep.cc)
target_link_libraries(ingot_test_gemm PUBLIC ingot_test_launch GTest::gtest)
