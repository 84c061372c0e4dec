# FenchelCoverage.cmake -- `cmake --build --preset coverage --target coverage`: which lines of
# the library and the tool the tests reach, as one percentage and as HTML
find_program(LCOV lcov REQUIRED)
find_program(GENHTML genhtml REQUIRED)
set(lcov ${LCOV} --quiet --rc lcov_branch_coverage=0)
add_custom_target(coverage
    COMMAND ${lcov} --directory . --zerocounters
    COMMAND ${CMAKE_CTEST_COMMAND} --output-on-failure --parallel 2
    COMMAND ${lcov} --directory . --capture --output-file all.info
    COMMAND ${lcov} --extract all.info "${PROJECT_SOURCE_DIR}/src/*" "${PROJECT_SOURCE_DIR}/cli/*"
            --output-file coverage.info
    COMMAND ${GENHTML} --quiet coverage.info --output-directory coverage
    COMMAND ${LCOV} --summary coverage.info
    WORKING_DIRECTORY ${PROJECT_BINARY_DIR} USES_TERMINAL VERBATIM)
