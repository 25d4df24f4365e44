/* Tells clang-tidy's analyzer, which does not look across files, that these functions always return -1;
 * otherwise it follows impossible paths. scripts/lint includes this before every file except those of
 * common/, which define them.
 */
#include "common/base/err.h"
#include "common/base/json.h"

#define err_set(...) (err_set(__VA_ARGS__), -1)
#define err_set_errno(...) (err_set_errno(__VA_ARGS__), -1)
#define err_wrap(...) (err_wrap(__VA_ARGS__), -1)
#define json_fail(...) (json_fail(__VA_ARGS__), -1)
