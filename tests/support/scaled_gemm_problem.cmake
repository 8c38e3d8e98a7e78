#ingot_test_scaled_gemm : problems of scaled_gemm on the emulator, with their
#reference.
add_library(ingot_test_scaled_gemm STATIC scaled_gemm_problem.cc)
    target_link_libraries(
        ingot_test_scaled_gemm PUBLIC ingot_test_launch GTest::gtest)
