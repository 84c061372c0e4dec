# FenchelTest.cmake -- how a file in tests/ becomes a test

# Tests run side by side: a thread that has nothing to do must not spin.
set(FENCHEL_SKIP "")
set(FENCHEL_TEST_ENVIRONMENT "OMP_WAIT_POLICY=passive"
    "ASAN_OPTIONS=detect_stack_use_after_return=1:allocator_may_return_null=1"
    "UBSAN_OPTIONS=print_stacktrace=1")
if(NOT FENCHEL_POPT_UNWANTEDARG)
    list(APPEND FENCHEL_TEST_ENVIRONMENT "FENCHEL_OLD_POPT=1"
         "LSAN_OPTIONS=print_suppressions=0:suppressions=${PROJECT_SOURCE_DIR}/cmake/lsan-popt-1.18")
endif()

# Built for another machine: its emulator runs the tests, one thread each.
set(FENCHEL_LAUNCHER "")
if(CMAKE_CROSSCOMPILING)
    set(FENCHEL_LAUNCHER ${CMAKE_CROSSCOMPILING_EMULATOR})
    list(APPEND FENCHEL_TEST_ENVIRONMENT "OMP_NUM_THREADS=1")
endif()
# A processor in software is 20 to 130 times as slow, most where long doubles have 128 bits. Programs
# of more than about 20 seconds there are left out: what they compute with is reached by shorter
# ones. unit/fork is, as qemu does not fork a process with threads dependably.
set(FENCHEL_NOT_EMULATED unit/bent unit/block unit/block_price unit/certify_distance
    unit/certify_linear unit/certify_tensor unit/csv unit/curve unit/descend unit/dualities
    unit/fit_linear unit/fork unit/gram unit/interior unit/lanczos unit/left_out unit/lp_rank unit/mutants
    unit/model_damage unit/noise unit/programs unit/source unit/source_errors unit/stream unit/text)

# Sanitizers place their shadow at fixed addresses; kernels that randomise many address bits get
# in the way of older ones. Where the machine lets us, their tests run without randomisation.
if(FENCHEL_SANITIZE)
    execute_process(COMMAND setarch ${CMAKE_SYSTEM_PROCESSOR} -R true RESULT_VARIABLE result
                    OUTPUT_QUIET ERROR_QUIET)
    if(result EQUAL 0)
        set(FENCHEL_LAUNCHER setarch ${CMAKE_SYSTEM_PROCESSOR} -R)
    endif()
endif()

# Thread sanitizing with clang: libarcher tells the sanitizer what libomp synchronises; without
# it every parallel region looks like a race. The libraries below us are not instrumented.
if("thread" IN_LIST FENCHEL_SANITIZE)
    get_filename_component(directory "${OpenMP_omp_LIBRARY}" REALPATH)
    get_filename_component(directory "${directory}" DIRECTORY)
    file(GLOB llvm_directories /usr/lib/llvm-*/lib)
    find_library(FENCHEL_ARCHER archer HINTS ${directory} ${llvm_directories} REQUIRED)
    list(APPEND FENCHEL_TEST_ENVIRONMENT "OMP_TOOL_LIBRARIES=${FENCHEL_ARCHER}"
         "TSAN_OPTIONS=ignore_noninstrumented_modules=1:halt_on_error=1")
    set(probe ${CMAKE_CURRENT_BINARY_DIR}/tsan_probe)
    execute_process(COMMAND ${CMAKE_C_COMPILER} -fopenmp -fsanitize=thread -o ${probe}
                            ${PROJECT_SOURCE_DIR}/tests/support/tsan_probe.c)
    execute_process(COMMAND ${CMAKE_COMMAND} -E env ${FENCHEL_TEST_ENVIRONMENT}
                            ${FENCHEL_LAUNCHER} ${probe}
                    RESULT_VARIABLE result OUTPUT_QUIET ERROR_QUIET)
    if(NOT result EQUAL 0)
        set(FENCHEL_SKIP "the thread sanitizer does not work with the OpenMP runtime of this machine")
        message(WARNING "tests will be skipped: ${FENCHEL_SKIP}")
    endif()
endif()

