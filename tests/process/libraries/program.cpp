// SPDX-License-Identifier: BSD-3-Clause
// Libraries that were built without knowledge of Quire read and write shared memory: `libraries_program
// fstream|zlib|png|sqlite|curl`. All pages are of node 0, which takes them back all the time while node 1 works: each
// system call can meet a page that is not there. Built in several ways (CMakeLists.txt), as the dynamic linker must
// find Quire's calls in each.
#include <dlfcn.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>

#ifdef HAVE_ZLIB
#include <zlib.h>
#endif
#ifdef HAVE_PNG
#include <png.h>
#endif
#ifdef HAVE_SQLITE
#include <sqlite3.h>
#endif
#ifdef HAVE_CURL
#include <curl/curl.h>
#endif

#include "process/node.hpp"

using namespace quire::test;

namespace {

constexpr std::size_t page = 4096, bytes_of_part = 64 * page;
struct memory {
  char *source, *target;
  std::uint64_t *asked, *done, *over;
  /// On node 1: returns when all pages are gone.
  void take_away() const {
    const std::uint64_t mine = std::atomic_ref(*asked).fetch_add(1) + 1;
    while (std::atomic_ref(*done).load() < mine) sleep_ms(1);
  }
};

std::string temporary_name() {
  return (std::filesystem::temp_directory_path() / ("quire-library-" + std::to_string(::getpid()))).string();
}
void same(const memory& m, std::size_t bytes, const char* what) {
  if (std::memcmp(m.source, m.target, bytes) != 0)
    fail(__FILE__, __LINE__, "%s: what was read is not what was written", what);
}

/// libstdc++ writes large blocks by itself, with write and writev.
void with_fstream(const memory& m) {
  const std::string name = temporary_name();
  {
    std::ofstream out(name, std::ios::binary);
    out << "a line of text first\n";
    out.write(m.source, bytes_of_part);
    REQUIRE(out.good());
  }
  m.take_away();
  {
    std::ifstream in(name, std::ios::binary);
    std::string line;
    REQUIRE(std::getline(in, line) && line == "a line of text first");
    in.read(m.target, bytes_of_part);
    REQUIRE_EQUAL(in.gcount(), bytes_of_part);
  }
  same(m, bytes_of_part, "fstream");
  REQUIRE_EQUAL(std::filesystem::file_size(name), bytes_of_part + 21);
  // A name that is shared too.
  std::strcpy(m.target, name.c_str());
  m.take_away();
  REQUIRE(std::ifstream(m.target).good());
  m.take_away();
  REQUIRE_EQUAL(::unlink(m.target), 0);
}

#ifdef HAVE_ZLIB
void with_zlib(const memory& m) {
  const std::string name = temporary_name();
  for (const char* mode : {"wb1", "wbT"}) {  // T: no compression, what is given is written at once
    m.take_away();
    gzFile file = ::gzopen(name.c_str(), mode);
    REQUIRE(file != nullptr);
    REQUIRE_EQUAL(::gzwrite(file, m.source, bytes_of_part), bytes_of_part);
    REQUIRE_EQUAL(::gzclose(file), Z_OK);
    std::memset(m.target, 0, bytes_of_part);
    m.take_away();
    file = ::gzopen(name.c_str(), "rb");
    REQUIRE_EQUAL(::gzread(file, m.target, bytes_of_part), bytes_of_part);
    REQUIRE_EQUAL(::gzclose(file), Z_OK);
    same(m, bytes_of_part, "zlib");
  }
  ::unlink(name.c_str());
}
#endif

#ifdef HAVE_PNG
void with_png(const memory& m) {
  const std::string name = temporary_name();
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = 256;
  image.height = bytes_of_part / 256;
  image.format = PNG_FORMAT_GRAY;
  REQUIRE(::png_image_write_to_file(&image, name.c_str(), 0, m.source, 0, nullptr) != 0);
  // The compressed picture goes through shared memory too: read into it, then decoded from a stream whose buffer is
  // shared.
  const auto length = static_cast<std::size_t>(std::filesystem::file_size(name));
  REQUIRE(length <= bytes_of_part * 2);
  std::FILE* file = std::fopen(name.c_str(), "rb");
  REQUIRE(file != nullptr && std::setvbuf(file, m.target, _IOFBF, 2 * page) == 0);
  png_image back{};
  back.version = PNG_IMAGE_VERSION;
  REQUIRE(::png_image_begin_read_from_stdio(&back, file) != 0);
  back.format = PNG_FORMAT_GRAY;
  REQUIRE(::png_image_finish_read(&back, nullptr, m.target, 0, nullptr) != 0);
  std::fclose(file);
  same(m, bytes_of_part, "png");
  ::unlink(name.c_str());
}
#endif

#ifdef HAVE_SQLITE
/// The cache of the data base lies in shared memory: its pages are read and written there.
void with_sqlite(const memory& m) {
  const std::string name = temporary_name();
  int header = 0;
  REQUIRE_EQUAL(::sqlite3_config(SQLITE_CONFIG_PCACHE_HDRSZ, &header), SQLITE_OK);
  const int line = static_cast<int>(page) + header;
  REQUIRE_EQUAL(::sqlite3_config(SQLITE_CONFIG_PAGECACHE, m.target, line, static_cast<int>(bytes_of_part) / line),
                SQLITE_OK);
  constexpr int blobs = 40, blob_bytes = 6 * page;
  const auto execute = [](sqlite3* base, const char* text) {
    char* why = nullptr;
    if (::sqlite3_exec(base, text, nullptr, nullptr, &why) != SQLITE_OK) fail(__FILE__, __LINE__, "%s: %s", text, why);
  };
  sqlite3* base = nullptr;
  REQUIRE_EQUAL(::sqlite3_open(name.c_str(), &base), SQLITE_OK);
  execute(base, "pragma synchronous=off; create table t(n integer primary key, b blob); begin");
  sqlite3_stmt* put = nullptr;
  REQUIRE_EQUAL(::sqlite3_prepare_v2(base, "insert into t values(?, ?)", -1, &put, nullptr), SQLITE_OK);
  for (int i = 0; i < blobs; ++i) {
    REQUIRE_EQUAL(::sqlite3_bind_int(put, 1, i), SQLITE_OK);
    REQUIRE_EQUAL(::sqlite3_bind_blob(put, 2, m.source + i * 100, blob_bytes, SQLITE_STATIC), SQLITE_OK);
    REQUIRE_EQUAL(::sqlite3_step(put), SQLITE_DONE);
    REQUIRE_EQUAL(::sqlite3_reset(put), SQLITE_OK);
  }
  REQUIRE_EQUAL(::sqlite3_finalize(put), SQLITE_OK);
  m.take_away();
  execute(base, "commit");
  REQUIRE_EQUAL(::sqlite3_close(base), SQLITE_OK);
  REQUIRE_EQUAL(::sqlite3_open(name.c_str(), &base), SQLITE_OK);
  sqlite3_stmt* get = nullptr;
  REQUIRE_EQUAL(::sqlite3_prepare_v2(base, "select b from t order by n", -1, &get, nullptr), SQLITE_OK);
  for (int i = 0; i < blobs; ++i) {
    REQUIRE_EQUAL(::sqlite3_step(get), SQLITE_ROW);
    REQUIRE_EQUAL(::sqlite3_column_bytes(get, 0), blob_bytes);
    REQUIRE(std::memcmp(::sqlite3_column_blob(get, 0), m.source + i * 100, blob_bytes) == 0);
  }
  REQUIRE_EQUAL(::sqlite3_finalize(get), SQLITE_OK);
  int cached = 0, most = 0;
  REQUIRE_EQUAL(::sqlite3_status(SQLITE_STATUS_PAGECACHE_USED, &cached, &most, 0), SQLITE_OK);
  REQUIRE(most > 20);  // it was used
  REQUIRE_EQUAL(::sqlite3_close(base), SQLITE_OK);
  REQUIRE_EQUAL(::sqlite3_shutdown(), SQLITE_OK);
  ::unlink(name.c_str());
}
#endif

#ifdef HAVE_CURL
/// A server for one request, which answers with the body that it gets: all in shared memory. (curl's own buffers are
/// private.)
class echo_server {
 public:
  explicit echo_server(char* buffer) : buffer_(buffer) {
    sockaddr_in self{};
    socklen_t length = sizeof self;
    self.sin_family = AF_INET;
    self.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
    REQUIRE(listener_ >= 0 && ::bind(listener_, reinterpret_cast<sockaddr*>(&self), length) == 0 &&
            ::listen(listener_, 1) == 0);
    REQUIRE(::getsockname(listener_, reinterpret_cast<sockaddr*>(&self), &length) == 0);
    port_ = ::ntohs(self.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  ~echo_server() {
    thread_.join();
    ::close(listener_);
  }
  [[nodiscard]] int port() const { return port_; }

 private:
  void serve() {
    const int fd = ::accept(listener_, nullptr, nullptr);
    REQUIRE(fd >= 0);
    std::string head;
    for (char c = 0; head.find("\r\n\r\n") == head.npos && ::recv(fd, &c, 1, 0) == 1;) head += c;
    std::size_t got = 0;
    while (got < bytes_of_part) {
      const ssize_t n = ::recv(fd, buffer_ + got, bytes_of_part - got, 0);
      REQUIRE(n > 0);
      got += static_cast<std::size_t>(n);
    }
    const std::string answer = "HTTP/1.0 200 OK\r\nContent-Length: " + std::to_string(got) + "\r\n\r\n";
    REQUIRE_EQUAL(::send(fd, answer.data(), answer.size(), 0), answer.size());
    for (std::size_t put = 0; put < got;) {
      const ssize_t n = ::send(fd, buffer_ + put, got - put, MSG_NOSIGNAL);
      REQUIRE(n > 0);
      put += static_cast<std::size_t>(n);
    }
    ::close(fd);
  }
  char* buffer_;
  int listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), port_ = 0;
  std::thread thread_;
};

void with_curl(const memory& m) {
  static char* at;
  at = m.target;
  const echo_server server(m.target + bytes_of_part);
  const std::string url = "http://127.0.0.1:" + std::to_string(server.port()) + "/";
  REQUIRE_EQUAL(::curl_global_init(CURL_GLOBAL_DEFAULT), CURLE_OK);
  CURL* const c = ::curl_easy_init();
  REQUIRE(c != nullptr);
  curl_slist* const heads = ::curl_slist_append(nullptr, "Expect:");
  ::curl_easy_setopt(c, CURLOPT_URL, url.c_str());
  ::curl_easy_setopt(c, CURLOPT_HTTPHEADER, heads);
  ::curl_easy_setopt(c, CURLOPT_PROXY, "");
  ::curl_easy_setopt(c, CURLOPT_TIMEOUT, 30L);
  ::curl_easy_setopt(c, CURLOPT_POSTFIELDS, m.source);
  ::curl_easy_setopt(c, CURLOPT_POSTFIELDSIZE, static_cast<long>(bytes_of_part));
  ::curl_easy_setopt(
      c, CURLOPT_WRITEFUNCTION, +[](char* from, size_t size, size_t n, void*) {
        std::memcpy(at, from, size * n);
        at += size * n;
        return size * n;
      });
  const CURLcode result = ::curl_easy_perform(c);
  if (result != CURLE_OK) fail(__FILE__, __LINE__, "curl: %s", ::curl_easy_strerror(result));
  ::curl_slist_free_all(heads);
  ::curl_easy_cleanup(c);
  REQUIRE_EQUAL(at - m.target, bytes_of_part);
  same(m, bytes_of_part, "curl");
}
#endif

using use = void (*)(const memory&);
use use_of(const std::string& library) {
  if (library == "fstream") return with_fstream;
#ifdef HAVE_ZLIB
  if (library == "zlib") return with_zlib;
#endif
#ifdef HAVE_PNG
  if (library == "png") return with_png;
#endif
#ifdef HAVE_SQLITE
  if (library == "sqlite") return with_sqlite;
#endif
#ifdef HAVE_CURL
  if (library == "curl") return with_curl;
#endif
  return nullptr;
}

/// Node 0: makes each page its own, again and again, and changes nothing.
void take_pages_away(const memory& m) {
  while (std::atomic_ref(*m.over).load() == 0) {
    const std::uint64_t asked = std::atomic_ref(*m.asked).load();
    for (char* at = m.source; at < m.target + 2 * bytes_of_part; at += page) {
      std::atomic_ref(*reinterpret_cast<std::uint64_t*>(at)).fetch_add(0);
    }
    std::atomic_ref(*m.done).store(asked);
    sleep_ms(1);
  }
}

}  // namespace

int main(int count, char** arguments) {
  const std::string library = count > 1 ? arguments[1] : "";
  const use work = use_of(library);
  if (work == nullptr) {
    std::printf("built without %s: skipped (scripts/setup.sh installs it)\n", library.c_str());
    return 77;
  }
  return node_main([&] {
    char* const start = shared_region<char>("memory", 3 * bytes_of_part, region_options(page, QUIRE_PLACE_NODE, 0));
    auto* const words = shared_object<std::uint64_t>("words", 3);
    const memory m{start, start + bytes_of_part, words, words + 1, words + 2};
    if (quire_node() == 0) {
      for (std::size_t i = 0; i < bytes_of_part; ++i) {
        m.source[i] = static_cast<char>(mix(i) % 16 == 0 ? mix(i) : i / 300);
      }
    }
    barrier();
    if (quire_node() == 0) {
      take_pages_away(m);
    } else if (quire_node() == 1) {
      m.take_away();
      work(m);
      std::atomic_ref(*m.over).store(1);
    }
    barrier();
  });
}
