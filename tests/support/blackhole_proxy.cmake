# ingot_test_proxy: a relay that loses connections.
add_library(ingot_test_proxy STATIC blackhole_proxy.cc)
target_link_libraries(ingot_test_proxy PUBLIC Threads::Threads)
