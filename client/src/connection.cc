#include "client/src/connection.h"

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace ingot::client {
namespace {

// Windows large enough that a 1 MiB chunk never waits for an update, and small
// enough to bound what a server can make us hold.
constexpr int32_t kWindow = 8 << 20;
constexpr uint32_t kMaxFrame = 1 << 20;
constexpr size_t kReadSize = 64 << 10;
constexpr size_t kWriteSize = 256 << 10;
constexpr size_t kLargestReply = 256 << 20;

nghttp2_nv Header(const char* name, const std::string& value) {
  nghttp2_nv header;
  header.name = reinterpret_cast<uint8_t*>(const_cast<char*>(name));
  header.namelen = strlen(name);
  header.value = reinterpret_cast<uint8_t*>(const_cast<char*>(value.data()));
  header.valuelen = value.size();
  header.flags = NGHTTP2_NV_FLAG_NONE;
  return header;
}

}  // namespace

// What is known of the call that runs.
struct Connection::Exchange {
  explicit Exchange(const Call& the_call)
      : call(the_call), reader(kLargestReply, the_call.on_message) {
    const uint32_t size = static_cast<uint32_t>(call.request_size);
    for (int i = 0; i < 4; ++i) prefix[1 + i] = size >> (24 - 8 * i);
  }

  const Call& call;
  MessageReader reader;
  uint8_t prefix[kMessagePrefix] = {};
  size_t sent = 0;  // of prefix and request
  int32_t stream_id = -1;
  bool closed = false;
  uint32_t close_code = 0;
  bool answered = false;
  int http_status = 0;
  int grpc_status = -1;
  std::string message;
  std::string details;
  Status refused;  // by the reader of messages
};

struct Connection::Callbacks {
  static Exchange* Of(void* user, int32_t stream_id) {
    Exchange* exchange = static_cast<Connection*>(user)->exchange_;
    const bool ours = exchange != nullptr && exchange->stream_id == stream_id;
    return ours ? exchange : nullptr;
  }

  static ssize_t ReadRequest(nghttp2_session*, int32_t, uint8_t* buffer,
                             size_t length, uint32_t* flags,
                             nghttp2_data_source* source, void*) {
    Exchange* exchange = static_cast<Exchange*>(source->ptr);
    const size_t total = kMessagePrefix + exchange->call.request_size;
    size_t copied = 0;
    if (exchange->sent < kMessagePrefix) {
      copied = std::min(length, kMessagePrefix - exchange->sent);
      memcpy(buffer, exchange->prefix + exchange->sent, copied);
      exchange->sent += copied;
    }
    const size_t rest = std::min(length - copied, total - exchange->sent);
    if (rest > 0) {
      memcpy(buffer + copied,
             exchange->call.request + (exchange->sent - kMessagePrefix), rest);
      exchange->sent += rest;
    }
    if (exchange->sent == total) *flags |= NGHTTP2_DATA_FLAG_EOF;
    return static_cast<ssize_t>(copied + rest);
  }

  static int OnHeader(nghttp2_session*, const nghttp2_frame* frame,
                      const uint8_t* name, size_t name_size,
                      const uint8_t* value, size_t value_size, uint8_t,
                      void* user) {
    Exchange* exchange = Of(user, frame->hd.stream_id);
    if (exchange == nullptr) return 0;
    exchange->answered = true;
    const std::string key(reinterpret_cast<const char*>(name), name_size);
    std::string text(reinterpret_cast<const char*>(value), value_size);
    if (key == ":status") {
      exchange->http_status = atoi(text.c_str());
    } else if (key == "grpc-status") {
      exchange->grpc_status = atoi(text.c_str());
    } else if (key == "grpc-message") {
      exchange->message = PercentDecode(text);
    } else if (key == "grpc-status-details-bin") {
      exchange->details = std::move(text);
    }
    return 0;
  }

  static int OnData(nghttp2_session*, uint8_t, int32_t stream_id,
                    const uint8_t* data, size_t size, void* user) {
    Exchange* exchange = Of(user, stream_id);
    if (exchange == nullptr || !exchange->refused.ok()) return 0;
    exchange->refused = exchange->reader.Feed(data, size);
    if (exchange->refused.ok()) return 0;
    // Closing is what stops the server soonest; what is on its way already
    // would have to be read otherwise.
    static_cast<Connection*>(user)->Break("the answer was refused");
    return 0;
  }

  static int OnFrame(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    if (frame->hd.type == NGHTTP2_GOAWAY) {
      static_cast<Connection*>(user)->going_away_ = true;
    }
    return 0;
  }

  static int OnClose(nghttp2_session*, int32_t stream_id, uint32_t code,
                     void* user) {
    Exchange* exchange = Of(user, stream_id);
    if (exchange == nullptr) return 0;
    exchange->closed = true;
    exchange->close_code = code;
    return 0;
  }
};

Connection::Connection(std::unique_ptr<ByteStream> stream,
                       std::string authority, bool tls)
    : stream_(std::move(stream)),
      authority_(std::move(authority)),
      scheme_(tls ? "https" : "http") {
  in_.resize(kReadSize);
  nghttp2_session_callbacks* callbacks = nullptr;
  nghttp2_session_callbacks_new(&callbacks);
  nghttp2_session_callbacks_set_on_header_callback(callbacks,
                                                   Callbacks::OnHeader);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks,
                                                            Callbacks::OnData);
  nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks,
                                                       Callbacks::OnFrame);
  nghttp2_session_callbacks_set_on_stream_close_callback(callbacks,
                                                         Callbacks::OnClose);
  const int failed = nghttp2_session_client_new(&session_, callbacks, this);
  nghttp2_session_callbacks_del(callbacks);
  if (failed != 0) {
    Break("no memory for an HTTP/2 session");
    return;
  }
  const nghttp2_settings_entry settings[] = {
      {NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
      {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, kWindow},
      {NGHTTP2_SETTINGS_MAX_FRAME_SIZE, kMaxFrame}};
  nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings,
                          sizeof(settings) / sizeof(settings[0]));
  nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, 0,
                                        kWindow);
}