# The kernels are compiled for several levels of x86-64, and a processor runs the highest it has.
# FENCHEL_TEST_LEVELS=on runs the tests of FENCHEL_LEVEL_KINDS once more at each other level, by the
# same programs. A level below is reached by taking features from what glibc calls active, which is
# what the library asks for; OpenBLAS, which asks the processor, is told to match; unit/simd sees
# that the level is the one in FENCHEL_LEVEL. A level that the processor lacks is run by qemu. Neither
# runs more than one thread, which the native tests do.
#   level | features taken away | kernels of OpenBLAS | processor in qemu, which knows no AVX-512
set(FENCHEL_LEVEL_TABLE "avx512|||" "avx2|-AVX512F|Haswell|Haswell"
    "baseline|-AVX512F,-AVX2,-FMA|Nehalem|Nehalem")
set(FENCHEL_LEVEL_KINDS unit law golden cli docs)
set(FENCHEL_EMULATED_KINDS unit law)
set(FENCHEL_LEVEL_FREE cli/files cli/help cli/lp_memory)   # what no level changes, and is long

# The highest level of this processor, or "" where it is not an x86-64.
function(fenchel_native_level out)
    set(level "")
    if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$" AND NOT CMAKE_CROSSCOMPILING)
        set(level baseline)
        file(STRINGS /proc/cpuinfo flags REGEX "^flags" LIMIT_COUNT 1)
        if(flags MATCHES " avx2 " AND flags MATCHES " fma ")
            set(level avx2)
            if(flags MATCHES " avx512f " AND flags MATCHES " avx512dq " AND flags MATCHES " avx512vl")
                set(level avx512)
            endif()
        endif()
    endif()
    set(${out} "${level}" PARENT_SCOPE)
endfunction()
fenchel_native_level(FENCHEL_NATIVE_LEVEL)
set(FENCHEL_TEST_LEVELS off CACHE STRING "tests at other levels of x86-64: off, on, or all by qemu")
set_property(CACHE FENCHEL_TEST_LEVELS PROPERTY STRINGS off on qemu)

