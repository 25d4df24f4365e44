/* attribute, gpus, login, model: the node's facts from files, as trees of this test have them. */
#include "tests/unit/tree.h"

#include "executor/node/attribute.h"
#include "executor/node/gpu_settings.h"
#include "executor/node/gpus.h"
#include "executor/node/login.h"
#include "executor/node/model_facts.h"
#include "executor/node/system.h"
#include "executor/node/toolchain.h"
#include "executor/telemetry/amd_gpus.h"
#include "executor/workdir/sysfile.h"

#include <sys/stat.h>
#include <unistd.h>

static void assert_json_string(json_t *value, const char *expected)
{
    assert_non_null(value);
    assert_string_equal(json_string_value(value), expected);
    json_decref(value);
}

static const char *member(const json_t *object, const char *key)
{
    const char *s = json_string_value(json_object_get(object, key));
    return s ? s : "";
}

static long long number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_integer(value) ? json_integer_value(value) : -999;
}

TEST(attributes_are_one_printable_value)
{
    const char *root = in_scratch("attributes");
    put("attributes/line", "first\nsecond\n");
    put("attributes/odd", "a\033[2Jb\n");
    put("attributes/empty", "");
    put("attributes/number", "17 MiB\n");
    put("attributes/meminfo", "MemFree:  1 kB\nMemTotal:   99 kB\n");
    put("attributes/release", "NAME=x\nPRETTY_NAME=\"Debian 12\"\n");
    assert_json_string(attribute_line(root, "line"), "first");
    json_t *odd = attribute_line(root, "odd");
    assert_null(strchr(json_string_value(odd), '\033'));
    json_decref(odd);
    assert_null(attribute_line(root, "empty"));
    assert_null(attribute_line(root, "absent"));
    json_t *number = attribute_number(root, "number");
    assert_int_equal(json_integer_value(number), 17);
    json_decref(number);
    assert_true(json_is_null(attribute_number(root, "line")));
    assert_true(json_is_null(attribute_number(root, "absent")));
    assert_json_string(attribute_keyed(root, "meminfo", "MemTotal", ':'), "99 kB");
    assert_json_string(attribute_keyed(root, "release", "PRETTY_NAME", '='), "Debian 12");
    assert_true(json_is_null(attribute_keyed(root, "release", "VERSION", '=')));
}

TEST(amd_gpus_are_cards_with_memory)
{
    struct layout l = {.workdir = ""};
    snprintf(l.sysfs, sizeof l.sysfs, "%s", in_scratch("sys"));
    put("sys/class/drm/card1/device/vendor", "0x1002\n");
    put("sys/class/drm/card1/device/device", "0x74a1\n");
    put("sys/class/drm/card1/device/unique_id", "1d0fbe6a2a1c0000\n");
    put("sys/class/drm/card1/device/mem_info_vram_total", "206141652992\n");
    put("sys/class/drm/card0/device/vendor", "0x1a03\n"); /* the board's own graphics */
    put("sys/class/drm/card1-DP-1/status", "connected\n");
    put("sys/class/kfd/kfd/topology/nodes/0/properties", "gfx_target_version 0\n"); /* a CPU */
    put("sys/class/kfd/kfd/topology/nodes/1/properties",
        "gfx_target_version 90402\nunique_id 2094082018637021184\n");
    put("sys/class/kfd/kfd/proc/4711/vram_1", "1000\n");
    put("sys/class/kfd/kfd/proc/4711/vram_2", "24\n");
    put("sys/class/kfd/kfd/proc/4712/vram_1", "18446744073709551615\n");
    json_t *gpus = gpus_amd(&l), *users = gpus_amd_processes(&l);
    assert_int_equal(json_array_size(gpus), 1);
    assert_string_equal(member(json_array_get(gpus, 0), "name"), "AMD Instinct MI300X");
    assert_string_equal(member(json_array_get(gpus, 0), "arch"), "gfx942");
    assert_string_equal(member(json_array_get(gpus, 0), "unique_id"), "1d0fbe6a2a1c0000");
    assert_true(json_is_null(json_object_get(json_array_get(gpus, 0), "vram_used_bytes")));
    assert_int_equal(json_array_size(users), 2);
    assert_true(json_is_null(json_object_get(json_array_get(users, 1), "vram_bytes")));
    assert_int_equal(json_integer_value(json_object_get(json_array_get(users, 0), "pid")), 4711);
    assert_int_equal(json_integer_value(json_object_get(json_array_get(users, 0), "vram_bytes")), 1024);
    json_decref(gpus);
    json_decref(users);
}

