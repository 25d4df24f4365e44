/* Disassemblers' output: instructions by class, the hot loop, listings that do not depend on addresses. */
#include "executor/code/disassembly.h"
#include "tests/unit/support.h"

struct seen {
    size_t count;
    struct disassembly_function last;
    char listing[4096];
};

static bool every_symbol_with_k(void *arg, const char *symbol, bool *buffer_scratch)
{
    (void)arg;
    *buffer_scratch = symbol[0] == 'k' && symbol[1] == 's';
    return symbol[0] == 'k';
}

static void remember(void *arg, const struct disassembly_function *f)
{
    struct seen *s = arg;
    s->count++;
    s->last = *f;
    snprintf(s->listing, sizeof s->listing, "%.*s", (int)f->listing_len, f->listing ? f->listing : "");
}

/* piece: how many bytes at a time */
static struct seen parse(enum disassembly_syntax syntax, const char *text, size_t piece)
{
    struct seen seen = {.count = 0};
    struct disassembly d;
    disassembly_init(&d, syntax);
    d.listings = true;
    d.begins = every_symbol_with_k;
    d.function = remember;
    d.arg = &seen;
    for (size_t at = 0, len = strlen(text); at < len; at += piece)
        disassembly_feed(&d, text + at, len - at < piece ? len - at : piece);
    disassembly_finish(&d);
    disassembly_release(&d);
    return seen;
}

/* An outer loop with more arithmetic around an inner one with products of matrices, moved by an offset. */
static void print_amd(char *out, size_t size, unsigned offset, unsigned distance)
{
    snprintf(out, size,
             "\nk.hsaco:\tfile format elf64-amdgpu\n\nDisassembly of section .text:\n\n"
             "%016x <k>:\n"
             "\ts_getpc_b64 s[2:3]                       // %012X: BE821C00\n"
             "\ts_add_u32 s2, s2, 0x%x                   // %012X: 8002FF02\n"
             "\ts_addc_u32 s3, s3, 0                     // %012X: 82038003\n"
             "\tv_add_f32_e32 v0, v1, v2                 // %012X: 02000501\n"
             "\tv_exp_f32_e32 v0, v0                     // %012X: 7E004100\n"
             "\tglobal_load_dword v1, v[2:3], off        // %012X: DC508000\n"
             "%016x <label_0018>:\n"
             "\tv_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], a[0:15] // %012X: D3CC0000\n"
             "\ts_waitcnt lgkmcnt(0)                     // %012X: BF8CC07F\n"
             "\ts_cbranch_scc0 65532                     // %012X: BF84FFFC <k+0x20>\n"
             "\ts_cbranch_scc1 65527                     // %012X: BF85FFF7 <k+0xc>\n"
             "\ts_endpgm                                 // %012X: BF810000\n"
             "\ts_nop 0                                  // %012X: BF800000\n",
             offset, offset, distance, offset + 4, offset + 12, offset + 16, offset + 20, offset + 24,
             offset + 32, offset + 32, offset + 40, offset + 44, offset + 48, offset + 52, offset + 56);
}

TEST(amd_instructions_and_loops)
{
    char text[4096];
    print_amd(text, sizeof text, 0x1700, 0x128);
    for (size_t piece = 1; piece < 200; piece += 13) {
        struct seen s = parse(DISASSEMBLY_LLVM, text, piece);
        assert_int_equal(s.count, 1);
        assert_string_equal(s.listing, "  s_getpc_b64 s[2:3]\n"
                                       "  s_add_u32 s2, s2, ?\n"
                                       "  s_addc_u32 s3, s3, ?\n"
                                       "L1:\n"
                                       "  v_add_f32_e32 v0, v1, v2\n"
                                       "  v_exp_f32_e32 v0, v0\n"
                                       "  global_load_dword v1, v[2:3], off\n"
                                       "L2:\n"
                                       "  v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], a[0:15]\n"
                                       "  s_waitcnt lgkmcnt(0)\n"
                                       "  s_cbranch_scc0 L2\n"
                                       "  s_cbranch_scc1 L1\n"
                                       "  s_endpgm\n");
        assert_int_equal(s.last.instructions[INSTRUCTION_MATRIX], 1);
        assert_int_equal(s.last.instructions[INSTRUCTION_VECTOR], 1);
        assert_int_equal(s.last.instructions[INSTRUCTION_TRANSCENDENTAL], 1);
        assert_int_equal(s.last.instructions[INSTRUCTION_WAIT], 1); /* the padding does not count */
        assert_int_equal(s.last.hot_loop[INSTRUCTION_MATRIX], 1);
        assert_int_equal(s.last.hot_loop[INSTRUCTION_VECTOR], 0);
        assert_int_equal(s.last.hot_loop[INSTRUCTION_BRANCH], 1);
    }
}

