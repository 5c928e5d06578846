# outrider_add_plugin(NAME SOURCES … [LINK …]): builds NAME.so, a drafter for Outrider.
#
# Why the flags: hidden visibility and the version script keep every symbol but the entry inside, so two plugins cannot meet; together with
# -fno-gnu-unique they also make the library unmappable (g++ marks inline statics STB_GNU_UNIQUE, which pins a library for ever).
# -z defs finds a missing symbol at link time instead of at the first ride; -z now and -z relro are the loader's side of the same.
# Private dependencies should be linked statically: the host runs a plugin from a private copy, away from libraries that lie beside it.
set(OUTRIDER_PLUGIN_CMAKE_DIR ${CMAKE_CURRENT_LIST_DIR})

function(outrider_add_plugin name)
  cmake_parse_arguments(PLUGIN "" "" "SOURCES;LINK" ${ARGN})
  if(NOT PLUGIN_SOURCES)
    message(FATAL_ERROR "outrider_add_plugin(${name}): give the source files after SOURCES")
  endif()
  add_library(${name} MODULE ${PLUGIN_SOURCES})
  target_link_libraries(${name} PRIVATE outrider::sdk ${PLUGIN_LINK})
  set_target_properties(${name} PROPERTIES PREFIX "" SUFFIX ".so" POSITION_INDEPENDENT_CODE ON SKIP_BUILD_RPATH ON
    C_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
    LINK_DEPENDS ${OUTRIDER_PLUGIN_CMAKE_DIR}/outrider_plugin.map)
  target_compile_options(${name} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fno-gnu-unique>)
  target_link_options(${name} PRIVATE -Wl,-z,defs,-z,now,-z,relro -Wl,--exclude-libs,ALL
    -Wl,--version-script=${OUTRIDER_PLUGIN_CMAKE_DIR}/outrider_plugin.map)
  if(OUTRIDER_PLUGIN_DIR)
    set_target_properties(${name} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${OUTRIDER_PLUGIN_DIR})
  endif()
endfunction()