TEST(an_attribute_ends_before_its_padding)
{
    char line[16];
    const char *root = in_scratch("padding");
    put("padding/level", "auto \t\r\n");
    put("padding/blank", " \n");
    assert_json_string(attribute_line(root, "level"), "auto");
    assert_null(attribute_line(root, "blank"));
    assert_true(sysfile_line(root, "level", line, sizeof line));
    assert_string_equal(line, "auto");
}

/* A card of a driver of today: kfd knows it by another id. */
static void put_card(const char *root, const char *card, const char *pci, const char *id)
{
    char name[128], text[128];
    snprintf(name, sizeof name, "%s/class/drm/%s/device/mem_info_vram_total", root, card);
    put(name, "206141652992\n");
    snprintf(name, sizeof name, "%s/class/drm/%s/device/unique_id", root, card);
    put(name, id);
    if (!pci)
        return;
    snprintf(name, sizeof name, "%s/class/drm/%s/device/uevent", root, card);
    snprintf(text, sizeof text, "DRIVER=amdgpu\nPCI_SLOT_NAME=%s\n", pci);
    put(name, text);
}

static void put_node(const char *root, int number, unsigned domain, unsigned location, unsigned long long id)
{
    char name[128], text[256];
    snprintf(name, sizeof name, "%s/class/kfd/kfd/topology/nodes/%d/properties", root, number);
    snprintf(text, sizeof text, "gfx_target_version 90500\nlocation_id %u\ndomain %u\nunique_id %llu\n",
             location, domain, id);
    put(name, text);
    snprintf(name, sizeof name, "%s/class/kfd/kfd/topology/nodes/%d/gpu_id", root, number);
    snprintf(text, sizeof text, "%d\n", 1000 + number);
    put(name, text);
}

/* "ID=KFD ID" of each, in order. */
static const char *gpus_by_kfd(const char *root)
{
    static char out[1024];
    struct layout l = {.workdir = ""};
    snprintf(l.sysfs, sizeof l.sysfs, "%s", in_scratch(root));
    json_t *gpus = gpus_amd(&l), *gpu;
    size_t i;
    out[0] = '\0';
    json_array_foreach(gpus, i, gpu) snprintf(out + strlen(out), sizeof out - strlen(out), "%s%s=%s",
                                              i ? " " : "", member(gpu, "unique_id"), member(gpu, "kfd_id"));
    json_decref(gpus);
    return out;
}

/* The domain tells the first two apart, and kfd's order is that of ROCR_VISIBLE_DEVICES. */
TEST(a_card_has_the_id_by_which_rocr_knows_it)
{
    put_card("spx", "card0", "0000:c1:00.0", "aaaa000000000001\n");
    put_card("spx", "card1", "0002:c1:00.0", "aaaa000000000002\n");
    put_card("spx", "card2", "0000:05:02.1", "aaaa000000000003\n"); /* a virtual function */
    put("spx/class/kfd/kfd/topology/nodes/0/properties", "gfx_target_version 0\n");
    put_node("spx", 1, 2, 0xc100, 0xbbbb000000000002);
    put_node("spx", 2, 0, 0xc100, 0xbbbb000000000001);
    put_node("spx", 3, 0, 0x0511, 0xbbbb000000000003);
    assert_string_equal(gpus_by_kfd("spx"),
                        "aaaa000000000002=bbbb000000000002 aaaa000000000001=bbbb000000000001 "
                        "aaaa000000000003=bbbb000000000003");
}

