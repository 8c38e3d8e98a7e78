# ingot_test_gemm: problems of gemm on the emulator, with their reference.
add_library(ingot_test_gemm STATIC gemm_problem.cc)
target_link_libraries(ingot_test_gemm PUBLIC ingot_test_launch GTest::gtest)
