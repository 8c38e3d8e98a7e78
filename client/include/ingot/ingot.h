/* libingot: kernels asked for by what they compute, loaded and launched.
 *
 * A process asks ingotd for a kernel with ingot_prepare and launches it with
 * ingot_launch. The library speaks to the daemon itself; it brings no compiler,
 * gRPC, protobuf or C++ runtime into the process.
 *
 * Rules of this interface
 *  1. Handles are opaque. What a function hands out through a pointer to a
 *     handle is released by the function that its comment names, once.
 *     Handles that were released are recognised and refused with
 *     INGOT_INVALID_ARGUMENT as long as the process lives.
 *  2. What the caller passes in stays the caller's and may be changed or freed
 *     as soon as the function returns; nothing is kept by reference. Strings
 *     are NUL-terminated UTF-8. Strings and buffers handed out through a
 *     `char**` are freed with ingot_free.
 *  3. Every struct starts with `size`, set to sizeof of that struct. A library
 *     that is older than the caller accepts a larger struct as long as what it
 *     does not know is zero. Elements of an array are stepped by the `size` of
 *     the first; all must have the same. Fields named `reserved` are zero.
 *  4. Functions that can fail return an ingot_status. On failure outputs are
 *     not written unless stated, and ingot_last_error() tells, in the calling
 *     thread, what was found and what was allowed.
 *  5. Every function may be called from any thread at any time, except that a
 *     handle must not be in use while it is released. After fork() the child
 *     may go on using its handles: it opens its own connections, and launches
 *     if HIP was not yet in use before the fork.
 *
 * Functions and enumerators are only ever added; each says since when. Numbers
 * of enumerators never change.
 */
#ifndef INGOT_INGOT_H_
#define INGOT_INGOT_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define INGOT_API __attribute__((visibility("default")))
#else
#define INGOT_API
#endif

#define INGOT_VERSION_MAJOR 0
#define INGOT_VERSION_MINOR 1
#define INGOT_VERSION_PATCH 0

/* Codes of google.rpc.Code: what the daemon answered, or what the library
 * found itself. Since 0.1. */
typedef int32_t ingot_status;
enum {
  INGOT_OK = 0,
  INGOT_CANCELLED = 1,
  INGOT_UNKNOWN = 2,
  INGOT_INVALID_ARGUMENT = 3,  /* the request or a handle is wrong */
  INGOT_DEADLINE_EXCEEDED = 4, /* a time budget of the caller ran out */
  INGOT_NOT_FOUND = 5,
  INGOT_ALREADY_EXISTS = 6,
  INGOT_PERMISSION_DENIED = 7,
  INGOT_RESOURCE_EXHAUSTED = 8, /* queue full, message too large, no memory */
  INGOT_FAILED_PRECONDITION =
      9, /* valid, but not here: device, target, order */
  INGOT_ABORTED = 10,
  INGOT_OUT_OF_RANGE = 11,
  INGOT_UNIMPLEMENTED = 12, /* op, attribute, target or version not known */
  INGOT_INTERNAL = 13,      /* a defect of Ingot or of the GPU runtime */
  INGOT_UNAVAILABLE = 14,   /* no daemon answers; fall back or try again */
  INGOT_DATA_LOSS = 15,     /* bytes do not have the digest they should have */
  INGOT_UNAUTHENTICATED = 16
};

typedef struct ingot_client ingot_client;
typedef struct ingot_prepared ingot_prepared;
typedef struct ingot_candidates ingot_candidates;

/* ---- library ------------------------------------------------------------ */

/* "0.1.0" of the library that runs. Static. Since 0.1. */
INGOT_API const char* ingot_version(void);

/* "INVALID_ARGUMENT" for 3; "UNKNOWN" for what is no status. Static. Since
 * 0.1. */
INGOT_API const char* ingot_status_name(ingot_status status);

/* What the last failing call of this thread found; "" when none failed. Valid
 * until the thread's next failing call. Since 0.1. */
INGOT_API const char* ingot_last_error(void);

/* Frees what was handed out through a `char**`. NULL is ignored. Since 0.1. */
INGOT_API void ingot_free(void* memory);

/* ---- specs -------------------------------------------------------------- */

enum { INGOT_DIM_VALUE = 0, INGOT_DIM_RANGE = 1 };

/* A dimension: one value, or every value between min and max (0: no bound)
 * that is a multiple of multiple_of (0 or 1: any). Token-like dimensions (m,
 * rows, total_m, sq, sk, context, b, kv_len) are never baked into a kernel:
 * their single value only travels at launch, so specs that differ in nothing
 * else are one. */
