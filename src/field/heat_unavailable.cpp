// Heat on hardware in a build without OpenGL (SINEW_GL).
#include "field/heat_hardware.h"

namespace sinew {

Result<std::unique_ptr<HeatHardware>> HeatHardware::open() {
    return Error{ErrorCode::usage,
                 "heat hardware: this sinew was built without OpenGL (SINEW_GL); use heat cpu, or build it where "
                 "libepoxy-dev is installed"};
}

}  // namespace sinew
