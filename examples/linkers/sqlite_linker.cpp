// SPDX-License-Identifier: BSD-3-Clause
// A container that is a table of a database: a row for each 16 KiB, under the container's name. What is flushed is in a
// transaction that the next sync ends, so that after a crash the database has all of it or none.
#include <sqlite3.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <mutex>
#include <string>

#include <quire/container.h>

#include "linkers.h"

namespace {

constexpr std::size_t grain = 16 << 10;

int errno_of(int code) {
  switch (code & 0xff) {
    case SQLITE_OK:
    case SQLITE_DONE:
    case SQLITE_ROW:
      return 0;
    case SQLITE_FULL:
      return ENOSPC;
    case SQLITE_CANTOPEN:
      return ENOENT;
    case SQLITE_READONLY:
      return EROFS;
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return EACCES;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return EBUSY;
    case SQLITE_NOMEM:
      return ENOMEM;
    default:
      return EIO;
  }
}

struct table {
  sqlite3* base = nullptr;
  std::string name;
  std::mutex mutex;  ///< a transaction belongs to the connection: one call at a time
  ~table() { sqlite3_close(base); }
};

/// "FILE#NAME"; false if it is none.
bool parse(const char* what, std::string& file, std::string& name) {
  const char* const mark = std::strrchr(what, '#');
  if (mark == nullptr || mark == what || mark[1] == 0) return false;
  file.assign(what, mark);
  name = mark + 1;
  return true;
}

/// A statement with up to two numbers and a blob behind the name; `row` is called for the first row, if there is one. 0
/// or errno.
template <class Row>
int run(const table& t, const char* text, std::initializer_list<std::int64_t> numbers, const void* blob,
        std::size_t bytes, Row row) {
  sqlite3_stmt* statement = nullptr;
  int code = sqlite3_prepare_v2(t.base, text, -1, &statement, nullptr);
  int place = 1;
  if (code == SQLITE_OK && sqlite3_bind_parameter_count(statement) >= place)
    code = sqlite3_bind_text(statement, place++, t.name.data(), static_cast<int>(t.name.size()), SQLITE_STATIC);
  for (const std::int64_t number : numbers)
    if (code == SQLITE_OK) code = sqlite3_bind_int64(statement, place++, number);
  if (code == SQLITE_OK && blob != nullptr)
    code = sqlite3_bind_blob(statement, place, blob, static_cast<int>(bytes), SQLITE_STATIC);
  if (code == SQLITE_OK) code = sqlite3_step(statement);
  if (code == SQLITE_ROW) row(statement);
  sqlite3_finalize(statement);
  return errno_of(code);
}
int run(const table& t, const char* text, std::initializer_list<std::int64_t> numbers = {}, const void* blob = nullptr,
        std::size_t bytes = 0) {
  return run(t, text, numbers, blob, bytes, [](sqlite3_stmt*) {});
}

int begin(const table& t) { return sqlite3_get_autocommit(t.base) != 0 ? run(t, "begin immediate") : 0; }
int commit(const table& t) { return sqlite3_get_autocommit(t.base) == 0 ? run(t, "commit") : 0; }

int fill(void* self, std::uint64_t at, void* into, std::size_t bytes) {
  auto& t = *static_cast<table*>(self);
  const std::lock_guard lock(t.mutex);
  std::memset(into, 0, bytes);  // what has no row
  for (std::size_t done = 0; done < bytes; done += grain) {
    char* const out = static_cast<char*>(into) + done;
    bool whole = true;
    const int error = run(t, "select content from pages where container = ?1 and number = ?2",
                          {static_cast<std::int64_t>((at + done) / grain)}, nullptr, 0, [&](sqlite3_stmt* row) {
                            whole = sqlite3_column_bytes(row, 0) == static_cast<int>(grain);
                            if (whole) std::memcpy(out, sqlite3_column_blob(row, 0), grain);
                          });
    if (error != 0) return error;
    if (!whole) return EIO;
  }
  return 0;
}

int flush(void* self, std::uint64_t at, const void* from, std::size_t bytes) {
  auto& t = *static_cast<table*>(self);
  const std::lock_guard lock(t.mutex);
  if (const int error = begin(t); error != 0) return error;
  for (std::size_t done = 0; done < bytes; done += grain) {
    const int error =
        run(t, "insert or replace into pages values (?1, ?2, ?3)", {static_cast<std::int64_t>((at + done) / grain)},
            static_cast<const char*>(from) + done, grain);
    if (error != 0) return error;
  }
  return 0;
}

int sync(void* self) {
  auto& t = *static_cast<table*>(self);
  const std::lock_guard lock(t.mutex);
  return commit(t);
}

int truncate(void* self, std::uint64_t bytes) {
  auto& t = *static_cast<table*>(self);
  const std::uint64_t rest = bytes % grain;
  if (rest != 0) {  // of the last page all that is beyond the end is zero
    std::string last(grain, 0);
    if (const int error = fill(self, bytes - rest, last.data(), grain); error != 0) return error;
    std::memset(last.data() + rest, 0, grain - rest);
    if (const int error = flush(self, bytes - rest, last.data(), grain); error != 0) return error;
  }
  const std::lock_guard lock(t.mutex);
  int error = begin(t);
  if (error == 0)
    error = run(t, "delete from pages where container = ?1 and number >= ?2",
                {static_cast<std::int64_t>((bytes + grain - 1) / grain)});
  if (error == 0)
    error = run(t, "insert or replace into containers values (?1, ?2)", {static_cast<std::int64_t>(bytes)});
  return error;
}

void close(void* self) {
  auto* const t = static_cast<table*>(self);
  (void)commit(*t);
  delete t;
}

/// A connection with the tables. `makes`: they are made if they are not there.
int connect(const char* what, bool writes, bool makes, table& t) {
  std::string file;
  if (!parse(what, file, t.name)) return EINVAL;
  const int flags = (writes ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY) | (makes ? SQLITE_OPEN_CREATE : 0) |
                    SQLITE_OPEN_FULLMUTEX;
  if (const int code = sqlite3_open_v2(file.c_str(), &t.base, flags, nullptr); code != SQLITE_OK) return errno_of(code);
  sqlite3_busy_timeout(t.base, 10'000);  // other programs
  if (!makes) return 0;
  if (const int error = run(t, "create table if not exists containers (name text primary key, bytes integer not null)");
      error != 0)
    return error;
  return run(t,
             "create table if not exists pages (container text, number integer, content blob not null, primary key "
             "(container, number)) without rowid");
}

int open(void*, const char* what, unsigned flags, std::uint64_t* bytes, void** self) {
  const bool writes = (flags & QUIRE_CONTAINER_READ_ONLY) == 0, makes = writes && (flags & QUIRE_CONTAINER_CREATE) != 0;
  auto* const t = new table;
  bool found = false;
  int error = connect(what, writes, makes, *t);
  if (error == 0) {
    error = run(*t, "select bytes from containers where name = ?1", {}, nullptr, 0, [&](sqlite3_stmt* row) {
      *bytes = static_cast<std::uint64_t>(sqlite3_column_int64(row, 0));
      found = true;
    });
  }
  if (error == 0 && !found && !makes) error = ENOENT;
  if (error == 0 && (!found || (flags & QUIRE_CONTAINER_TRUNCATE) != 0)) {
    *bytes = 0;
    error = truncate(t, 0);
    if (error == 0) error = sync(t);
  }
  if (error != 0)
    delete t;
  else
    *self = t;
  return error;
}

int remove(void*, const char* what) {
  table t;
  int error = connect(what, true, false, t);
  if (error == 0) error = run(t, "begin immediate");
  if (error == 0) error = run(t, "delete from pages where container = ?1");
  if (error == 0) error = run(t, "delete from containers where name = ?1");
  if (error == 0) error = run(t, "commit");
  return error;
}

}  // namespace

// Constant: it is there whichever file is initialised first.
constinit const quire_linker sqlite_linker = {
    .size = sizeof(quire_linker),
    .name = "sqlite",
    .can = QUIRE_LINK_WRITE | QUIRE_LINK_TRUNCATE,
    .grain = grain,
    .threads = 1,
    .context = nullptr,
    .open = open,
    .try_fill = nullptr,
    .fill = fill,
    .flush = flush,
    .sync = sync,
    .truncate = truncate,
    .close = close,
    .remove = remove,
    .identify = nullptr,
};