typedef struct ingot_dim {
  uint32_t size;
  uint32_t kind; /* INGOT_DIM_* */
  const char* name;
  int64_t value; /* INGOT_DIM_VALUE */
  int64_t min;   /* INGOT_DIM_RANGE, this and the next two */
  int64_t max;
  int64_t multiple_of;
} ingot_dim;

enum {
  INGOT_STRIDES_DENSE = 0,  /* packed, row-major */
  INGOT_STRIDES_STATIC = 1, /* `strides` */
  INGOT_STRIDES_DYNAMIC = 2 /* given with each launch */
};

typedef struct ingot_operand {
  uint32_t size;
  uint32_t stride_mode; /* INGOT_STRIDES_* */
  const char* name;
  const char* dtype;      /* "bf16", "f16", "f32", "e4m3fn", ... */
  const int64_t* strides; /* elements, outermost first; only with STATIC */
  uint32_t stride_count;
  uint32_t alignment; /* bytes of the base pointer; 0: 16 */
} ingot_operand;

enum {
  INGOT_ATTR_BOOL = 1, /* int_value != 0 */
  INGOT_ATTR_INT = 2,
  INGOT_ATTR_FLOAT = 3,
  INGOT_ATTR_STRING = 4
};

typedef struct ingot_attr {
  uint32_t size;
  uint32_t kind; /* INGOT_ATTR_* */
  const char* name;
  int64_t int_value;
  double float_value;
  const char* string_value;
} ingot_attr;

typedef struct ingot_tuning {
  uint32_t size;
  uint32_t reserved;
  const char* name;
  int64_t value;
} ingot_tuning;

/* What is to be computed. Lists may stand in any order; the order given here
 * is the order of the arrays of ingot_launch_args. */
typedef struct ingot_spec {
  uint32_t size;
  uint32_t reserved;
  const char* op;
  const char* target; /* NULL: the client's, "gfx950" unless told otherwise */
  const ingot_dim* dims;
  const ingot_operand* operands;
  const ingot_attr* attrs;
  const ingot_tuning* tuning;
  uint32_t dim_count;
  uint32_t operand_count;
  uint32_t attr_count;
  uint32_t tuning_count;
} ingot_spec;

/* The SHA-256 by which every daemon and bundle knows the spec. Asks nobody.
 * INVALID_ARGUMENT or UNIMPLEMENTED naming the field. Since 0.1. */
INGOT_API ingot_status ingot_spec_digest(const ingot_spec* spec,
                                         uint8_t digest[32]);

/* ---- clients ------------------------------------------------------------ */

enum {
  INGOT_SIGNATURES_DEFAULT = 0, /* the environment's INGOT_SIGNATURE_POLICY
                                   (off, verify_if_present or require), else
                                   REQUIRE if keys are named and OFF if not */
  INGOT_SIGNATURES_OFF = 1,
  INGOT_SIGNATURES_VERIFY_IF_PRESENT = 2, /* refuse forgeries */
  INGOT_SIGNATURES_REQUIRE = 3 /* refuse also what no trusted key signed */
};

typedef struct ingot_client_options {
  uint32_t size;
  uint32_t connect_timeout_ms; /* 0: 1000 */
  uint32_t call_timeout_ms;    /* 0: 120000; the whole of one ingot_prepare */
  uint32_t max_idle;           /* connections kept open; 0: 4 */
  /* "unix:/path", "unix-abstract:name", "host:port", "[v6]:port",
   * "https://host:port". NULL: the environment's INGOT_ADDRESS, else the socket
   * that an ingotd without options makes: $XDG_RUNTIME_DIR/ingot/ingotd.sock,
   * /run/ingot/ingotd.sock or /tmp/ingot-<uid>/ingotd.sock, the first that
   * exists */
  const char* address;
  const char* target;      /* of specs that name none; NULL: "gfx950" */
  const char* hip_library; /* NULL: INGOT_HIP_LIBRARY, else libamdhip64.so.N */
  /* What to use when no daemon helps: a bundle (`ingotctl export`), or a folder
   * whose "*.bundle" are used in the order of their names. Opened when first
   * needed, never written. NULL: the environment's INGOT_BUNDLE; "": none. */
  const char* bundle_dir;

  /* The fields below are newer: a struct that ends here is accepted. All files
   * are PEM; NULL and "" take the environment's INGOT_TRUSTED_KEYS,
   * INGOT_TLS_CA, INGOT_TLS_CERTIFICATE, INGOT_TLS_PRIVATE_KEY and
   * INGOT_TLS_SERVER_NAME. A file that is replaced counts from the next
   * ingot_prepare or connection on. */

  /* Plans and kernels must be signed by one of the keys in `trusted_keys`
   * before they are loaded on a GPU. */
  uint32_t signature_policy; /* INGOT_SIGNATURES_* */
  uint32_t reserved;
  const char* trusted_keys; /* Ed25519 public keys */

  /* TLS: of "https://host:port", and of "host:port" as soon as there is a
   * tls_ca. Unix sockets need none. */
  const char* tls_ca; /* who may have signed the daemon's certificate */
  const char* tls_certificate; /* this process's, which a daemon asks for */
  const char* tls_private_key;
  const char* tls_server_name; /* what the daemon's names; else the host */
} ingot_client_options;

