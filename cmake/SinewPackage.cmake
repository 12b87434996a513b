# CPack: sinew.deb and a tarball (scripts/package calls it, and says what is in them).
# Manual pages and completions, which scripts/shell-files makes from the help of the program.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/build/shell-files/share/ DESTINATION ${CMAKE_INSTALL_DATADIR} OPTIONAL)
set(CPACK_PACKAGE_NAME sinew)
set(CPACK_PACKAGE_VENDOR "The authors of sinew")
set(CPACK_PACKAGE_CONTACT "The authors of sinew <sinew@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_GENERATOR DEB TGZ)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION graphics)
# The packages of the libraries that program and library load; and of those that a program in C++ links.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS xdg-utils)  # sinew studio opens the browser
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "g++, nlohmann-json3-dev, libmeshoptimizer-dev, libdraco-dev, libpng-dev, libepoxy-dev, libassimp-dev, zlib1g-dev, blender")
include(CPack)