/* CPX: the part is in the uppermost bits of location_id or, in other drivers, in the function. */
TEST(each_part_of_a_card_is_a_gpu)
{
    put_card("cpx", "card0", "0000:c1:00.0", "aaaa000000000001\n");
    for (unsigned part = 0; part < 3; part++)
        put_node("cpx", 1 + (int)part, 0, 0xc100 | part << 28, 0xbbbb000000000000 + part);
    assert_string_equal(gpus_by_kfd("cpx"), "aaaa000000000001.0=bbbb000000000000 "
                                            "aaaa000000000001.1=bbbb000000000001 "
                                            "aaaa000000000001.2=bbbb000000000002");
    for (unsigned part = 0; part < 3; part++) /* 6.10: all have their card's id, so ROCR's index must do */
        put_node("cpx", 1 + (int)part, 0, 0xc100 | part, 0xaaaa000000000001);
    assert_string_equal(gpus_by_kfd("cpx"), "aaaa000000000001.0= aaaa000000000001.1= aaaa000000000001.2=");
}

static void put_part(const char *root, const char *mode, unsigned part, const char *of_process)
{
    char name[128];
    put_card(root, "card0", "0000:c1:00.0", "aaaa000000000001\n");
    snprintf(name, sizeof name, "%s/class/drm/card0/device/current_compute_partition", root);
    put(name, mode);
    snprintf(name, sizeof name, "%s/class/drm/card0/device/mem_info_vram_used", root);
    put(name, "64424509440\n");
    put_node(root, 3 + (int)part, 0, 0xc100 | part << 28, 0xbbbb000000000000 + part);
    snprintf(name, sizeof name, "%s/class/kfd/kfd/topology/nodes/%u/mem_banks/0/properties", root, 3 + part);
    put(name, "heap_type 1\nsize_in_bytes 25767706624\n");
    if (!of_process)
        return;
    snprintf(name, sizeof name, "%s/class/kfd/kfd/proc/4711/vram_1008", root); /* of part 5 */
    put(name, of_process);
}

/* "TOTAL USED" of each, in order; -999: unknown. */
static const char *memory_of(const char *root)
{
    static char out[1024];
    struct layout l = {.workdir = ""};
    snprintf(l.sysfs, sizeof l.sysfs, "%s", in_scratch(root));
    json_t *gpus = gpus_amd(&l), *gpu;
    size_t i;
    out[0] = '\0';
    json_array_foreach(gpus, i, gpu)
        snprintf(out + strlen(out), sizeof out - strlen(out), "%s%lld %lld", i ? ", " : "",
                 number(gpu, "vram_total_bytes"), number(gpu, "vram_used_bytes"));
    json_decref(gpus);
    return out;
}

/* The driver counts the memory of the whole card, which may be more than a part has. */
TEST(a_part_has_its_own_memory)
{
    put_part("parts", "CPX\n", 0, "20000000000\n");
    put_part("parts", "CPX\n", 5, NULL);
    assert_string_equal(memory_of("parts"), "25767706624 0, 25767706624 20000000000");
    put_part("silent", "CPX\n", 0, NULL);
    put_part("silent", "CPX\n", 5, NULL);
    assert_string_equal(memory_of("silent"), "25767706624 -999, 25767706624 -999");
}

/* A container that was given one part: the properties of the others' nodes cannot be read. */
TEST(a_part_whose_others_are_hidden_is_a_part)
{
    put_part("alone", "CPX\n", 5, "20000000000\n");
    put("alone/class/kfd/kfd/topology/nodes/3/properties", "");
    assert_string_equal(gpus_by_kfd("alone"), "aaaa000000000001.5=bbbb000000000005");
    assert_string_equal(memory_of("alone"), "25767706624 20000000000");
    put_part("whole", "SPX\n", 0, NULL);
    assert_string_equal(gpus_by_kfd("whole"), "aaaa000000000001=bbbb000000000000");
    assert_string_equal(memory_of("whole"), "206141652992 64424509440");
}

static void note_name(const char *path, const char *name, void *arg)
{
    char *names = arg;
    (void)path;
    snprintf(names + strlen(names), 256 - strlen(names), " %s", name);
}

static void note_render_nodes(const struct amd_gpu *gpu, size_t index, void *arg)
{
    (void)index;
    amd_gpu_render_nodes(gpu, note_name, arg);
}

