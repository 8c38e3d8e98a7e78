# Tests are found by rule, never listed by hand: every `*_test.cc` (gtest),
# `*_test.sh` and `*_test.py` (exit 0 = passed; given the build folder) in a
# folder is a test. The word before `_test`
# says what it needs and becomes its ctest label:
#
#   spec_test.cc             unit      nothing: no process, no GPU, milliseconds
#   lowering_ir_test.cc      ir        LLVM and MLIR in the process
#   daemon_service_test.cc   service   a daemon on loopback
#   kill_faults_test.cc      faults    kills, full disks, damage
#   gemm_emulator_test.cc    emulator  executes code objects on the emulator
#   soak_slow_test.sh        slow      minutes; left out of `./dev test`
#   x_torch_test.py          torch     a current PyTorch: `./dev test --torch`
#   x_vllm_test.py           vllm      vLLM: `./dev test --vllm`
#
# ingot_tests([LIBS target...] [DEPENDS target...] [TIMEOUT seconds]
#             [ENV NAME=value...] [LABELS label...])
# makes one program and one ctest a file. LIBS are linked into each; DEPENDS
# (programs a test starts) are built first; ENV may hold generator expressions;
# with LABELS only files of those labels are taken, so that a folder can link
# its unit tests against less than the others.
include_guard()

if(INGOT_TESTS)
  find_package(GTest REQUIRED)
  find_program(INGOT_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH REQUIRED)
endif()

# Python has no sanitizer inside, but the library that it loads does. What the
# interpreter itself never frees is its own affair.
set(INGOT_PYTHON_ENV)
if(INGOT_SANITIZE)
  set(runtime libasan.so)
  if(INGOT_SANITIZE STREQUAL "thread")
    set(runtime libtsan.so)
  endif()
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=${runtime}
                  OUTPUT_VARIABLE runtime OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  set(INGOT_PYTHON_ENV LD_PRELOAD=${runtime} ASAN_OPTIONS=detect_leaks=0
      TSAN_OPTIONS=ignore_noninstrumented_modules=1:halt_on_error=1)
endif()

function(ingot_test_label file out)
  set(label unit)
  if(file MATCHES "_(ir|service|faults|emulator|slow|peers|torch|vllm)_test\\.(cc|sh|c|py)$")
    set(label ${CMAKE_MATCH_1})
  endif()
  set(${out} ${label} PARENT_SCOPE)
endfunction()

function(ingot_tests)
  if(NOT INGOT_TESTS)
    return()
  endif()
  cmake_parse_arguments(arg "" "TIMEOUT" "LIBS;DEPENDS;ENV;LABELS" ${ARGN})
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  if(INGOT_SANITIZE)
    math(EXPR arg_TIMEOUT "4 * ${arg_TIMEOUT}")
  endif()
  file(GLOB files CONFIGURE_DEPENDS *_test.cc *_test.sh *_test.py)
  file(RELATIVE_PATH here ${CMAKE_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  string(REPLACE "/" "." prefix "${here}")
  foreach(file ${files})
    get_filename_component(stem ${file} NAME_WE)
    ingot_test_label(${file} label)
    if(arg_LABELS AND NOT label IN_LIST arg_LABELS)
      continue()
    endif()
    set(name ${prefix}.${stem})
    set(env ${arg_ENV})
    if(file MATCHES "\\.cc$")
      add_executable(${name} ${file})
      target_link_libraries(${name} PRIVATE ${arg_LIBS} GTest::gmock_main)
      set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
      if(arg_DEPENDS)
        add_dependencies(${name} ${arg_DEPENDS})
      endif()
      add_test(NAME ${name} COMMAND ${name} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
    else()
      set(interpreter bash)
      if(file MATCHES "\\.py$")
        # The distribution's, whose packages the tests may use.
        set(interpreter ${INGOT_PYTHON} -B)
        list(APPEND env ${INGOT_PYTHON_ENV})
      endif()
      add_test(NAME ${name} COMMAND ${interpreter} ${file} ${CMAKE_BINARY_DIR}
               WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
    endif()
    set_tests_properties(${name} PROPERTIES LABELS ${label} TIMEOUT ${arg_TIMEOUT}
                         ENVIRONMENT "${env}")
    # Those that kill, fill and wait keep the machine to themselves.
    if(label STREQUAL "faults")
      set_tests_properties(${name} PROPERTIES RUN_SERIAL ON)
    endif()
  endforeach()
endfunction()
