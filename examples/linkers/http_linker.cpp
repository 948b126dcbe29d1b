// SPDX-License-Identifier: BSD-3-Clause
// A container that is a file of a web server, or an object of S3 (by a presigned URL): read-only, a range a request.
// All nodes reach it, so each fetches a part, once for all. What changes on the server meanwhile is refused (ESTALE),
// if the server tells versions (ETag).
#include <curl/curl.h>
#include <strings.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

#include <quire/container.h>

#include "linkers.h"

namespace {

constexpr std::size_t grain = 64 << 10;
constexpr int attempts = 3;  ///< of a request that the server or the network has not served

struct object {
  std::string url, version;
  std::uint64_t bytes = 0;
  std::mutex mutex;
  std::vector<CURL*> idle;  ///< connections that wait for their next request
};

/// What an answer goes into.
struct answer {
  char* into = nullptr;
  std::size_t room = 0, got = 0;
  std::string version;
  bool takes_ranges = false;
};

std::size_t on_body(char* data, std::size_t, std::size_t bytes, void* to) {
  auto& a = *static_cast<answer*>(to);
  if (bytes > a.room - a.got) return 0;  // more than was asked for: the transfer fails
  std::memcpy(a.into + a.got, data, bytes);
  a.got += bytes;
  return bytes;
}

std::size_t on_header(char* data, std::size_t, std::size_t bytes, void* to) {
  auto& a = *static_cast<answer*>(to);
  const auto value_of = [&](const char* name) {
    const std::size_t length = std::strlen(name);
    if (bytes <= length || ::strncasecmp(data, name, length) != 0) return std::string();
    std::string value(data + length, bytes - length);
    value.erase(0, std::min(value.find_first_not_of(" \t"), value.size()));
    while (!value.empty() && (value.back() == '\r' || value.back() == '\n' || value.back() == ' ')) value.pop_back();
    return value;
  };
  if (const auto value = value_of("etag:"); !value.empty()) a.version = value;
  if (value_of("accept-ranges:") == "bytes") a.takes_ranges = true;
  return bytes;
}

CURL* take(object& o) {
  const std::lock_guard lock(o.mutex);
  if (o.idle.empty()) return curl_easy_init();
  CURL* const one = o.idle.back();
  o.idle.pop_back();
  return one;
}

void give_back(object& o, CURL* one) {
  const std::lock_guard lock(o.mutex);
  o.idle.push_back(one);
}

/// What a status of HTTP means for a file; 0: all is well.
int errno_of(long status) {
  if (status == 200 || status == 206) return 0;
  if (status == 404 || status == 410) return ENOENT;
  if (status == 401 || status == 403) return EACCES;
  if (status == 412) return ESTALE;
  return EIO;
}

/// One request. `range` is empty for the headers alone.
int ask_once(object& o, CURL* curl, const std::string& range, answer& a, long& status) {
  curl_easy_reset(curl);  // the connection stays
  curl_slist* headers = nullptr;
  if (!o.version.empty()) headers = curl_slist_append(nullptr, ("If-Match: " + o.version).c_str());
  curl_easy_setopt(curl, CURLOPT_URL, o.url.c_str());
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 1L);
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);  // other threads have signals
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, 10L);
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);  // a server that says nothing for half a minute is gone
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, 30L);
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
  curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, on_header);
  curl_easy_setopt(curl, CURLOPT_HEADERDATA, &a);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_body);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &a);
  curl_easy_setopt(curl, CURLOPT_FAILONERROR, 1L);
  if (range.empty())
    curl_easy_setopt(curl, CURLOPT_NOBODY, 1L);
  else
    curl_easy_setopt(curl, CURLOPT_RANGE, range.c_str());
  const CURLcode code = curl_easy_perform(curl);
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
  curl_slist_free_all(headers);
  if (code == CURLE_OK && !range.empty() && status != 206) return EOPNOTSUPP;  // all of the file instead of the part
  if (code == CURLE_OK) return 0;
  return status >= 400 ? errno_of(status) : EIO;
}

/// Errors of the server and of the network may pass.
int ask(object& o, const std::string& range, answer& a, CURL** used = nullptr) {
  CURL* const curl = take(o);
  if (curl == nullptr) return ENOMEM;
  int error = EIO;
  for (int attempt = 0; attempt < attempts && error == EIO; ++attempt) {
    a.got = 0;
    long status = 0;
    error = ask_once(o, curl, range, a, status);
  }
  if (used != nullptr)
    *used = curl;
  else
    give_back(o, curl);
  return error;
}

int fill(void* self, std::uint64_t at, void* into, std::size_t bytes) {
  auto& o = *static_cast<object*>(self);
  auto* const out = static_cast<char*>(into);
  const std::size_t there = at >= o.bytes ? 0 : static_cast<std::size_t>(std::min<std::uint64_t>(bytes, o.bytes - at));
  std::memset(out + there, 0, bytes - there);
  if (there == 0) return 0;
  answer a;
  a.into = out;
  a.room = there;
  const int error = ask(o, std::to_string(at) + "-" + std::to_string(at + there - 1), a);
  return error != 0 ? error : a.got == there ? 0 : EIO;
}

void close(void* self) {
  auto* const o = static_cast<object*>(self);
  for (CURL* const one : o->idle) curl_easy_cleanup(one);
  delete o;
}

int open(void*, const char* what, unsigned flags, std::uint64_t* bytes, void** self) {
  if ((flags & QUIRE_CONTAINER_READ_ONLY) == 0) return EROFS;
  static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);
  if (ready != CURLE_OK) return ENOMEM;
  auto* const o = new object;
  o->url = what;
  answer a;
  CURL* curl = nullptr;
  int error = ask(*o, "", a, &curl);
  curl_off_t length = -1;
  if (curl != nullptr) {
    curl_easy_getinfo(curl, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
    give_back(*o, curl);
  }
  if (error == 0 && (length < 0 || !a.takes_ranges)) error = EOPNOTSUPP;
  if (error != 0) {
    close(o);
    return error;
  }
  o->version = a.version.starts_with("W/") ? "" : a.version;  // a weak one is none
  *bytes = o->bytes = static_cast<std::uint64_t>(length);
  *self = o;
  return 0;
}

}  // namespace

// Constant: it is there whichever file is initialised first.
constinit const quire_linker http_linker = {
    .size = sizeof(quire_linker),
    .name = "http",
    .can = QUIRE_LINK_ANYWHERE,
    .grain = grain,
    .threads = 0,
    .context = nullptr,
    .open = open,
    .try_fill = nullptr,
    .fill = fill,
    .flush = nullptr,
    .sync = nullptr,
    .truncate = nullptr,
    .close = close,
    .remove = nullptr,
    .identify = nullptr,
};
