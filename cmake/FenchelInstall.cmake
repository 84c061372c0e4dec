# FenchelInstall.cmake -- headers, both libraries, pkg-config file, CMake package
include(CMakePackageConfigHelpers)
set(FENCHEL_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/fenchel)

install(DIRECTORY include/fenchel ${FENCHEL_GENERATED}/fenchel
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(TARGETS fenchel EXPORT fenchelTargets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS fenchel_static EXPORT fenchelStaticTargets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT fenchelTargets NAMESPACE fenchel:: DESTINATION ${FENCHEL_PACKAGE_DIR})
install(EXPORT fenchelStaticTargets NAMESPACE fenchel:: DESTINATION ${FENCHEL_PACKAGE_DIR})

configure_package_config_file(cmake/fenchelConfig.cmake.in fenchelConfig.cmake
                              INSTALL_DESTINATION ${FENCHEL_PACKAGE_DIR})
write_basic_package_version_file(fenchelConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/fenchelConfig.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/fenchelConfigVersion.cmake
              cmake/FenchelDependencies.cmake DESTINATION ${FENCHEL_PACKAGE_DIR})

# The pkg-config file finds its prefix from where it lies: an installed tree can be moved.
file(RELATIVE_PATH FENCHEL_PC_PREFIX /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
string(REGEX REPLACE "/$" "" FENCHEL_PC_PREFIX ${FENCHEL_PC_PREFIX})
# OpenBLAS goes by its flags: its own file would ask for what only a static OpenBLAS needs.
set(FENCHEL_PC_BLAS ${OPENBLAS_LDFLAGS} ${NETLIB_LAPACK} ${NETLIB_BLAS}
    ${LAPACK_LIBRARIES} ${BLAS_LIBRARIES})
string(REPLACE ";" " " FENCHEL_PC_BLAS "${FENCHEL_PC_BLAS}")
configure_file(cmake/fenchel.pc.in fenchel.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/fenchel.pc
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
