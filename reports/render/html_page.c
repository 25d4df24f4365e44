#include "reports/render/html_page.h"

#include "common/base/alloc.h"
#include "common/base/escape.h"
#include "common/base/text.h"

#include <nettle/base64.h>
#include <nettle/sha2.h>
#include <string.h>

/* Style and script are separate files for the sake of editors and linters; the program embeds them. */
#define EMBED(symbol, file)                                                                                  \
    __asm__(".pushsection .rodata\n" #symbol ":\n.incbin \"" file "\"\n.byte 0\n.popsection\n");             \
    extern const char symbol[] /* NOLINT(bugprone-macro-parentheses): a declarator */                        \
        __attribute__((visibility("hidden")))

EMBED(reports_page_css, "reports/render/page.css");
EMBED(reports_page_js, "reports/render/page.js");

void html_base64(struct buf *out, const void *data, size_t len)
{
    const uint8_t *bytes = data;
    while (len) {
        char text[BASE64_ENCODE_RAW_LENGTH(3 * 1024)];
        size_t n = len < 3 * 1024 ? len : 3 * 1024;
        base64_encode_raw(text, n, bytes);
        buf_add(out, text, BASE64_ENCODE_RAW_LENGTH(n));
        bytes += n;
        len -= n;
    }
}

static void policy_source(struct buf *out, const char *text)
{
    struct sha256_ctx ctx;
    uint8_t digest[SHA256_DIGEST_SIZE];
    sha256_init(&ctx);
    sha256_update(&ctx, strlen(text), (const uint8_t *)text);
    sha256_digest(&ctx, sizeof digest, digest);
    buf_puts(out, "'sha256-");
    html_base64(out, digest, sizeof digest);
    buf_puts(out, "'");
}

static void policy(struct buf *out)
{
    buf_puts(out, "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; "
                  "base-uri 'none'; form-action 'none'; style-src ");
    policy_source(out, reports_page_css);
    buf_puts(out, "; script-src ");
    policy_source(out, reports_page_js);
    buf_puts(out, "\">\n");
}

void html_page_begin(struct buf *out, enum report_lang lang, const char *title)
{
    AUTO(buf_release) struct buf visible = {.max = 4096};
    text_printable(&visible, title, strlen(title), 400);
    out->failed |= !buf_ok(&visible);
    buf_printf(out,
               "<!doctype html>\n<html lang=\"%s\" data-filter=\"%s\">\n<head>\n<meta charset=\"utf-8\">\n",
               report_lang_name(lang), message(lang, MSG_HTML_FILTER));
    policy(out);
    buf_puts(out, "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>");
    escape_xml(out, buf_str(&visible));
    buf_puts(out, "</title>\n<style>");
    buf_puts(out, reports_page_css);
    buf_puts(out, "</style>\n</head>\n<body>\n<a class=\"skip\" href=\"#content\">");
    buf_puts(out, message(lang, MSG_HTML_SKIP));
    buf_puts(out, "</a>\n");
}

void html_page_end(struct buf *out)
{
    buf_puts(out, "<script>");
    buf_puts(out, reports_page_js);
    buf_puts(out, "</script>\n</body>\n</html>\n");
}
