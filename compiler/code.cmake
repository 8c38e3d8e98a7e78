# The code half: MLIR bodies, passes, code generation, link. Linked only into the
# worker and into tests labelled ir or emulator.
include(llvm.cmake)

file(GLOB code_sources CONFIGURE_DEPENDS tile/*.cc passes/*.cc target/*.cc)
foreach(op ${INGOT_OPS})
  # An op's body may have more sources, named after it.
  file(GLOB sources CONFIGURE_DEPENDS ops/${op}_body*.cc)
  list(APPEND code_sources ${sources})
endforeach()
list(FILTER code_sources EXCLUDE REGEX "_test\\.cc$|/no_plugins\\.cc$")
add_library(ingot_code STATIC ${code_sources} ops/body.cc compile.cc disassemble.cc)
target_link_libraries(ingot_code PUBLIC ingot_plan ingot_llvm)

# The fingerprints of the ops, which the planning half carries: fingerprint.cmake.
set(fingerprint_inputs ${CMAKE_CURRENT_BINARY_DIR}/fingerprint_inputs.cmake)
set(fingerprint_toolchain ${CMAKE_CURRENT_BINARY_DIR}/fingerprint_toolchain.txt)
set(fingerprint_table ${CMAKE_CURRENT_BINARY_DIR}/fingerprint_table.cc)
string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
separate_arguments(flags UNIX_COMMAND "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${type}}")
file(CONFIGURE OUTPUT ${fingerprint_inputs} @ONLY CONTENT
"set(ROOT \"${CMAKE_CURRENT_SOURCE_DIR}\")
set(OPS \"${INGOT_OPS}\")
set(FLAGS \"-std=c++${CMAKE_CXX_STANDARD};${flags}\")
set(COMPILER \"${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}\")
set(VERSION \"LLVM ${LLVM_PACKAGE_VERSION}\")
set(ARCHIVES \"${INGOT_LLVM_ARCHIVES}\")
set(TOOLCHAIN \"${fingerprint_toolchain}\")
set(TABLE \"${fingerprint_table}\")
")
set(script ${CMAKE_CURRENT_SOURCE_DIR}/fingerprint.cmake)
add_custom_command(
  OUTPUT ${fingerprint_toolchain}
  COMMAND ${CMAKE_COMMAND} -DINPUTS=${fingerprint_inputs} -DMODE=toolchain -P ${script}
  DEPENDS ${INGOT_LLVM_ARCHIVES} ${script} VERBATIM COMMENT "Hashing LLVM, MLIR and LLD")
file(GLOB hashed CONFIGURE_DEPENDS tile/* passes/* target/* ops/*.h ops/*.cc)
add_custom_command(
  OUTPUT ${fingerprint_table}
  COMMAND ${CMAKE_COMMAND} -DINPUTS=${fingerprint_inputs} -DMODE=table -P ${script}
  DEPENDS ${hashed} compile.cc ${fingerprint_inputs} ${fingerprint_toolchain} ${script}
  VERBATIM COMMENT "Fingerprints of the ops")
target_sources(ingot_plan PRIVATE ${fingerprint_table})

ingot_tests(LABELS ir LIBS ingot_code)
foreach(part ops tile passes target)
  if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${part}/CMakeLists.txt)
    add_subdirectory(${part})
  endif()
endforeach()
