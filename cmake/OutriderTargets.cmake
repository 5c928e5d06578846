# How every target of this project is compiled. Warnings are errors; floating-point contraction is off everywhere, since
# the numeric laws of kernels/ say themselves where a multiply and an add are fused.

function(outrider_compile_options target)
  target_compile_options(${target} PRIVATE
    -Wall -Wextra -Wpedantic -Werror -ffp-contract=off
    $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>  # false positives on string concatenation in g++ 12 (GCC bug 105651)
    $<$<COMPILE_LANGUAGE:CXX>:-Wconversion -Wno-sign-conversion -Wshadow -Wnon-virtual-dtor>)
  if(OUTRIDER_SANITIZE)
    # Lines and functions are what a report needs. At -O2 -g, g++ works on one of the kernels' files for more than ten minutes.
    target_compile_options(${target} PRIVATE -O1 -g1)
  endif()
  if(OUTRIDER_SANITIZE STREQUAL "address")
    target_compile_options(${target} PRIVATE -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      target_compile_options(${target} PRIVATE -Wno-maybe-uninitialized)  # false positives of g++ 12 in instrumented code
    endif()
    target_link_options(${target} PRIVATE -fsanitize=address,undefined)
  elseif(OUTRIDER_SANITIZE STREQUAL "thread")
    target_compile_options(${target} PRIVATE -fsanitize=thread -fno-omit-frame-pointer)
    target_link_options(${target} PRIVATE -fsanitize=thread)
  endif()
endfunction()

# outrider_room(NAME SOURCES … [USES …]): one room of host/ as a static library `outrider_NAME`. USES names what it may include.
function(outrider_room name)
  cmake_parse_arguments(ROOM "" "" "SOURCES;USES" ${ARGN})
  add_library(outrider_${name} STATIC ${ROOM_SOURCES})
  target_include_directories(outrider_${name} PUBLIC ${CMAKE_SOURCE_DIR}/host)
  target_link_libraries(outrider_${name} PUBLIC ${ROOM_USES})
  outrider_compile_options(outrider_${name})
endfunction()

# outrider_test(NAME LABEL unit SOURCES … USES … [TIMEOUT s] [SERIAL]): a Catch2 executable; each test case is a ctest of its own.
# SERIAL: it uses all cores, so nothing runs beside it.
function(outrider_test name)
  cmake_parse_arguments(TEST "SERIAL" "LABEL;TIMEOUT" "SOURCES;USES" ${ARGN})
  if(NOT TEST_TIMEOUT)
    set(TEST_TIMEOUT 120)
  endif()
  add_executable(${name} ${TEST_SOURCES})
  target_link_libraries(${name} PRIVATE outrider_test_main ${TEST_USES})
  target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O1>)  # tests are compiled oftener than they run long
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/tests)
  target_compile_definitions(${name} PRIVATE
    OUTRIDER_TEST_DATA="${CMAKE_SOURCE_DIR}/tests/data" OUTRIDER_TEST_PLUGINS="${OUTRIDER_PLUGIN_DIR}"
    OUTRIDER_TEST_BINARY_DIR="${CMAKE_BINARY_DIR}")
  outrider_compile_options(${name})
  include(Catch)
  catch_discover_tests(${name} TEST_PREFIX "${name}: " 
    PROPERTIES LABELS "${TEST_LABEL}" TIMEOUT ${TEST_TIMEOUT} RUN_SERIAL ${TEST_SERIAL} SKIP_REGULAR_EXPRESSION "SKIPPED:")
endfunction()
