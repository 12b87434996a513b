// The result of `sinew check` as SARIF and as a page.
#pragma once

#include <string>

#include "io/json.h"
#include "report/check_report.h"

namespace sinew::cli {

/// A SARIF 2.1.0 log (OASIS 2020): a rule for each row of the table, a result for each alarm.
OrderedJson make_check_sarif(const CheckRun& run);

/// One self-contained page: a table, and pictures of the alarms with a value per vertex, where OpenGL is available.
std::string make_check_page(const CheckRun& run, Context& context);

}  // namespace sinew::cli
