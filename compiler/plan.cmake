# The planning half: every source directly in compiler/ that is not of the code
# half, what ops share, and each op's plan.
file(GLOB plan_sources CONFIGURE_DEPENDS *.cc ops/registry.cc ops/checks.cc ops/recipe_steps.cc
     ops/row_operands.cc)
list(FILTER plan_sources EXCLUDE REGEX "_test\\.cc$|/(compile|disassemble)\\.cc$")
foreach(op ${INGOT_OPS})
  # An op's plan may have more sources, named after it.
  file(GLOB sources CONFIGURE_DEPENDS ops/${op}_plan*.cc)
  list(APPEND plan_sources ${sources})
endforeach()
add_library(ingot_plan STATIC ${plan_sources})
target_link_libraries(ingot_plan PUBLIC ingot_status absl::span absl::flat_hash_map PRIVATE OpenSSL::Crypto)

ingot_tests(LABELS unit LIBS ingot_plan)
