// How every program of a sanitizer's build runs, whoever starts it and with
// whatever environment: workers have none. UBSAN_OPTIONS and TSAN_OPTIONS are
// read after these and win. The address sanitizer's own defaults will do.
//
// The first report ends the process. A daemon that went on would be killed by
// its test, and what it had to say would be lost.

extern "C" {

const char* __ubsan_default_options() {
  return "halt_on_error=1:print_stacktrace=1";
}

// The distribution's libraries are not instrumented: what they do inside, on
// threads and with locks that the sanitizer cannot follow, looks like races.
const char* __tsan_default_options() {
  return "halt_on_error=1:ignore_noninstrumented_modules=1";
}

// Third-party code only, each line with its reason.
const char* __tsan_default_suppressions() {
  // What answers unknown methods is inside libgrpc++ and counts down its call
  // where nothing is instrumented; only std::function's parts are seen, since
  // this program has copies of them.
  return "race:ServerCallbackReaderWriterImpl::~"
         "ServerCallbackReaderWriterImpl\n";
}
}