# Files of one kind, if that kind is wanted.
function(fenchel_test_files kind ending out)
    set(files "")
    if(kind IN_LIST FENCHEL_TEST_KINDS)
        file(GLOB files CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${kind}/*.${ending})
    endif()
    set(${out} ${files} PARENT_SCOPE)
endfunction()

# unit/test_text.c is the test unit/text.
function(fenchel_test_name file out)
    get_filename_component(name ${file} NAME_WE)
    string(REGEX REPLACE "^(test|fuzz)_" "" name ${name})
    set(${out} ${name} PARENT_SCOPE)
endfunction()

# A test named PREFIX:kind/name, run in the source directory, with a TMPDIR of its own build.
function(fenchel_add_test_at prefix kind name environment)
    set(test ${prefix}:${kind}/${name})
    set(scratch ${PROJECT_BINARY_DIR}/scratch)
    file(MAKE_DIRECTORY ${scratch})
    set(command ${FENCHEL_LAUNCHER} ${ARGN})
    if(FENCHEL_SKIP)
        set(command sh -c "echo 'SKIPPED: ${FENCHEL_SKIP}' && exit 77")
    endif()
    add_test(NAME ${test} COMMAND ${command} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    list(APPEND environment ${FENCHEL_TEST_ENVIRONMENT} "FENCHEL_DATA=${FENCHEL_DATA}"
         "FENCHEL=$<TARGET_FILE:fenchel_cli>" "TMPDIR=${scratch}")
    set_tests_properties(${test} PROPERTIES LABELS ${kind} SKIP_RETURN_CODE 77 TIMEOUT 1200
                         ENVIRONMENT "${environment}")
endfunction()

# The test preset:kind/name, and preset-level:kind/name for every level that is asked for.
function(fenchel_add_test kind name)
    get_filename_component(preset ${PROJECT_BINARY_DIR} NAME)
    if(NOT CMAKE_CROSSCOMPILING OR NOT ${kind}/${name} IN_LIST FENCHEL_NOT_EMULATED)
        fenchel_add_test_at(${preset} ${kind} ${name} "" ${ARGN})
    endif()
    if(FENCHEL_TEST_LEVELS STREQUAL "off" OR NOT FENCHEL_NATIVE_LEVEL
       OR NOT kind IN_LIST FENCHEL_LEVEL_KINDS OR ${kind}/${name} IN_LIST FENCHEL_LEVEL_FREE)
        return()
    endif()
    set(lacking TRUE)   # the table goes down: what stands above the native level is lacking
    foreach(row ${FENCHEL_LEVEL_TABLE})
        string(REPLACE "|" ";" row "${row}")
        list(POP_FRONT row level without blas cpu)
        set(at "FENCHEL_LEVEL=${level};OMP_NUM_THREADS=1")
        if(level STREQUAL FENCHEL_NATIVE_LEVEL)
            set(lacking FALSE)
        elseif(lacking OR FENCHEL_TEST_LEVELS STREQUAL "qemu")
            fenchel_add_emulated_test(${preset}-${level} ${kind} ${name} "${at}" "${cpu}" ${ARGN})
        else()
            fenchel_add_test_at(${preset}-${level} ${kind} ${name}
                "GLIBC_TUNABLES=glibc.cpu.hwcaps=${without};OPENBLAS_CORETYPE=${blas};${at}" ${ARGN})
        endif()
    endforeach()
endfunction()

# One test that says SKIPPED stands for all of a level that cannot be run.
function(fenchel_add_emulated_test prefix kind name environment cpu)
    find_program(FENCHEL_QEMU qemu-x86_64)
    if(NOT kind IN_LIST FENCHEL_EMULATED_KINDS
       OR ${kind}/${name} IN_LIST FENCHEL_NOT_EMULATED)
        return()
    endif()
    if(cpu AND FENCHEL_QEMU)
        set(FENCHEL_LAUNCHER ${FENCHEL_QEMU} -cpu ${cpu})
        fenchel_add_test_at(${prefix} ${kind} ${name} "${environment}" ${ARGN})
    elseif(NOT TEST ${prefix}:${kind}/all)
        set(FENCHEL_SKIP "this processor lacks the level, and qemu-x86_64 is not installed")
        if(NOT cpu)
            set(FENCHEL_SKIP "this processor lacks the level, and qemu does not know it")
        endif()
        fenchel_add_test_at(${prefix} ${kind} all "")
    endif()
endfunction()

# An executable test_KIND_NAME and the test that runs it; the caller finds it in ${target}.
function(fenchel_c_test kind file)
    fenchel_test_name(${file} name)
    set(target test_${kind}_${name})
    add_executable(${target} ${file})
    target_link_libraries(${target} PRIVATE fenchel_internals)
    fenchel_add_test(${kind} ${name} $<TARGET_FILE:${target}>)
    set(target ${target} PARENT_SCOPE)
endfunction()

# Every __wrap_NAME that the file or failing_memory.h defines takes the place of NAME in what is
# linked.
function(fenchel_wrap target file)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    file(READ ${file} text)
    file(READ ${PROJECT_SOURCE_DIR}/tests/support/failing_memory.h shared)
    string(APPEND text "${shared}")
    string(REGEX MATCHALL "__wrap_[A-Za-z0-9_]+" names "${text}")
    list(REMOVE_DUPLICATES names)
    list(TRANSFORM names REPLACE "__wrap_" "LINKER:--wrap=")
    target_link_options(${target} PRIVATE ${names})
endfunction()

# fuzzer-no-link among the sanitizers: a libFuzzer program and ten minutes of it in the target
# fuzz-long; otherwise a program that runs over the seeds in tests/fuzz/corpus/NAME once.
function(fenchel_fuzz_test file)
    fenchel_test_name(${file} name)
    set(target fuzz_${name})
    set(seeds ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/corpus/${name})
    if(NOT EXISTS ${seeds})
        set(seeds "")
    endif()
    add_executable(${target} ${file})
    target_link_libraries(${target} PRIVATE fenchel_internals)
    set_source_files_properties(${file} PROPERTIES COMPILE_OPTIONS -Wno-missing-prototypes)
    if(NOT "fuzzer-no-link" IN_LIST FENCHEL_SANITIZE)
        target_sources(${target} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/support/replay.c)
        fenchel_add_test(fuzz ${name} $<TARGET_FILE:${target}> ${seeds})
        return()
    endif()
    target_link_options(${target} PRIVATE -fsanitize=fuzzer)
    set(found ${CMAKE_CURRENT_BINARY_DIR}/corpus/${name})
    file(MAKE_DIRECTORY ${found})
    set(options -rss_limit_mb=2048 -timeout=20 -print_final_stats=1
        -artifact_prefix=${CMAKE_CURRENT_BINARY_DIR}/${name}-)
    fenchel_add_test(fuzz ${name} $<TARGET_FILE:${target}> -seed=1
                     -max_total_time=${FENCHEL_FUZZ_SECONDS} ${options} ${found} ${seeds})
    if(NOT TARGET fuzz-long)
        add_custom_target(fuzz-long)
    endif()
    add_custom_target(fuzz-long-${name} USES_TERMINAL COMMAND ${target} -max_total_time=600
                      ${options} ${found} ${seeds} DEPENDS ${target})
    add_dependencies(fuzz-long fuzz-long-${name})
endfunction()