/* Makes a client. Connects to nobody and opens no GPU runtime yet: both happen
 * when first needed. `options` may be NULL. Released by ingot_client_destroy.
 * INVALID_ARGUMENT for an address or target that cannot be one, and for files
 * of keys or certificates that cannot be used. Since 0.1. */
INGOT_API ingot_status ingot_client_create(const ingot_client_options* options,
                                           ingot_client** client);

/* Closes connections and forgets what was prepared; prepared handles that are
 * still held stay usable. NULL is ignored. Since 0.1. */
INGOT_API ingot_status ingot_client_destroy(ingot_client* client);

/* The address in use, as it would be written in options. Owned by the client.
 * NULL for a handle that is none. Since 0.1. */
INGOT_API const char* ingot_client_address(const ingot_client* client);

/* ---- preparing ---------------------------------------------------------- */

enum {
  INGOT_FETCH_ALL = 0, /* every kernel of the plan: launches never lack one */
  INGOT_FETCH_MATCHING =
      1,               /* of the first variant that fits the spec's values */
  INGOT_FETCH_PLAN = 2 /* none: nothing is compiled */
};

enum {
  INGOT_PREPARE_NO_LOAD = 1,  /* do not touch the GPU runtime yet */
  INGOT_PREPARE_NO_BYTES = 2, /* compile and store only: for warm-up */
  INGOT_PREPARE_WARMUP = 4    /* queue behind interactive requests */
};

typedef struct ingot_prepare_options {
  uint32_t size;
  uint32_t fetch;         /* INGOT_FETCH_* */
  uint32_t flags;         /* INGOT_PREPARE_* */
  uint32_t timeout_ms;    /* 0: the client's call_timeout_ms */
  uint64_t pin_epoch;     /* tuning epoch; 0: the newest */
  const char* request_id; /* for the daemon's logs; may be NULL */
} ingot_prepare_options;

/* A handle with which `spec` can be launched. A spec that this client already
 * prepared is found without a call and without a lock; another one costs one
 * call, and a compile when the daemon does not have it. Kernels are checked
 * and, where there is a device, loaded on the calling thread's current one.
 * `options` may be NULL. Released by ingot_prepared_release; a client keeps
 * what it prepared, so releasing and preparing again is cheap.
 *
 * With a bundle, a spec for which the daemon says UNAVAILABLE or
 * RESOURCE_EXHAUSTED, or nothing within half of the time, is looked up there,
 * unless INGOT_PREPARE_NO_BYTES is set. The plan must be of the fingerprint
 * that served where the bundle was made; signatures and digests are checked as
 * ever. Without one the error is the daemon's, or says what is wrong with the
 * bundle: DATA_LOSS (damaged), UNIMPLEMENTED (newer than this library),
 * FAILED_PRECONDITION (another fingerprint or epoch).
 *
 * Errors: the daemon's (INVALID_ARGUMENT, UNIMPLEMENTED, FAILED_PRECONDITION,
 * INTERNAL, RESOURCE_EXHAUSTED), UNAVAILABLE within a second when no daemon
 * runs, DEADLINE_EXCEEDED, DATA_LOSS for bytes without the right digest or
 * with a forged signature, FAILED_PRECONDITION for a device that the kernel is
 * not for and for want of a trusted signature. A TLS handshake that either side
 * refuses is UNAVAILABLE, and the message says who refused what. Since 0.1. */
INGOT_API ingot_status ingot_prepare(ingot_client* client,
                                     const ingot_spec* spec,
                                     const ingot_prepare_options* options,
                                     ingot_prepared** prepared);

