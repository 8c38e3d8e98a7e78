#include "client/src/canonical.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/src/abi_size.h"

enum { SCHEMA = 1, DEFAULT_ALIGNMENT = 16, MAX_ALIGNMENT = 4096 };

/* Where a refusal goes. */
typedef struct refusal {
  char* text;
  size_t size;
} refusal;

__attribute__((format(printf, 3, 4))) static ingot_status refuse(
    const refusal* out, ingot_status code, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(out->text, out->size, format, arguments);
  va_end(arguments);
  return code;
}

#define INVALID(...) refuse(out, INGOT_INVALID_ARGUMENT, __VA_ARGS__)

/* A growing buffer; a failed allocation makes every later write do nothing. */
typedef struct writer {
  uint8_t* data;
  size_t size;
  size_t capacity;
  int failed;
} writer;

static void put(writer* w, const void* bytes, size_t count) {
  if (w->failed) return;
  if (w->capacity - w->size < count) {
    size_t capacity = w->capacity * 2 + count + 256;
    uint8_t* data = realloc(w->data, capacity);
    if (data == NULL) {
      w->failed = 1;
      return;
    }
    w->data = data;
    w->capacity = capacity;
  }
  memcpy(w->data + w->size, bytes, count);
  w->size += count;
}

static void put_u32(writer* w, uint32_t value) {
  const uint8_t bytes[4] = {(uint8_t)value, (uint8_t)(value >> 8),
                            (uint8_t)(value >> 16), (uint8_t)(value >> 24)};
  put(w, bytes, sizeof(bytes));
}

static void put_i64(writer* w, int64_t value) {
  put_u32(w, (uint32_t)(uint64_t)value);
  put_u32(w, (uint32_t)((uint64_t)value >> 32));
}

static void put_bytes(writer* w, const void* bytes, size_t count) {
  put_u32(w, (uint32_t)count);
  put(w, bytes, count);
}

static void field_string(writer* w, const char* name, const char* value) {
  put_bytes(w, name, strlen(name));
  put_bytes(w, value, strlen(value));
}

static void field_u32(writer* w, const char* name, uint32_t value) {
  put_bytes(w, name, strlen(name));
  put_u32(w, 4);
  put_u32(w, value);
}

static void field_i64(writer* w, const char* name, int64_t value) {
  put_bytes(w, name, strlen(name));
  put_u32(w, 8);
  put_i64(w, value);
}

/* Opens a length-prefixed value whose length close_value() fills in. */
static size_t open_value(writer* w) {
  put_u32(w, 0);
  return w->size;
}

static void close_value(writer* w, size_t start) {
  if (w->failed) return;
  const uint32_t size = (uint32_t)(w->size - start);
  uint8_t* prefix = w->data + start - 4;
  for (int i = 0; i < 4; ++i) prefix[i] = (uint8_t)(size >> (8 * i));
}

int ingot_is_token_dim(const char* name) {
  static const char* const names[] = {"m",  "rows",    "total_m", "sq",
                                      "sk", "context", "b",       "kv_len"};
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
    if (strcmp(name, names[i]) == 0) return 1;
  }
  return 0;
}

static ingot_status check_name(const char* kind, const char* name,
                               const refusal* out) {
  if (name == NULL) {
    return INVALID(
        "name of %s: found NULL, allowed 1 to 64 characters of "
        "a-z, 0-9 and _",
        kind);
  }
  const size_t legal = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_");
  if (legal >= 1 && legal <= INGOT_MAX_NAME && name[legal] == '\0') {
    return INGOT_OK;
  }
  return INVALID(
      "name of %s: found \"%.80s\"%s, allowed 1 to 64 characters of "
      "a-z, 0-9 and _",
      kind, name, strnlen(name, 81) > 80 ? "..." : "");
}

/* Every element struct begins with size and has its name at the same place, so
 * one sort serves all lists. */
typedef struct named {
  const char* name;
  const void* element;
} named;