Connection::~Connection() { nghttp2_session_del(session_); }

void Connection::Break(std::string reason) {
  if (!broken_) broken_why_ = std::move(reason);
  broken_ = true;
}

bool Connection::Flush() {
  while (!broken_) {
    while (out_.size() - out_done_ < kWriteSize) {
      const uint8_t* data = nullptr;
      const ssize_t size = nghttp2_session_mem_send(session_, &data);
      if (size < 0) {
        Break(nghttp2_strerror(static_cast<int>(size)));
        return false;
      }
      if (size == 0) break;
      out_.insert(out_.end(), data, data + size);
    }
    if (out_done_ == out_.size()) {
      out_.clear();
      out_done_ = 0;
      return true;
    }
    const int64_t written =
        stream_->Write(out_.data() + out_done_, out_.size() - out_done_);
    if (written == ByteStream::kWouldBlock) return true;
    if (written < 0) {
      Break(stream_->error());
      return false;
    }
    out_done_ += static_cast<size_t>(written);
    if (out_done_ == out_.size()) {
      out_.clear();
      out_done_ = 0;
    }
  }
  return false;
}

bool Connection::ReadAvailable() {
  while (!broken_) {
    const int64_t size = stream_->Read(in_.data(), in_.size());
    if (size == ByteStream::kWouldBlock) return true;
    if (size == 0) {
      Break("the daemon closed the connection");
      return false;
    }
    if (size < 0) {
      Break(stream_->error());
      return false;
    }
    const ssize_t used = nghttp2_session_mem_recv(session_, in_.data(),
                                                  static_cast<size_t>(size));
    if (used < 0) {
      Break(nghttp2_strerror(static_cast<int>(used)));
      return false;
    }
    // A short read emptied the socket; asking again costs a system call.
    if (static_cast<size_t>(size) < in_.size()) return true;
  }
  return false;
}

bool Connection::Usable() {
  if (!broken_ && ReadAvailable()) Flush();
  return !broken_ && !going_away_ &&
         nghttp2_session_check_request_allowed(session_) != 0;
}

