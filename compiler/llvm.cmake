# ingot_llvm: what a program links to have MLIR, LLVM for AMDGPU and LLD inside.
# Only archives: a program must never have libMLIR.so beside libMLIR*.a, since
# both register the same passes and options.
set(llvm_config ${LLVM_TOOLS_BINARY_DIR}/llvm-config)
execute_process(
  COMMAND ${llvm_config} --link-static --libs amdgpu passes core mc support irreader bitwriter
          linker target frontendoffloading lto dtlto option
  OUTPUT_VARIABLE llvm_libs OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${llvm_config} --link-static --system-libs
                OUTPUT_VARIABLE system_libs OUTPUT_STRIP_TRAILING_WHITESPACE
                COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${llvm_config} --libdir OUTPUT_VARIABLE llvm_libdir
                OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
separate_arguments(llvm_libs)
separate_arguments(system_libs)
list(FILTER llvm_libs EXCLUDE REGEX "Polly")

file(GLOB mlir_archives ${llvm_libdir}/libMLIR*.a)
list(FILTER mlir_archives EXCLUDE REGEX "CAPI|Test|Lsp|Lib\\.a$")
set(INGOT_LLVM_ARCHIVES ${mlir_archives} ${llvm_libdir}/liblldELF.a ${llvm_libdir}/liblldCommon.a)
foreach(lib ${llvm_libs})
  string(REGEX REPLACE "^-l(.*)$" "${llvm_libdir}/lib\\1.a" archive "${lib}")
  list(APPEND INGOT_LLVM_ARCHIVES ${archive})
endforeach()

set(INGOT_TARGET_STUBS)
foreach(target ${LLVM_TARGETS_TO_BUILD})
  if(NOT target STREQUAL "AMDGPU")
    foreach(part Target TargetInfo TargetMC AsmPrinter AsmParser)
      string(APPEND INGOT_TARGET_STUBS "void LLVMInitialize${target}${part}(void) {}\n")
    endforeach()
  endif()
endforeach()
configure_file(target/other_targets.c.in other_targets.c @ONLY)

add_library(ingot_llvm_stubs STATIC ${CMAKE_CURRENT_BINARY_DIR}/other_targets.c target/no_plugins.cc)
target_include_directories(ingot_llvm_stubs SYSTEM PRIVATE ${LLVM_INCLUDE_DIRS})

add_library(ingot_llvm INTERFACE)
target_include_directories(ingot_llvm SYSTEM INTERFACE ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS} ${LLD_INCLUDE_DIRS})
target_link_libraries(ingot_llvm INTERFACE -Wl,--start-group ${INGOT_LLVM_ARCHIVES} ingot_llvm_stubs
                      -Wl,--end-group ${system_libs})
target_link_options(ingot_llvm INTERFACE -Wl,--gc-sections)