/* The card's folder has the device file of the first part alone. */
TEST(each_part_has_a_device_file_of_its_own)
{
    char names[256] = "";
    struct layout l = {.workdir = ""};
    snprintf(l.sysfs, sizeof l.sysfs, "%s", in_scratch("files"));
    put_card("files", "card0", "0000:c1:00.0", "aaaa000000000001\n");
    put("files/class/drm/card0/device/drm/renderD128/dev", "226:128\n");
    put_card("files", "card9", "0000:c2:00.0", "aaaa000000000002\n");
    put("files/class/drm/card9/device/drm/renderD136/dev", "226:136\n");
    for (unsigned part = 0; part < 2; part++) {
        char name[128], text[128];
        snprintf(name, sizeof name, "files/class/kfd/kfd/topology/nodes/%u/properties", part);
        snprintf(text, sizeof text, "location_id %u\ndrm_render_minor %u\ngfx_target_version 90402\n",
                 0xc100 | part << 28, 128 + part);
        put(name, text);
    }
    amd_gpus_each(&l, note_render_nodes, names);
    assert_string_equal(names, " renderD128 renderD129 renderD136");
}

/* Locks, lanes and samples tell GPUs apart by their ids: virtual functions may all have zeros, or their
 * card's. */
TEST(an_id_that_names_no_single_card_is_none)
{
    put_card("zeros", "card0", "0000:05:02.0", "0000000000000000\n");
    put_card("zeros", "card1", "0000:05:02.1", "aaaa000000000001\n");
    put_card("zeros", "card2", "0000:05:02.2", "AAAA000000000001\n");
    put_card("zeros", "card3", "0000:05:02.3", "aaaa000000000002\n");
    put_card("zeros", "card4", "0000:05:02.4", "ffffffffffffffff\n");
    for (unsigned i = 0; i < 5; i++)
        put_node("zeros", 1 + (int)i, 0, 0x0510 + i, i == 0 ? 0 : i == 4 ? ~0ULL : 0xbbbb000000000000 + i);
    assert_string_equal(gpus_by_kfd("zeros"),
                        "= =bbbb000000000001 =bbbb000000000002 aaaa000000000002=bbbb000000000003 =");
}

TEST(a_card_whose_address_is_unknown_is_known_by_its_id)
{
    put_card("nowhere", "card0", NULL, "aaaa000000000001\n");
    put_card("nowhere", "card1", "0000:05:00.0", "aaaa000000000002\n");
    put_node("nowhere", 1, 0, 0x2600, 0xaaaa000000000001);
    put_node("nowhere", 2, 0, 0x2700, 0xaaaa000000000002); /* another place than that card's */
    assert_string_equal(gpus_by_kfd("nowhere"), "aaaa000000000001=aaaa000000000001 aaaa000000000002=");
}

static json_t *gpus_of(const char *description)
{
    struct layout l = {.workdir = ""};
    snprintf(l.sysfs, sizeof l.sysfs, "%s", in_scratch("mi300x/sys"));
    tree_lay("mi300x", "tests/fixtures/mi300x/well_tuned");
    if (description)
        tree_lay("mi300x", description);
    return gpus_amd(&l);
}

TEST(settings_of_an_mi300x_are_read)
{
    json_t *gpus = gpus_of(NULL), *gpu = json_array_get(gpus, 0), *second = json_array_get(gpus, 1);
    static const char *const texts[][2] = {{"pci", "0000:05:00.0"},
                                           {"iommu", "identity"},
                                           {"compute_partition", "SPX"},
                                           {"memory_partition", "NPS1"},
                                           {"perf_level", "auto"}};
    static const struct {
        const char *key;
        long long value;
    } numbers[] = {{"numa_node", 0},     {"sclk_min_mhz", 500},    {"sclk_max_mhz", 2100},
                   {"power_cap_w", 750}, {"power_cap_max_w", 750}, {"power_cap_default_w", 750},
                   {"pcie_width", 16},   {"pcie_width_max", 16},   {"xgmi_links", 1}};
    for (size_t i = 0; i < COUNT(texts); i++)
        assert_string_equal(member(gpu, texts[i][0]), texts[i][1]);
    for (size_t i = 0; i < COUNT(numbers); i++)
        assert_int_equal(number(gpu, numbers[i].key), numbers[i].value);
    assert_int_equal(number(second, "numa_node"), 1);
    const json_t *firmware = json_object_get(gpu, "firmware"), *ras = json_object_get(gpu, "ras");
    assert_string_equal(member(firmware, "smc"), "0x00557300");
    assert_string_equal(member(firmware, "vbios"), "113-M3000100-102");
    assert_int_equal(number(ras, "uncorrectable"), 0);
    assert_true(json_is_true(json_object_get(gpu, "ecc")));
    json_decref(gpus);
}

