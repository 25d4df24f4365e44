/* The journal as a node sends it, in pieces of any size, and what a person is shown of it. */
#include "harness/session/event.h"
#include "harness/session/live.h"
#include "tests/fuzz/fuzz.h"

struct view {
    struct live live;
    int64_t bytes;
};

static int on_line(void *arg, const char *line, size_t len, struct err *err)
{
    struct view *view = arg;
    struct event e;
    (void)err;
    fuzz_check(len > 0 && !memchr(line, '\n', len));
    int rc = event_decode(&e, line, len);
    fuzz_check(rc >= -1 && rc <= 1);
    view->bytes += (int64_t)len + 1;
    if (rc == 0)
        live_event(&view->live, &e);
    return 0;
}

/* The first byte is the size of the pieces. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = NULL;
    size_t len = 0, piece = size ? (size_t)data[0] + 1 : 1;
    struct view view = {.bytes = 0};
    struct event_stream s;
    struct err err = {0};
    live_init(&view.live, open_memstream(&text, &len));
    event_stream_init(&s, on_line, &view);
    for (size_t i = 1; i < size; i += piece) {
        int rc = event_stream_write(&s, (const char *)data + i, piece < size - i ? piece : size - i, &err);
        fuzz_check_err(rc, &err, ERR_NODE);
        if (rc != 0)
            break;
    }
    fuzz_check(s.offset == view.bytes);
    event_stream_release(&s);
    live_end(&view.live);
    fclose(view.live.out);
    fuzz_check_text(text, len);
    free(text);
    return 0;
}
