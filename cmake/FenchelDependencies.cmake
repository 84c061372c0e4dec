# FenchelDependencies.cmake -- everything libfenchel links, as one target: fenchel::dependencies
#
# Used twice: by the build, and (installed beside fenchelConfig.cmake) by projects that link
# fenchel::static. FENCHEL_BLAS says which BLAS and LAPACK:
#   openblas  what pkg-config calls openblas. Not its serial variant: we call it from several
#             threads at once, and that variant is built without the locks this needs
#   netlib    the reference BLAS and LAPACK as Debian packs them: slow, but only our threads run,
#             and no second OpenMP comes in beside clang's
#   generic   what find_package(BLAS) and find_package(LAPACK) find
find_package(PkgConfig REQUIRED)
find_package(OpenMP REQUIRED COMPONENTS C)
find_package(ZLIB REQUIRED)
pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash)
find_library(SLEEF_LIBRARY sleef REQUIRED)
find_path(SLEEF_INCLUDE_DIR sleef.h REQUIRED)
mark_as_advanced(SLEEF_LIBRARY SLEEF_INCLUDE_DIR)

add_library(fenchel::blas INTERFACE IMPORTED)
if(FENCHEL_BLAS STREQUAL "openblas")
    pkg_check_modules(OPENBLAS REQUIRED IMPORTED_TARGET openblas)
    target_link_libraries(fenchel::blas INTERFACE PkgConfig::OPENBLAS)
elseif(FENCHEL_BLAS STREQUAL "netlib")
    set(directory /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE})
    find_library(NETLIB_BLAS blas PATHS ${directory}/blas NO_DEFAULT_PATH REQUIRED)
    find_library(NETLIB_LAPACK lapack PATHS ${directory}/lapack NO_DEFAULT_PATH REQUIRED)
    find_path(CBLAS_INCLUDE_DIR cblas.h REQUIRED)
    target_link_libraries(fenchel::blas INTERFACE ${NETLIB_LAPACK} ${NETLIB_BLAS})
    target_include_directories(fenchel::blas INTERFACE ${CBLAS_INCLUDE_DIR})
elseif(FENCHEL_BLAS STREQUAL "generic")
    find_package(BLAS REQUIRED)
    find_package(LAPACK REQUIRED)
    find_path(CBLAS_INCLUDE_DIR cblas.h REQUIRED PATH_SUFFIXES openblas)
    target_link_libraries(fenchel::blas INTERFACE LAPACK::LAPACK BLAS::BLAS)
    target_include_directories(fenchel::blas INTERFACE ${CBLAS_INCLUDE_DIR})
else()
    message(FATAL_ERROR "FENCHEL_BLAS is \"${FENCHEL_BLAS}\"; "
                        "it must be openblas, netlib or generic")
endif()

add_library(fenchel::dependencies INTERFACE IMPORTED)
target_include_directories(fenchel::dependencies INTERFACE ${SLEEF_INCLUDE_DIR})
target_link_libraries(fenchel::dependencies INTERFACE
    fenchel::blas OpenMP::OpenMP_C ${SLEEF_LIBRARY} PkgConfig::JANSSON PkgConfig::XXHASH
    ZLIB::ZLIB m)
