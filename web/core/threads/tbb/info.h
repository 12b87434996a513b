#include "../pool.h"