static int by_name(const void* a, const void* b) {
  return strcmp(((const named*)a)->name, ((const named*)b)->name);
}

static ingot_status sort_names(const char* kind, named* list, uint32_t count,
                               const refusal* out) {
  for (uint32_t i = 0; i < count; ++i) {
    const ingot_status status = check_name(kind, list[i].name, out);
    if (status != INGOT_OK) return status;
  }
  qsort(list, count, sizeof(named), by_name);
  for (uint32_t i = 1; i < count; ++i) {
    if (strcmp(list[i - 1].name, list[i].name) == 0) {
      return INVALID("%s %s: found the name twice, allowed once", kind,
                     list[i].name);
    }
  }
  return INGOT_OK;
}

static ingot_status check_count(const char* kind, const void* array,
                                uint32_t count, uint32_t most,
                                const refusal* out) {
  if (count > most) {
    return INVALID("%ss: found %u, allowed at most %u", kind, count, most);
  }
  if (count > 0 && array == NULL) {
    return INVALID("%ss: found NULL with a count of %u, allowed an array", kind,
                   count);
  }
  return INGOT_OK;
}

/* Checks a list of the spec and leaves it in `list`, sorted. */
#define GATHER(kind, type, field, count_field, most, list)              \
  do {                                                                  \
    ingot_status status_ =                                              \
        check_count(kind, spec->field, spec->count_field, most, out);   \
    if (status_ != INGOT_OK) return status_;                            \
    for (uint32_t i_ = 0; i_ < spec->count_field; ++i_) {               \
      const type* element_ = INGOT_AT(type, spec->field, i_);           \
      if (element_->size != spec->field->size ||                        \
          !ingot_size_ok(element_, element_->size, sizeof(type))) {     \
        return INVALID(kind " %u: found a size of %u, allowed %zu", i_, \
                       element_->size, sizeof(type));                   \
      }                                                                 \
      (list)[i_].name = element_->name;                                 \
      (list)[i_].element = element_;                                    \
    }                                                                   \
    status_ = sort_names(kind, list, spec->count_field, out);           \
    if (status_ != INGOT_OK) return status_;                            \
  } while (0)

static ingot_status check_dim(const ingot_dim* dim, const refusal* out) {
  if (dim->kind != INGOT_DIM_VALUE && dim->kind != INGOT_DIM_RANGE) {
    return INVALID("dim %s kind: found %u, allowed 0 (value) or 1 (range)",
                   dim->name, dim->kind);
  }
  const int is_value = dim->kind == INGOT_DIM_VALUE;
  const struct {
    const char* part;
    int64_t value;
  } parts[] = {{"value", is_value ? dim->value : 0},
               {"min", is_value ? 0 : dim->min},
               {"max", is_value ? 0 : dim->max},
               {"multiple_of", is_value ? 0 : dim->multiple_of}};
  for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); ++i) {
    if (parts[i].value < 0) {
      return INVALID("dim %s %s: found %lld, allowed 0 or more", dim->name,
                     parts[i].part, (long long)parts[i].value);
    }
  }
  return INGOT_OK;
}

static ingot_status check_operand(const ingot_operand* operand,
                                  const refusal* out) {
  char kind[INGOT_MAX_NAME + 24];
  snprintf(kind, sizeof(kind), "dtype of operand %s", operand->name);
  const ingot_status status = check_name(kind, operand->dtype, out);
  if (status != INGOT_OK) return status;
  if (operand->stride_mode > INGOT_STRIDES_DYNAMIC) {
    return INVALID(
        "operand %s stride_mode: found %u, allowed 0 (dense), "
        "1 (static) or 2 (dynamic)",
        operand->name, operand->stride_mode);
  }
  const int is_static = operand->stride_mode == INGOT_STRIDES_STATIC;
  const uint32_t count = operand->stride_count;
  if (is_static ? count == 0 || count > INGOT_MAX_STRIDES : count != 0) {
    return INVALID("operand %s strides: found %u, allowed %s", operand->name,
                   count,
                   is_static ? "1 to 8 with static strides"
                             : "none unless stride_mode is static");
  }
  if (is_static && operand->strides == NULL) {
    return INVALID("operand %s strides: found NULL, allowed an array",
                   operand->name);
  }
  const uint32_t alignment = operand->alignment;
  if (alignment > MAX_ALIGNMENT || (alignment & (alignment - 1)) != 0) {
    return INVALID(
        "operand %s alignment: found %u, allowed 0 or a power of "
        "two up to 4096",
        operand->name, alignment);
  }
  return INGOT_OK;
}