/* Prepares `count` specs with as few calls as possible. statuses[i] is what
 * ingot_prepare would have returned and prepared[i] its handle or NULL; both
 * are always written. `prepared` may be NULL when handles are not wanted,
 * `messages` may be NULL; messages[i] is NULL or a text for ingot_free.
 * Returns OK when all are, else the first failing status. Since 0.1. */
INGOT_API ingot_status ingot_prepare_many(
    ingot_client* client, const ingot_spec* const* specs, size_t count,
    const ingot_prepare_options* options, ingot_prepared** prepared,
    ingot_status* statuses, char** messages);

/* Gives a handle back. Work that was launched through it must have finished
 * when the client is gone too, because modules are unloaded with the last
 * user. NULL is ignored. Since 0.1. */
INGOT_API ingot_status ingot_prepared_release(ingot_prepared* prepared);

/* Loads every kernel of the handle on the current device, so that no launch
 * has to. FAILED_PRECONDITION without a device that fits. Since 0.1. */
INGOT_API ingot_status ingot_prepared_load(const ingot_prepared* prepared);

enum {
  INGOT_SOURCE_UNKNOWN = 0,
  INGOT_SOURCE_MEMORY = 1,
  INGOT_SOURCE_STORE = 2,
  INGOT_SOURCE_COMPILED = 3,
  INGOT_SOURCE_COALESCED = 4,
  INGOT_SOURCE_REMOTE = 5,
  INGOT_SOURCE_BUNDLE = 6 /* from the client's bundle, with no daemon */
};

typedef struct ingot_prepared_info {
  uint32_t size;
  uint32_t dim_count; /* of ingot_launch_args */
  uint32_t operand_count;
  uint32_t scalar_count;
  uint32_t variant_count;
  uint32_t kernel_count;
  uint64_t epoch;      /* tuning epoch that the plan used */
  uint64_t compile_us; /* compiles that this client waited for; 0: a hit */
  uint8_t spec_digest[32];
  uint8_t fingerprint[32];
} ingot_prepared_info;

/* Fills `info`, whose size the caller has set. Since 0.1. */
INGOT_API ingot_status ingot_prepared_describe(const ingot_prepared* prepared,
                                               ingot_prepared_info* info);

/* Names, in the order of ingot_launch_args: first the spec's, in the spec's
 * order, then what the op adds. NULL past the end. Owned by the handle. Since
 * 0.1. */
INGOT_API const char* ingot_prepared_dim(const ingot_prepared* prepared,
                                         uint32_t index);
INGOT_API const char* ingot_prepared_operand(const ingot_prepared* prepared,
                                             uint32_t index);
INGOT_API const char* ingot_prepared_scalar(const ingot_prepared* prepared,
                                            uint32_t index);
/* "f32", "i32" or "i64": which member of ingot_scalar is read. Since 0.1. */
INGOT_API const char* ingot_prepared_scalar_dtype(
    const ingot_prepared* prepared, uint32_t index);

typedef struct ingot_kernel_info {
  uint32_t size;
  uint32_t source; /* INGOT_SOURCE_* of the answer that brought it */
  const char* symbol;
  const char* target;
  const void* bytes; /* the code object; NULL when it was not fetched */
  uint64_t byte_count;
  uint8_t key[32];
  uint8_t digest[32];
  uint32_t vgprs;
  uint32_t sgprs;
  uint32_t lds_bytes;
  uint32_t scratch_bytes;
} ingot_kernel_info;

/* Fills `info`, whose size the caller has set, for kernel `index` of
 * ingot_prepared_info.kernel_count. Pointers are owned by the handle.
 * OUT_OF_RANGE past the end, NOT_FOUND for one that was not fetched. Since
 * 0.1. */
INGOT_API ingot_status ingot_prepared_kernel(const ingot_prepared* prepared,
                                             uint32_t index,
                                             ingot_kernel_info* info);

/* ---- launching ---------------------------------------------------------- */

typedef union ingot_scalar {
  double f;  /* f32 scalars */
  int64_t i; /* i32 and i64 scalars */
} ingot_scalar;

/* Arrays stand in the order of ingot_prepared_dim, _operand and _scalar. */
typedef struct ingot_launch_args {
  uint32_t size;
  uint32_t dim_count;
  const int64_t* dims;
  void* const* operands;         /* base pointers on the device */
  const int64_t* const* strides; /* NULL, or an entry an operand: elements,
                                    outermost first; read when dynamic */
  const ingot_scalar* scalars;   /* NULL: the op's defaults */
  void* workspace;
  uint64_t workspace_bytes;
  void* const* peers;
  uint32_t operand_count;
  uint32_t scalar_count;
  uint32_t peer_count;
  uint32_t reserved;
} ingot_launch_args;

