#ingot_test_launch : compiles plans in process and runs them on the emulator.
add_library(ingot_test_launch STATIC launch.cc)
    target_link_libraries(ingot_test_launch PUBLIC ingot_code ingot_emulator)