static ingot_status check_attr(const ingot_attr* attr, const refusal* out) {
  switch (attr->kind) {
    case INGOT_ATTR_BOOL:
    case INGOT_ATTR_INT:
      return INGOT_OK;
    case INGOT_ATTR_FLOAT:
      if (!isnan(attr->float_value)) return INGOT_OK;
      return INVALID("attribute %s: found NaN, allowed a number", attr->name);
    case INGOT_ATTR_STRING:
      if (attr->string_value == NULL) {
        return INVALID("attribute %s: found NULL, allowed a string",
                       attr->name);
      }
      if (strnlen(attr->string_value, INGOT_MAX_STRING + 1) <=
          INGOT_MAX_STRING) {
        return INGOT_OK;
      }
      return INVALID(
          "attribute %s: found a longer string, allowed at most "
          "256 bytes",
          attr->name);
    default:
      return INVALID(
          "attribute %s kind: found %u, allowed 1 (bool), 2 (int), "
          "3 (float) or 4 (string)",
          attr->name, attr->kind);
  }
}

static void encode_dim(writer* w, const ingot_dim* dim) {
  if (dim->kind == INGOT_DIM_VALUE) {
    if (!ingot_is_token_dim(dim->name)) field_i64(w, "value", dim->value);
    return;
  }
  if (dim->min != 0) field_i64(w, "min", dim->min);
  if (dim->max != 0) field_i64(w, "max", dim->max);
  if (dim->multiple_of > 1) field_i64(w, "multiple_of", dim->multiple_of);
}

static void encode_operand(writer* w, const ingot_operand* operand) {
  field_string(w, "dtype", operand->dtype);
  if (operand->stride_mode != INGOT_STRIDES_DENSE) {
    field_u32(w, "stride_mode", operand->stride_mode);
  }
  if (operand->stride_count != 0) {
    put_bytes(w, "strides", strlen("strides"));
    const size_t start = open_value(w);
    for (uint32_t i = 0; i < operand->stride_count; ++i) {
      put_i64(w, operand->strides[i]);
    }
    close_value(w, start);
  }
  if (operand->alignment != 0 && operand->alignment != DEFAULT_ALIGNMENT) {
    field_u32(w, "alignment", operand->alignment);
  }
}

static void encode_attr(writer* w, const ingot_attr* attr) {
  if (attr->kind == INGOT_ATTR_BOOL) {
    const uint8_t flag = attr->int_value != 0;
    put_bytes(w, "bool", strlen("bool"));
    put_bytes(w, &flag, 1);
  } else if (attr->kind == INGOT_ATTR_INT) {
    field_i64(w, "int", attr->int_value);
  } else if (attr->kind == INGOT_ATTR_FLOAT) {
    /* -0.0 has no encoding of its own. */
    const double number = attr->float_value == 0 ? 0.0 : attr->float_value;
    int64_t bits;
    memcpy(&bits, &number, sizeof(bits));
    field_i64(w, "float", bits);
  } else {
    field_string(w, "string", attr->string_value);
  }
}

static void encode_tuning(writer* w, const ingot_tuning* tuning) {
  field_i64(w, "value", tuning->value);
}