enum { INGOT_WORKSPACE_KEPT = 1 };

/* Bytes of device memory that a launch with these dims needs as workspace,
 * aligned to 256. `args->operands` may be NULL: then the answer is the largest
 * for any pointers and strides. `flags` may be NULL; INGOT_WORKSPACE_KEPT says
 * that the memory must be zeroed once and then belongs to this handle's
 * launches on one stream. Since 0.1. */
INGOT_API ingot_status ingot_workspace_bytes(const ingot_prepared* prepared,
                                             const ingot_launch_args* args,
                                             uint64_t* bytes, uint32_t* flags);

/* Enqueues the work on `stream` (a hipStream_t; NULL: the default stream) of
 * the current device. Speaks to no daemon, takes no lock and allocates nothing
 * once the kernels are loaded, and is legal while the stream is captured into
 * a graph. A first launch on a device that ingot_prepare did not run on loads
 * them (ingot_prepared_load avoids that).
 *
 * INVALID_ARGUMENT for dims, pointers, strides, scalars or workspace that no
 * variant takes (naming the first that does not fit); OUT_OF_RANGE when an
 * index or size overflows; FAILED_PRECONDITION for kernels that were not
 * fetched, no GPU runtime, another target, or a fork after HIP was in use;
 * INTERNAL with HIP's own error when it refuses. Steps before a refused one
 * stay enqueued. Since 0.1. */
INGOT_API ingot_status ingot_launch(const ingot_prepared* prepared,
                                    void* stream,
                                    const ingot_launch_args* args);

/* ---- tuning -------------------------------------------------------------
 *
 * An autotuner asks for the candidates of a spec, prepares the spec with the
 * tuning of each, measures it, and stores the best: every daemon's answer to
 * the spec follows the record from then on. */

/* What `spec` could be tuned to, best first by the compiler's own prediction;
 * tuning that the spec names stays as it is. Compiles nothing. `limit`: so many
 * at most; 0: all. Released by ingot_candidates_release. Errors as those of
 * ingot_prepare, but for a bundle: it has no candidates. Since 0.1. */
INGOT_API ingot_status ingot_list_candidates(ingot_client* client,
                                             const ingot_spec* spec,
                                             uint32_t limit,
                                             ingot_candidates** candidates);

/* How many; 0 for a handle that is none. Since 0.1. */
INGOT_API uint32_t ingot_candidates_count(const ingot_candidates* candidates);

typedef struct ingot_candidate {
  uint32_t size;
  uint32_t chosen;            /* 1: the plan has it without a tuning record */
  const ingot_tuning* tuning; /* put it into the spec to get it */
  uint32_t tuning_count;
  uint32_t kernel_count; /* of its plan */
  double predicted_us;   /* 0: the op has no prediction */
  const char* refusal;   /* why the spec cannot have it; "": it can */
} ingot_candidate;

/* Fills `candidate`, whose size the caller has set. Pointers are owned by the
 * list. OUT_OF_RANGE past the end. Since 0.1. */
INGOT_API ingot_status ingot_candidates_get(const ingot_candidates* candidates,
                                            uint32_t index,
                                            ingot_candidate* candidate);

/* NULL is ignored. Since 0.1. */
INGOT_API ingot_status ingot_candidates_release(ingot_candidates* candidates);

typedef struct ingot_measure_options {
  uint32_t size;
  uint32_t warm_up;  /* launches before the first run; 0: none */
  uint32_t runs;     /* timed; 0: 15; at most 10000 */
  uint32_t launches; /* of a run; 0: as many as take about 200 us, up to 100 */
} ingot_measure_options;

typedef struct ingot_measurement {
  uint32_t size;
  uint32_t runs;
  uint32_t launches; /* of each run */
  uint32_t reserved;
  double median_us; /* of one launch, over the runs */
  double min_us;
  double max_us;
} ingot_measurement;

/* Launches on `stream` as ingot_launch does and times runs by events of the
 * GPU runtime. Launches take the arguments args[0] to args[args_count - 1] in
 * turn, so that with several sets of buffers none is in a cache when its turn
 * comes. Returns when the device has done all of it. `options` may be NULL: 3
 * launches to warm up, then the defaults above. Fills `measurement`, whose size
 * the caller has set. Not while `stream` is captured.
 *
 * Errors as those of ingot_launch; FAILED_PRECONDITION for a GPU runtime
 * without events. Since 0.1. */
