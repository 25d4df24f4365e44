/* What clang-tidy's analyzer cannot see across files: these functions always return -1. Included by scripts/lint
 * in front of every file but those of common/, which define them; otherwise it follows paths that cannot be.
 */
#include "common/base/err.h"
#include "common/base/json.h"

#define err_set(...) (err_set(__VA_ARGS__), -1)
#define err_set_errno(...) (err_set_errno(__VA_ARGS__), -1)
#define err_wrap(...) (err_wrap(__VA_ARGS__), -1)
#define json_fail(...) (json_fail(__VA_ARGS__), -1)
