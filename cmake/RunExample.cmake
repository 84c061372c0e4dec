# RunExample.cmake -- runs PROGRAM in a fresh FOLDER with a model in it and compares what it
# prints with EXPECTED. PROGRAM may have an argument, behind an exclamation mark, and finds
# the tool on its PATH.
string(REPLACE "!" ";" PROGRAM "${PROGRAM}")
get_filename_component(directory ${TOOL} DIRECTORY)
set(ENV{PATH} "${directory}:$ENV{PATH}")
file(REMOVE_RECURSE ${FOLDER})
file(MAKE_DIRECTORY ${FOLDER})
execute_process(COMMAND ${TOOL} generate friedman --rows 300 --seed 1 -o friedman.csv
                COMMAND_ERROR_IS_FATAL ANY WORKING_DIRECTORY ${FOLDER} OUTPUT_QUIET)
execute_process(COMMAND ${TOOL} fit friedman.csv --quiet
                COMMAND_ERROR_IS_FATAL ANY WORKING_DIRECTORY ${FOLDER} OUTPUT_QUIET)
execute_process(COMMAND ${PROGRAM} WORKING_DIRECTORY ${FOLDER} RESULT_VARIABLE result
                OUTPUT_VARIABLE output ERROR_VARIABLE errors)
message("${output}${errors}")
if(NOT result EQUAL 0)
    message(FATAL_ERROR "${PROGRAM} ended with ${result}")
endif()
if(EXISTS ${EXPECTED})
    file(READ ${EXPECTED} expected)
    if(NOT output STREQUAL expected)
        message(FATAL_ERROR "expected was:\n${expected}")
    endif()
endif()