#define ENCODE_LIST(field_name, type, list, count, encode) \
  do {                                                     \
    if ((count) == 0) break;                               \
    put_bytes(w, field_name, strlen(field_name));          \
    const size_t value_ = open_value(w);                   \
    put_u32(w, count);                                     \
    for (uint32_t i_ = 0; i_ < (count); ++i_) {            \
      const size_t element_ = open_value(w);               \
      field_string(w, "name", (list)[i_].name);            \
      encode(w, (const type*)(list)[i_].element);          \
      close_value(w, element_);                            \
    }                                                      \
    close_value(w, value_);                                \
  } while (0)

static ingot_status encode_spec(const ingot_spec* spec, const char* target,
                                writer* w, const refusal* out) {
  named dims[INGOT_MAX_DIMS];
  named operands[INGOT_MAX_OPERANDS];
  named attrs[INGOT_MAX_ATTRS];
  named tuning[INGOT_MAX_TUNING];
  GATHER("dim", ingot_dim, dims, dim_count, INGOT_MAX_DIMS, dims);
  GATHER("operand", ingot_operand, operands, operand_count, INGOT_MAX_OPERANDS,
         operands);
  GATHER("attribute", ingot_attr, attrs, attr_count, INGOT_MAX_ATTRS, attrs);
  GATHER("tuning", ingot_tuning, tuning, tuning_count, INGOT_MAX_TUNING,
         tuning);
  ingot_status status = INGOT_OK;
  for (uint32_t i = 0; i < spec->dim_count && status == INGOT_OK; ++i) {
    status = check_dim(dims[i].element, out);
  }
  for (uint32_t i = 0; i < spec->operand_count && status == INGOT_OK; ++i) {
    status = check_operand(operands[i].element, out);
  }
  for (uint32_t i = 0; i < spec->attr_count && status == INGOT_OK; ++i) {
    status = check_attr(attrs[i].element, out);
  }
  if (status != INGOT_OK) return status;

  put(w, "ingot.spec", strlen("ingot.spec"));
  put_u32(w, SCHEMA);
  field_string(w, "op", spec->op);
  field_string(w, "target", target);
  ENCODE_LIST("dims", ingot_dim, dims, spec->dim_count, encode_dim);
  ENCODE_LIST("operands", ingot_operand, operands, spec->operand_count,
              encode_operand);
  ENCODE_LIST("attrs", ingot_attr, attrs, spec->attr_count, encode_attr);
  ENCODE_LIST("tuning", ingot_tuning, tuning, spec->tuning_count,
              encode_tuning);
  return INGOT_OK;
}

ingot_status ingot_canonical_encode(const ingot_spec* spec,
                                    const char* default_target, uint8_t** data,
                                    size_t* size, char* error,
                                    size_t error_size) {
  const refusal refusal_out = {error, error_size};
  const refusal* out = &refusal_out;
  if (spec == NULL) return INVALID("spec: found NULL, allowed a spec");
  if (!ingot_size_ok(spec, spec->size, sizeof(*spec))) {
    return INVALID("spec size: found %u, allowed %zu, or more with zeros",
                   spec->size, sizeof(*spec));
  }
  if (spec->reserved != 0) {
    return INVALID("spec reserved: found %u, allowed 0", spec->reserved);
  }
  ingot_status status = check_name("op", spec->op, out);
  if (status != INGOT_OK) return status;
  char target[64];
  status = ingot_canonical_target(
      spec->target != NULL ? spec->target : default_target, target, error,
      error_size);
  if (status != INGOT_OK) return status;
  writer w = {NULL, 0, 0, 0};
  status = encode_spec(spec, target, &w, out);
  if (status == INGOT_OK && w.failed) {
    status = refuse(out, INGOT_RESOURCE_EXHAUSTED, "no memory for the spec");
  }
  if (status != INGOT_OK) {
    free(w.data);
    return status;
  }
  *data = w.data;
  *size = w.size;
  return INGOT_OK;
}
