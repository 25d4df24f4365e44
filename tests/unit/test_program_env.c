/* program_env: settings that change a program's answer do not reach it. */
#include "tests/unit/support.h"

#include "common/base/environment.h"
#include "common/base/program_env.h"
#include "common/base/run.h"

static void gives(const char *program, const char *name, const char *want)
{
    AUTO(strvec_release) struct strvec env = {0};
    setenv(name, "x", 1);
    assert_true(program_env(program, &env));
    unsetenv(name);
    const char *found = environment_get(&env, name);
    if (want)
        assert_string_equal(found, want);
    else if (found)
        fail_msg("%s reaches %s", name, program);
}

TEST(settings_that_change_answers_do_not_pass)
{
    static const char *const pairs[][2] = {{"squeue", "SQUEUE_PARTITION"},
                                           {"squeue", "SQUEUE_USERS"},
                                           {"squeue", "SLURM_CLUSTERS"},
                                           {"scancel", "SCANCEL_STATE"},
                                           {"sbatch", "SBATCH_PARTITION"},
                                           {"/usr/bin/sbatch", "SBATCH_EXCLUSIVE"},
                                           {"tar", "TAR_OPTIONS"},
                                           {"cp", "POSIXLY_CORRECT"},
                                           {"git", "GIT_DIR"},
                                           {"git", "GIT_INDEX_FILE"},
                                           {"git", "GIT_ATTR_SOURCE"},
                                           {"git", "GIT_TRACE"},
                                           {"ssh", "POSIXLY_CORRECT"},
                                           {"gnuplot", "GNUTERM"},
                                           {"podman", "PODMAN_USERNS"},
                                           {"docker", "DOCKER_DEFAULT_PLATFORM"},
                                           {"amd-smi", "PYTHONPATH"},
                                           {"nvidia-smi", "LD_PRELOAD"},
                                           {"nvdisasm", "CUDA_VISIBLE_DEVICES"}};
    for (size_t i = 0; i < COUNT(pairs); i++)
        gives(pairs[i][0], pairs[i][1], NULL);
}

TEST(what_a_program_needs_passes)
{
    gives("squeue", "SLURM_CONF", "x");
    gives("git", "GIT_SSH_COMMAND", "x");
    gives("git", "GIT_CONFIG_KEY_0", "x");
    gives("git", "SUDO_UID", "x");
    gives("git", "KRB5CCNAME", "x"); /* for its ssh */
    gives("git", "LC_ALL", "C");
    gives("podman", "XDG_DATA_HOME", "x"); /* where its images are */
    gives("ssh", "PROJECT_KEY", "x");      /* `IdentityFile ${PROJECT_KEY}` */
    gives("sbatch", "HSA_XNACK", "x");     /* for the tests */
    gives("docker", "DOCKER_HOST", "x");
    gives("tar", "PATH", "x");
    setenv("PATH", "/usr/bin:/bin", 1);
}

TEST(others_are_not_in_the_list)
{
    AUTO(strvec_release) struct strvec env = {0};
    assert_false(program_env("my-hook", &env));
    assert_int_equal(env.n, 0);
}

TEST(programs_are_started_with_it)
{
    static const char script[] = "#!/bin/sh\nenv\n";
    const char *const argv[] = {put_bytes("squeue", script, sizeof script - 1), NULL};
    struct run_result res;
    struct err err = {0};
    AUTO(buf_release) struct buf out = {.max = 1 << 16};
    chmod(argv[0], 0700);
    setenv("SQUEUE_PARTITION", "urgent", 1);
    setenv("LC_ALL", "de_DE.UTF-8", 1);
    assert_ok(run_capture(argv, NULL, 10, &out, &res, &err), &err);
    assert_null(strstr(buf_str(&out), "SQUEUE_PARTITION"));
    assert_non_null(strstr(buf_str(&out), "LC_ALL=C\n"));
}

GROUP(scratch_make, scratch_remove);
