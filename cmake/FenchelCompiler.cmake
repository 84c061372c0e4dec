# FenchelCompiler.cmake -- language, optimisation, warnings and sanitizers of everything we build
set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS ON)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "kind of build" FORCE)
endif()
set(CMAKE_C_FLAGS_RELEASE "-O3 -DNDEBUG")
set(CMAKE_C_FLAGS_DEBUG "-O1 -g")   # -Og breaks the inlining that xxhash.h insists on

# Results must be the same whether or not the compiler sees a chance to fuse a*b + c.
add_compile_options(-ffp-contract=off -fno-math-errno)

add_library(fenchel_warnings INTERFACE)
target_compile_options(fenchel_warnings INTERFACE
    -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion -Wstrict-prototypes
    -Wmissing-prototypes -Wvla $<$<BOOL:${FENCHEL_WERROR}>:-Werror>
    # clang tells of loops it did not vectorise, which is not a fault of the program, and of
    # named constants (enum { N = 8 }) in formulas, which is how we name them
    "$<$<C_COMPILER_ID:Clang>:-Wno-pass-failed;-Wno-enum-float-conversion>")

if(FENCHEL_SANITIZE)
    string(REPLACE ";" "," FENCHEL_SANITIZERS "${FENCHEL_SANITIZE}")
    add_compile_options(-fsanitize=${FENCHEL_SANITIZERS} -fno-sanitize-recover=all
                        -fno-omit-frame-pointer)
    add_link_options(-fsanitize=${FENCHEL_SANITIZERS})
endif()
if(FENCHEL_COVERAGE)
    add_compile_options(--coverage -O0)
    add_link_options(--coverage)
endif()
