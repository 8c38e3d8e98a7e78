# The planning half: every source directly in compiler/ that is not of the code
# half, what ops share, and each op's plan.
file(GLOB plan_sources CONFIGURE_DEPENDS *.cc ops/registry.cc ops/checks.cc ops/*_tiles.cc)
list(FILTER plan_sources EXCLUDE REGEX "_test\\.cc$|/(compile|disassemble|warm_up)\\.cc$")
foreach(op ${INGOT_OPS})
  if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/ops/${op}_plan.cc)
    list(APPEND plan_sources ops/${op}_plan.cc)
  endif()
endforeach()
add_library(ingot_plan STATIC ${plan_sources})
target_link_libraries(ingot_plan PUBLIC ingot_status absl::span absl::flat_hash_map PRIVATE OpenSSL::Crypto)

ingot_tests(LABELS unit LIBS ingot_plan)