int64_t Connection::Submit(const Call& call, Exchange* exchange) {
  const std::string method = "POST";
  const std::string path = call.method;
  const std::string trailers = "trailers";
  const std::string type = "application/grpc";
  const std::string agent = "ingot/" + std::string(ingot_version());
  const std::string identity = "identity";
  const std::string timeout = GrpcTimeout(call.deadline.RemainingMs());
  nghttp2_nv headers[] = {
      Header(":method", method),       Header(":scheme", scheme_),
      Header(":path", path),           Header(":authority", authority_),
      Header("te", trailers),          Header("content-type", type),
      Header("user-agent", agent),     Header("grpc-accept-encoding", identity),
      Header("grpc-timeout", timeout), Header("traceparent", call.traceparent)};
  // The last one only where there is one.
  const size_t count =
      sizeof(headers) / sizeof(headers[0]) - (call.traceparent.empty() ? 1 : 0);
  nghttp2_data_provider body;
  body.source.ptr = exchange;
  body.read_callback = Callbacks::ReadRequest;
  return nghttp2_submit_request(session_, nullptr, headers, count, &body,
                                nullptr);
}

CallEnd Connection::Run(const Call& call) {
  Exchange exchange(call);
  if (!broken_) {
    const int64_t id = Submit(call, &exchange);
    if (id < 0) {
      Break(nghttp2_strerror(static_cast<int>(id)));
    } else {
      exchange.stream_id = static_cast<int32_t>(id);
      exchange_ = &exchange;
    }
  }
  while (!broken_ && !exchange.closed) {
    if (!Flush() || exchange.closed) break;
    // After a violation nghttp2 sends its GOAWAY and wants no more.
    if (nghttp2_session_want_read(session_) == 0 &&
        nghttp2_session_want_write(session_) == 0 && out_.empty()) {
      Break("the peer does not speak HTTP/2");
      break;
    }
    if (!stream_->Wait(!out_.empty(), call.deadline)) {
      Break("the deadline of a call passed");
      exchange_ = nullptr;
      CallEnd end;
      end.status = Error(INGOT_DEADLINE_EXCEEDED,
                         "no answer to %s within the time budget", call.method);
      return end;
    }
    ReadAvailable();
  }
  // Acknowledgements and window updates that the answer gave rise to.
  if (!broken_) Flush();
  exchange_ = nullptr;
  return Finish(exchange);
}

CallEnd Connection::Finish(const Exchange& exchange) const {
  CallEnd end;
  if (!exchange.refused.ok()) {
    end.status = exchange.refused;
  } else if (exchange.grpc_status == INGOT_OK &&
             !exchange.reader.AtBoundary()) {
    end.status = Error(INGOT_INTERNAL, "%s ended inside a message",
                       exchange.call.method);
  } else if (exchange.grpc_status >= 0) {
    end.status.code = exchange.grpc_status;
    if (!end.status.ok()) {
      end.status.message = exchange.message;
      end.status.retry_after_ms = RetryDelayMs(exchange.details);
    }
    if (end.status.code == INGOT_UNIMPLEMENTED && exchange.message.empty()) {
      // A gRPC server refuses a method that is not there without a word.
      end.status = Error(INGOT_UNIMPLEMENTED,
                         "the daemon does not have %s; it is older than this "
                         "library",
                         exchange.call.method);
    }
  } else if (!exchange.closed) {
    end.unanswered = !exchange.answered;
    end.status = Error(INGOT_UNAVAILABLE, "connection lost during %s: %s",
                       exchange.call.method, broken_why_.c_str());
  } else if (exchange.http_status != 0 && exchange.http_status != 200) {
    end.status = Error(CodeOfHttpStatus(exchange.http_status),
                       "%s was answered with HTTP status %d",
                       exchange.call.method, exchange.http_status);
  } else if (exchange.close_code != NGHTTP2_NO_ERROR) {
    end.unanswered = exchange.close_code == NGHTTP2_REFUSED_STREAM;
    end.status = Error(CodeOfReset(exchange.close_code),
                       "%s was reset by the daemon: %s", exchange.call.method,
                       nghttp2_http2_strerror(exchange.close_code));
  } else {
    end.status = Error(INGOT_INTERNAL, "%s ended without a status",
                       exchange.call.method);
  }
  return end;
}

}  // namespace ingot::client