TEST(errors_and_lost_links_are_counted)
{
    json_t *gpus = gpus_of("tests/fixtures/mi300x/untuned"), *second = json_array_get(gpus, 1);
    const json_t *ras = json_object_get(second, "ras");
    assert_int_equal(number(ras, "uncorrectable"), 2);
    assert_int_equal(number(ras, "correctable"), 17);
    assert_true(json_is_false(json_object_get(second, "ecc")));
    assert_int_equal(number(second, "xgmi_links"), 0);
    assert_int_equal(number(second, "power_cap_w"), 550);
    assert_int_equal(number(json_array_get(gpus, 0), "sclk_max_mhz"), 1400);
    json_decref(gpus);
}

/* An MI350: a second limit, one of the node, and errors of a third kind. */
TEST(limits_and_deferred_errors_of_newer_drivers_are_read)
{
    struct layout l = {.workdir = ""};
    snprintf(l.sysfs, sizeof l.sysfs, "%s", in_scratch("mi350"));
    put("mi350/class/drm/card0/device/mem_info_vram_total", "1000\n");
    put("mi350/class/drm/card0/device/device", "0x75a3\n");
    put("mi350/class/drm/card0/device/hwmon/hwmon4/power2_cap", "1200000000\n");
    put("mi350/class/drm/card0/device/hwmon/hwmon4/power2_cap_default", "1400000000\n");
    put("mi350/class/drm/card0/device/board/cur_node_power_limit", "5000\n");
    put("mi350/class/drm/card0/device/board/max_node_power_limit", "6400\n");
    put("mi350/class/drm/card0/device/ras/umc_err_count", "ue: 0\nce: 4\nde: 2\n");
    json_t *gpus = gpus_amd(&l), *gpu = json_array_get(gpus, 0);
    assert_string_equal(member(gpu, "name"), "AMD Instinct MI355X");
    assert_int_equal(number(gpu, "power_cap2_w"), 1200);
    assert_int_equal(number(gpu, "power_cap2_default_w"), 1400);
    assert_int_equal(number(gpu, "node_power_limit_w"), 5000);
    assert_int_equal(number(gpu, "node_power_limit_max_w"), 6400);
    assert_int_equal(number(json_object_get(gpu, "ras"), "deferred"), 2);
    assert_int_equal(number(json_object_get(gpu, "ras"), "correctable"), 4);
    json_decref(gpus);
}

/* A block that is "currently inaccessible" may have any number of errors, and no card is limited to 0 W. */
TEST(numbers_that_lack_a_part_are_unknown)
{
    struct layout l = {.workdir = ""};
    snprintf(l.sysfs, sizeof l.sysfs, "%s", in_scratch("partly"));
    put("partly/class/drm/card0/device/mem_info_vram_total", "1000\n");
    put("partly/class/drm/card0/device/hwmon/hwmon4/power1_cap", "0\n");
    put("partly/class/drm/card0/device/hwmon/hwmon4/power1_cap_default", "750000000\n");
    put("partly/class/drm/card0/device/ras/gfx_err_count", "ue: 1\nce: 0\n");
    put("partly/class/drm/card0/device/ras/umc_err_count", "Query currently inaccessible\n");
    json_t *gpus = gpus_amd(&l), *gpu = json_array_get(gpus, 0);
    assert_null(json_object_get(gpu, "ras"));
    assert_null(json_object_get(gpu, "power_cap_w"));
    assert_int_equal(number(gpu, "power_cap_default_w"), 750);
    json_decref(gpus);
    put("partly/class/drm/card0/device/ras/umc_err_count", "ue: 2\nce: 0\n");
    assert_int_equal(gpu_settings_uncorrectable(in_scratch("partly/class/drm/card0/device")), 3);
    put("partly/class/drm/card0/device/ras/umc_err_count", "Query currently inaccessible\n");
    assert_int_equal(gpu_settings_uncorrectable(in_scratch("partly/class/drm/card0/device")), -1);
}