TEST(code_that_moved_gives_the_same_listing)
{
    char here[4096], there[4096];
    print_amd(here, sizeof here, 0x1700, 0x128);
    print_amd(there, sizeof there, 0x2a00, 0x9c0);
    struct seen a = parse(DISASSEMBLY_LLVM, here, 100), b = parse(DISASSEMBLY_LLVM, there, 100);
    assert_string_equal(a.listing, b.listing);
}

TEST(scratch_by_buffers)
{
    static const char *const line =
        ":\n\tbuffer_store_dword v5, off, s[8:11], 0 offset:632 // 000000000100: E0\n"
        "\tbuffer_load_dword v5, v1, s[8:11], 0 offen // 000000000108: E0\n";
    char text[512];
    snprintf(text, sizeof text, "0000000000000100 <ks>%s", line);
    struct seen s = parse(DISASSEMBLY_LLVM, text, 64);
    assert_int_equal(s.last.instructions[INSTRUCTION_SCRATCH], 1);
    assert_int_equal(s.last.instructions[INSTRUCTION_GLOBAL_LOAD], 1);
    assert_int_equal(s.last.hot_loop[0], KERNEL_FACT_UNKNOWN);
    snprintf(text, sizeof text, "0000000000000100 <k>%s", line);
    s = parse(DISASSEMBLY_LLVM, text, 64);
    assert_int_equal(s.last.instructions[INSTRUCTION_SCRATCH], 0);
    assert_int_equal(s.last.instructions[INSTRUCTION_GLOBAL_STORE], 1);
}

TEST(nvidia_instructions_and_loops)
{
    static const char text[] =
        "\t.target\tsm_90a\n"
        "\t.section\t.text.k,\"ax\",@progbits\n"
        "        .size           k,(.L_x_9 - k)\n"
        "k:\n.text.k:\n"
        "        /*0000*/                   LDC R1, c[0x0][0x28] ;\n"
        ".L_x_7:\n"
        "        /*0010*/                   WARPGROUP.ARRIVE ;\n"
        "        /*0020*/                   HGMMA.64x64x16.F32 R24, gdesc[UR4], R24 ;\n"
        "        /*0030*/              @!P0 MUFU.EX2 R5, R6 ;\n"
        "        /*0040*/                   HFMA2.MMA R5, -RZ, RZ, 0, 0 ;\n"
        "        /*0050*/               @P1 BRA `(.L_x_7) ;\n"
        "        /*0060*/              @!P2 STL [R1+0x8], R4 ;\n"
        "        /*0070*/                   EXIT ;\n"
        ".L_x_8:\n"
        "        /*0080*/                   BRA `(.L_x_8);\n"
        "        /*0090*/                   NOP;\n"
        ".L_x_9:\n"
        "\t.section\t.text.other,\"ax\",@progbits\n"
        "        /*0000*/                   NOP;\n";
    struct seen s = parse(DISASSEMBLY_NVDISASM, text, 11);
    assert_int_equal(s.count, 1);
    assert_string_equal(s.listing, "  LDC R1, c[0x0][0x28]\n"
                                   "L1:\n"
                                   "  WARPGROUP.ARRIVE\n"
                                   "  HGMMA.64x64x16.F32 R24, gdesc[UR4], R24\n"
                                   "  @!P0 MUFU.EX2 R5, R6\n"
                                   "  HFMA2.MMA R5, -RZ, RZ, 0, 0\n"
                                   "  @P1 BRA L1\n"
                                   "  @!P2 STL [R1+0x8], R4\n"
                                   "  EXIT\n");
    assert_int_equal(s.last.hot_loop[INSTRUCTION_MATRIX], 1);
    assert_int_equal(s.last.hot_loop[INSTRUCTION_TRANSCENDENTAL], 1);
    assert_int_equal(s.last.hot_loop[INSTRUCTION_VECTOR], 1);
    assert_int_equal(s.last.instructions[INSTRUCTION_SCRATCH], 1);
    assert_int_equal(s.last.instructions[INSTRUCTION_BRANCH], 1);
    assert_int_equal(s.last.instructions[INSTRUCTION_SCALAR], 1);
}

TEST(damaged_output_does_no_harm)
{
    char text[4096], copy[4096];
    print_amd(text, sizeof text, 0x1700, 0x128);
    for (size_t i = 0; i < strlen(text); i++) {
        memcpy(copy, text, sizeof copy);
        copy[i] = (char)(i % 3 ? '\n' : 0x7f);
        parse(DISASSEMBLY_LLVM, copy, 512);
        parse(DISASSEMBLY_NVDISASM, copy, 512);
    }
}
