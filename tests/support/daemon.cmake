# ingot_test_daemon: starts and stops a real ingotd.
add_library(ingot_test_daemon STATIC daemon.cc child.cc)
target_compile_definitions(ingot_test_daemon PRIVATE
  INGOT_TEST_DAEMON="$<TARGET_FILE:ingotd>"
  INGOT_TEST_WORKER="$<TARGET_FILE:ingot-worker>"
  INGOT_TEST_FAULTY_WORKER="$<TARGET_FILE:ingot-worker-faults>")
target_link_libraries(ingot_test_daemon PUBLIC ingot_status)
add_dependencies(ingot_test_daemon ingotd ingot-worker ingot-worker-faults)