/* All bits set, or 255 lanes: nobody knows. */
TEST(numbers_that_cannot_be_are_unknown)
{
    static const char *const files[][2] = {
        {"mem_info_vram_total", "18446744073709551615\n"},
        {"mem_info_vram_used", "-1\n"},
        {"hwmon/hwmon4/power1_cap", "4294967295\n"},
        {"hwmon/hwmon4/power1_cap_default", "65535000000\n"},
        {"current_link_width", "16\n"},
        {"max_link_width", "255\n"},
        {"board/cur_node_power_limit", "0\n"},
        {"board/max_node_power_limit", "4294967295\n"},
        {"current_compute_partition", "UNKNOWN\n"},
        {"fw_version/smc_fw_version", "0xffffffff\n"},
        {"pp_od_clk_voltage", "OD_SCLK:\n0: 65535Mhz\n1: 65535Mhz\n"},
        {"ras/umc_err_count", "ue: 18446744073709551615\nce: 0\n"},
    };
    struct layout l = {.workdir = ""};
    char name[128];
    snprintf(l.sysfs, sizeof l.sysfs, "%s", in_scratch("ones"));
    for (size_t i = 0; i < COUNT(files); i++) {
        snprintf(name, sizeof name, "ones/class/drm/card0/device/%s", files[i][0]);
        put(name, files[i][1]);
    }
    json_t *gpus = gpus_amd(&l), *gpu = json_array_get(gpus, 0);
    assert_true(json_is_null(json_object_get(gpu, "vram_total_bytes")));
    assert_true(json_is_null(json_object_get(gpu, "vram_used_bytes")));
    assert_int_equal(number(gpu, "pcie_width"), 16);
    assert_int_equal(json_object_size(gpu), 8);
    json_decref(gpus);
}

TEST(what_a_driver_does_not_show_has_no_key)
{
    struct layout l = {.workdir = ""};
    snprintf(l.sysfs, sizeof l.sysfs, "%s", in_scratch("bare"));
    put("bare/class/drm/card0/device/vendor", "0x1002\n");
    put("bare/class/drm/card0/device/mem_info_vram_total", "1000\n");
    json_t *gpus = gpus_amd(&l);
    assert_int_equal(json_object_size(json_array_get(gpus, 0)), 7);
    json_decref(gpus);
    json_t *nothing = system_settings(&l);
    assert_int_equal(json_object_size(nothing), 0);
    json_decref(nothing);
}

