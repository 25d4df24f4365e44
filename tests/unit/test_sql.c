/* sql: values and columns by name; a wrong or missing name is an internal error that names the statement. */
#include "tests/unit/results_support.h"

#include "results/store/sql.h"

TEST(values_are_bound_and_read_by_name_in_any_order)
{
    AUTO(store_close) struct store s = open_store("sql.db");
    struct err err = {0};
    char text[16];
    struct sql_stmt *stmt = sql_prepare(&s, "SELECT :a AS a, :b AS b, :c AS c, :a AS again", &err);
    assert_non_null(stmt);
    sql_bind_num(stmt, ":c", (double)NAN);
    sql_bind_text(stmt, ":b", "two");
    sql_bind_int(stmt, ":a", 1);
    assert_int_equal(sql_step(stmt, &err), 1);
    assert_int_equal(sql_col_int(stmt, "again", 0), 1);
    sql_col_text(stmt, "b", text, sizeof text);
    assert_string_equal(text, "two");
    assert_true(isnan(sql_col_num(stmt, "c")));
    assert_int_equal(sql_col_int(stmt, "a", 0), 1);
    assert_int_equal(sql_step(stmt, &err), 0);
    sql_finalize(stmt);
}

/* store_close() asserts that there was no mistake. */
static void close_after_misuse(struct store *s)
{
    s->misuse[0] = '\0';
    store_close(s);
}

TEST(a_parameter_without_a_value_is_an_internal_error)
{
    struct store s = open_store("sql.db");
    struct err err = {0};
    struct sql_stmt *stmt =
        sql_prepare(&s, "SELECT id FROM run WHERE ticket = :ticket AND node = :node", &err);
    sql_bind_text(stmt, ":ticket", "t");
    assert_err(sql_step(stmt, &err), &err, ERR_INTERNAL, "SELECT id FROM run", "no value for :node");
    sql_finalize(stmt);
    close_after_misuse(&s);
}

TEST(values_of_a_kept_statement_do_not_outlive_its_use)
{
    struct store s = open_store("sql.db");
    struct err err = {0};
    const char *text = "SELECT id FROM run WHERE run_id = :run";
    struct sql_stmt *stmt = sql_keep(&s, text, &err);
    sql_bind_text(stmt, ":run", "r");
    assert_int_equal(sql_step(stmt, &err), 0);
    assert_ptr_equal(sql_keep(&s, text, &err), stmt);
    assert_err(sql_step(stmt, &err), &err, ERR_INTERNAL, "no value for :run", NULL);
    close_after_misuse(&s);
}

TEST(a_parameter_that_the_statement_lacks_is_an_internal_error)
{
    struct store s = open_store("sql.db");
    struct err err = {0};
    struct sql_stmt *stmt = sql_prepare(&s, "SELECT 1 AS one", &err);
    sql_bind_int(stmt, ":two", 2);
    assert_err(sql_step(stmt, &err), &err, ERR_INTERNAL, "\"SELECT 1 AS one\": no parameter :two", NULL);
    sql_finalize(stmt);
    close_after_misuse(&s);
}

TEST(a_column_that_the_statement_lacks_is_an_internal_error_of_the_next_call)
{
    struct store s = open_store("sql.db");
    struct err err = {0};
    struct sql_stmt *stmt = sql_prepare(&s, "SELECT 1 AS one", &err);
    assert_int_equal(sql_step(stmt, &err), 1);
    assert_int_equal(sql_col_int(stmt, "two", 7), 7);
    SQL_STMT later = sql_prepare(&s, "SELECT 2 AS two", &err);
    assert_int_equal(sql_step(later, &err), -1);
    assert_int_equal(err.kind, ERR_INTERNAL);
    assert_non_null(strstr(err.msg, "no column two"));
    sql_finalize(stmt);
    close_after_misuse(&s);
}

GROUP(scratch_make, scratch_remove);
