#include <stdio.h>
#include <string.h>

#include "client/src/canonical.h"

/* Alphabetical, as AMD writes them. */
static const char* const kFeatures[] = {"sramecc", "xnack"};
enum { FEATURES = 2 };

static ingot_status refuse_target(const char* target, const char* allowed,
                                  char* error, size_t size) {
  snprintf(error, size, "target: found \"%.80s\", allowed %s", target, allowed);
  return INGOT_INVALID_ARGUMENT;
}

/* Reads one "xnack-" of `length` bytes into `signs`; 0 when it is none or is
 * there already. */
static int read_feature(const char* text, size_t length, char* signs) {
  if (length == 0) return 0;
  const char sign = text[length - 1];
  if (sign != '+' && sign != '-') return 0;
  for (int i = 0; i < FEATURES; ++i) {
    if (strlen(kFeatures[i]) == length - 1 &&
        memcmp(kFeatures[i], text, length - 1) == 0) {
      if (signs[i] != 0) return 0;
      signs[i] = sign;
      return 1;
    }
  }
  return 0;
}

ingot_status ingot_canonical_target(const char* target, char* out, char* error,
                                    size_t error_size) {
  static const char allowed[] =
      "gfx950, optionally with sramecc+, sramecc-, xnack+ or xnack-, each "
      "feature at most once";
  if (target == NULL) target = "";
  char folded[INGOT_MAX_STRING + 1];
  const size_t length = strnlen(target, sizeof(folded));
  if (length == 0 || length > INGOT_MAX_STRING) {
    return refuse_target(target, allowed, error, error_size);
  }
  for (size_t i = 0; i <= length; ++i) {
    const char c = target[i];
    folded[i] = (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  }
  const size_t processor = strcspn(folded, ":");
  if (processor == 0 ||
      strspn(folded, "abcdefghijklmnopqrstuvwxyz0123456789-") != processor) {
    return refuse_target(target, allowed, error, error_size);
  }
  char signs[FEATURES] = {0, 0};
  const char* rest = folded + processor;
  while (*rest == ':') {
    const size_t span = strcspn(++rest, ":");
    if (!read_feature(rest, span, signs)) {
      return refuse_target(target, allowed, error, error_size);
    }
    rest += span;
  }
  folded[processor] = '\0';
  if (strcmp(folded, "gfx950") != 0) {
    snprintf(error, error_size,
             "target processor: found \"%.80s\", allowed gfx950", folded);
    return INGOT_UNIMPLEMENTED;
  }
  size_t used = (size_t)snprintf(out, 64, "%s", folded);
  for (int i = 0; i < FEATURES; ++i) {
    if (signs[i] == 0) continue;
    used += (size_t)snprintf(out + used, 64 - used, ":%s%c", kFeatures[i],
                             signs[i]);
  }
  return INGOT_OK;
}
