# ingot_test_small_disk: a file system that can be filled and freed.
add_library(ingot_test_small_disk STATIC small_disk.cc)