TEST(settings_of_the_system_are_read)
{
    struct layout l = {.workdir = ""};
    snprintf(l.sysfs, sizeof l.sysfs, "%s", in_scratch("host/sys"));
    snprintf(l.proc, sizeof l.proc, "%s", in_scratch("host/proc"));
    tree_lay("host", "tests/fixtures/mi300x/well_tuned");
    json_t *system = system_settings(&l);
    assert_string_equal(member(system, "governor"), "performance");
    assert_string_equal(member(system, "thp"), "always");
    assert_string_equal(member(system, "smt"), "off");
    assert_string_equal(member(system, "kernel_options"), "pci=realloc=off iommu=pt numa_balancing=disable");
    assert_int_equal(number(system, "numa_balancing"), 0);
    json_decref(system);
    put("host/sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "powersave\n");
    system = system_settings(&l);
    assert_string_equal(member(system, "governor"), "mixed");
    json_decref(system);
}

TEST(nvidia_gpus_without_the_library_come_from_procfs)
{
    struct layout l = {.workdir = ""};
    snprintf(l.proc, sizeof l.proc, "%s", in_scratch("proc"));
    put("proc/driver/nvidia/gpus/0000:01:00.0/information",
        "Model: \t\t NVIDIA H100\nIRQ:   \t\t 11\nGPU UUID: \t GPU-1234\n");
    json_t *gpus = gpus_nvidia(&l, NULL);
    assert_int_equal(json_array_size(gpus), 1);
    assert_string_equal(member(json_array_get(gpus, 0), "name"), "NVIDIA H100");
    assert_string_equal(member(json_array_get(gpus, 0), "unique_id"), "GPU-1234");
    json_decref(gpus);
    json_t *users = gpus_nvidia_processes(NULL, 0);
    assert_int_equal(json_array_size(users), 0);
    json_decref(users);
}

static const char *rocm_of(const char *path)
{
    static char out[64];
    setenv("PATH", path, 1);
    json_t *version = toolchain_rocm();
    snprintf(out, sizeof out, "%s", json_string_value(version) ? json_string_value(version) : "");
    json_decref(version);
    return out;
}

static void put_program(const char *name)
{
    assert_int_equal(chmod(put(name, "#!/bin/sh\n"), 0755), 0);
}

TEST(the_version_of_rocm_is_that_of_the_hipcc_that_is_used)
{
    const char *usual = getenv("PATH");
    char keep[4096];
    snprintf(keep, sizeof keep, "%s", usual ? usual : "");
    put_program("rocm-10.0/bin/hipcc");
    put("rocm-10.0/.info/version", "10.0.0-18\n");
    put_program("rocm-7.0/lib/llvm/bin/hipcc");
    put("rocm-7.0/.info/version", "7.0.1-42\n");
    put("alternatives/bin/other", "");
    assert_int_equal(symlink(in_scratch("rocm-10.0/bin/hipcc"), in_scratch("alternatives/bin/hipcc")), 0);
    assert_string_equal(rocm_of(in_scratch("rocm-10.0/bin")), "10.0.0-18");
    assert_string_equal(rocm_of(in_scratch("rocm-7.0/lib/llvm/bin")), "7.0.1-42");
    assert_string_equal(rocm_of(in_scratch("alternatives/bin")), "10.0.0-18");
    setenv("ROCM_PATH", in_scratch("rocm-7.0"), 1);
    assert_string_equal(rocm_of("/nowhere"), "7.0.1-42");
    unsetenv("ROCM_PATH");
    setenv("PATH", keep, 1);
}

TEST(a_model_that_cannot_be_read_says_why)
{
    json_t *absent = model_facts(in_scratch("absent.gguf"));
    assert_string_equal(member(absent, "path"), in_scratch("absent.gguf"));
    assert_string_not_equal(member(absent, "error"), "");
    json_decref(absent);
    json_t *other = model_facts(put("text.gguf", "no model"));
    assert_string_not_equal(member(other, "error"), "");
    json_decref(other);
}

TEST(what_the_login_sets_is_recorded_without_secrets)
{
    char name[64] = "LD_LIBRARY_PATH", path[301] = "";
    memset(path, 'p', sizeof path - 1);
    setenv("HSA_XNACK", "1", 1);
    setenv("VLLM_API_KEY", "sesame", 1);
    setenv("HIP_VISIBLE_DEVICES", "3", 1);
    setenv("SSH_CONNECTION", "192.0.2.1", 1);
    setenv("NCCL_ODD", "\xff", 1);
    setenv(name, path, 1);
    json_auto_t *login = login_variables();
    assert_string_equal(member(login, "HSA_XNACK"), "1");
    assert_string_equal(member(login, "VLLM_API_KEY"), "***");
    assert_null(json_object_get(login, "HIP_VISIBLE_DEVICES"));
    assert_null(json_object_get(login, "SSH_CONNECTION"));
    assert_int_equal(strlen(member(login, "NCCL_ODD")), 64);
    char *cut = strdup(member(login, name));
    assert_true(strlen(cut) < sizeof path - 1);
    path[299] = 'q'; /* beyond what is kept, and yet another value */
    setenv(name, path, 1);
    json_auto_t *other = login_variables();
    assert_string_not_equal(member(other, name), cut);
    free(cut);
    unsetenv(name);
    unsetenv("NCCL_ODD");
    unsetenv("HIP_VISIBLE_DEVICES");
}

GROUP(scratch_make, scratch_remove);