INGOT_API ingot_status ingot_measure(const ingot_prepared* prepared,
                                     void* stream,
                                     const ingot_launch_args* const* args,
                                     uint32_t args_count,
                                     const ingot_measure_options* options,
                                     ingot_measurement* measurement);

/* 1 when a launch writes the operand, else 0; 0 past the end. Since 0.1. */
INGOT_API uint32_t ingot_prepared_writes(const ingot_prepared* prepared,
                                         uint32_t index);

/* Copies operand `index` of a launch from the device to `to`: everything from
 * its base pointer to its last element, gaps between rows included. Waits for
 * the default stream, not for others. `*bytes` is what `to` holds and becomes
 * what the operand takes; with `to` NULL nothing is copied. OUT_OF_RANGE when
 * `to` is too small and for no such operand, else errors as those of
 * ingot_launch. Since 0.1. */
INGOT_API ingot_status ingot_read_operand(const ingot_prepared* prepared,
                                          const ingot_launch_args* args,
                                          uint32_t index, void* to,
                                          uint64_t* bytes);

typedef struct ingot_tuning_record {
  uint32_t size;
  uint32_t tuning_count;
  const ingot_tuning* tuning; /* of a candidate */
  double microseconds;        /* measured; more than 0 */
  const char* device;         /* on which, as "MI355X"; may be NULL */
  const char* range_dim;      /* only for these values of a token-like dim, both
                                 ends included; NULL: for all */
  int64_t range_min;
  int64_t range_max; /* 0: no end */
} ingot_tuning_record;

/* Stores what was measured: from now on plans of `spec`, which names no tuning
 * itself, are tuned so, until the daemon's time to live of records. Takes the
 * place of an earlier record of the same spec and range. This client forgets
 * what it prepared for the spec, so that its next ingot_prepare gets the new
 * answer; other clients keep what they have. `*epoch`, which may be NULL,
 * names the record; as ingot_prepare_options.pin_epoch it gets every rank of a
 * job the same answer. Needs the role tune: PERMISSION_DENIED without.
 * INVALID_ARGUMENT for tuning that no candidate of the spec has. Since 0.1. */
INGOT_API ingot_status ingot_tuning_store(ingot_client* client,
                                          const ingot_spec* spec,
                                          const ingot_tuning_record* record,
                                          uint64_t* epoch);

/* Ends records by their epochs; this client forgets all that it prepared
 * without a pin. `*deleted`, which may be NULL, becomes how many were in force.
 * Needs the role tune. Since 0.1. */
INGOT_API ingot_status ingot_tuning_delete(ingot_client* client,
                                           const uint64_t* epochs, size_t count,
                                           uint64_t* deleted);

/* ---- looking ------------------------------------------------------------ */

/* What the daemon can do, as a JSON object: version, api_min, api_max,
 * recipe_version_max, max_request_bytes, max_inline_object_bytes, max_batch,
 * restart_pending, targets [string], ops [{name, fingerprint, dims,
 * token_dims, summary}]. *json is for ingot_free. Since 0.1. */
INGOT_API ingot_status ingot_capabilities(ingot_client* client, char** json);

/* The daemon's figures, as a JSON object: version, uptime_ms, entries,
 * store_bytes, memory_bytes, workers, workers_busy, queued, daemon_rss_bytes,
 * counters {name: value}. *json is for ingot_free. Since 0.1. */
INGOT_API ingot_status ingot_daemon_stats(ingot_client* client, char** json);

typedef struct ingot_client_stats {
  uint32_t size;
  uint32_t reserved;
  uint64_t calls;        /* RPCs begun, retries included */
  uint64_t failed_calls; /* RPCs that did not end with OK */
  uint64_t retries;
  uint64_t connections;   /* opened */
  uint64_t prepare_calls; /* specs prepared with a call */
  uint64_t objects;       /* code objects received */
  uint64_t object_bytes;
  uint64_t modules_loaded;
  /* Newer: a struct that ends here is accepted. */
  uint64_t bundle_specs;   /* specs prepared from a bundle */
  uint64_t bundle_objects; /* code objects read from bundles; not in objects */
} ingot_client_stats;

/* This client's own figures since it was made. Fills `stats`, whose size the
 * caller has set. Since 0.1. */
INGOT_API ingot_status ingot_stats(const ingot_client* client,
                                   ingot_client_stats* stats);

#ifdef __cplusplus
}
#endif

#endif /* INGOT_INGOT_H_ */
