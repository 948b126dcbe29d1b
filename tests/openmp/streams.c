/* SPDX-License-Identifier: BSD-3-Clause */
// Streams that one thread has opened, and threads of all nodes use.
#include <errno.h>
#include <omp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

enum { threads = 4 };

static void vput(FILE* to, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vfprintf(to, format, arguments);
  va_end(arguments);
}
static int vget(FILE* from, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int got = vfscanf(from, format, arguments);
  va_end(arguments);
  return got;
}

/// What threads say one after the other: their output by printf() comes out node by node.
static char said[200000];
static size_t said_length = 0;
static void say(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  said_length += vsnprintf(said + said_length, sizeof said - said_length, format, arguments);
  va_end(arguments);
}
static void print_said(void) {
  fputs(said, stdout);
  said_length = 0;
}

static void show(const char* what, FILE* of) {
  rewind(of);
  printf("%s:\n", what);
  for (int c; (c = fgetc(of)) != EOF;) putchar(c);
}

static void output(void) {
  FILE* const log = tmpfile();
  static char large[100000];
#pragma omp parallel num_threads(threads)
  {
    const int me = omp_get_thread_num();
#pragma omp for ordered schedule(static, 1)
    for (int i = 0; i < 3 * threads; ++i) {
#pragma omp ordered
      {
        int length = 0;
        const int put = fprintf(log, "%d %s %.3f%n", i, strerror(ENOENT), i / 3.0, &length);
        vput(log, " %c%5ld|", 'a' + i, 100L * i);
        const int texts = fputs("text ", log) >= 0;
        const int one = fputc('0' + i % 10, log) + putc('!', log);
        const size_t items = fwrite("1234567", 3, 2, log);
        putw(0x41424344, log);
        fprintf(log, " %d %d %zu\n", put == length, one, items);
        if (texts == 0) fprintf(log, "no text\n");
      }
    }
#pragma omp for ordered schedule(static, 1)
    for (int i = 0; i < threads; ++i) {
#pragma omp ordered
      {
        memset(large, 'a' + i, sizeof large);
        large[sizeof large - 1] = '\n';
        fprintf(log, "%zu\n", fwrite(large, 1, sizeof large, log));
        large[sizeof large - 1] = 0;
        fprintf(log, "%.60000s\n", large);
        fputs(large, log);
      }
    }
#pragma omp critical
    fprintf(log, "%s", "");
  }
  printf("flush %d\n", fflush(log));
  show("output", log);
  printf("close %d\n", fclose(log));
}

// A line is a line, whoever writes; and what a thread writes between flockfile() and funlockfile() stays together.
static void lines(void) {
  FILE* const log = tmpfile();
#pragma omp parallel num_threads(threads)
  for (int i = 0; i < 50; ++i) {
    const int me = omp_get_thread_num();
    if (i % 2 == 0) {
      fprintf(log, "%d a%d b%d c%d\n", me, i, i, i);
    } else {
      flockfile(log);
      fprintf(log, "%d", me);
      flockfile(log);
      fputs(" a", log);
      fprintf(log, "%d b%d", i, i);
      funlockfile(log);
      fprintf(log, " c%d\n", i);
      funlockfile(log);
    }
  }
  rewind(log);
  int good = 0, next[threads] = {0}, in_order = 1;
  char line[200];
  while (fgets(line, sizeof line, log) != NULL) {
    int me, a, b, c;
    if (sscanf(line, "%d a%d b%d c%d\n", &me, &a, &b, &c) != 4 || a != b || b != c || me < 0 || me >= threads) continue;
    ++good;
    in_order &= next[me]++ == a;
  }
  printf("good lines %d, each thread's in order: %d\n", good, in_order);
  fclose(log);
}

static void input(void) {
  FILE* const in = tmpfile();
  for (int i = 0; i < 40; ++i) fprintf(in, "line %d word%d %d\n", i, i * i, 7 * i);
  fputs("the last one has no end", in);
  rewind(in);
  long sum = 0;
#pragma omp parallel for ordered schedule(static, 1) num_threads(threads) reduction(+ : sum)
  for (int i = 0; i < 2 * threads; ++i) {
#pragma omp ordered
    {
      char text[100], word[100], few[6];
      int number = -1, other = -1;
      say("%d:", i);
      if (fgets(text, sizeof text, in) != NULL) say(" %s", text);
      say(" %d", fscanf(in, "line %d %99s %d\n", &number, word, &other));
      say(" %d %s %d", number, word, other);
      say(" %d", vget(in, "line %d", &number));
      const int c = fgetc(in), d = getc(in);
      say(" %d '%c%c' %d", number, c, d, ungetc('W', in));
      say(" %s", fgets(few, sizeof few, in));
      const long at = ftell(in);
      size_t got = fread(text, 2, 3, in);
      say(" %ld %zu %.6s", at, got, text);
      char* whole = NULL;
      size_t room = 0;
      const ssize_t length = getline(&whole, &room, in);
      say(" %zd %d %s", length, room > strlen(whole), whole);
      free(whole);
      sum += number;
    }
  }
#pragma omp parallel num_threads(threads)
  if (omp_get_thread_num() == threads - 1) {
    fpos_t here;
    char text[5000];
    say("seek %d\n", fseek(in, -10, SEEK_END));
    say("tell %ld\n", ftell(in));
    say("pos %d\n", fgetpos(in, &here));
    say("read %zu\n", fread(text, 1, sizeof text, in));
    say("eof %d error %d\n", feof(in) != 0, ferror(in) != 0);
    say("at the end: %d %d %d\n", fgetc(in), fgets(text, 10, in) == NULL, fscanf(in, "%d", &(int){0}));
    clearerr(in);
    say("eof %d\n", feof(in) != 0);
    say("set %d\n", fsetpos(in, &here));
    say("again %zu", fread(text, 1, sizeof text, in));
    say(" %.10s\n", text);
    rewind(in);
    char* piece = NULL;
    size_t room = 0;
    say("delimiter %zd", getdelim(&piece, &room, '9', in));
    say(" %s\n", piece);
    say("seeko %d", fseeko(in, 3, SEEK_CUR));
    say(" tello %ld\n", (long)ftello(in));
    free(piece);
    static char large[70000];
    rewind(in);
    const size_t all = fread(large, 1, sizeof large, in);
    say("%zu %.12s\n", all, large);
    say("close %d\n", fclose(in));
  }
  say("sum %ld\n", sum);
  print_said();
}

static void wide(void) {
  FILE* const file = tmpfile();
#pragma omp parallel num_threads(threads)
  if (omp_get_thread_num() == threads - 1) {
    say("wide %d\n", fwide(file, 1) > 0);
    say("put %d\n", fwprintf(file, L"%d %ls\n", 5, L"words"));
    say("put %d\n", fputws(L"more\n", file) >= 0);
    say("put %d\n", fputwc(L'x', file) == L'x');
    say("narrow fails: %d\n", fputs("text", file) < 0);
    rewind(file);
    wchar_t line[50];
    int number = 0;
    say("%ls", fgetws(line, 50, file));
    say("get %d\n", fgetwc(file));
    say("back %d\n", ungetwc(L'N', file) == L'N');
    say("%ls", fgetws(line, 50, file));
    say("last %d\n", fgetwc(file) == L'x');
    say("end %d\n", fgetwc(file) == WEOF);
  }
  fclose(file);
  print_said();
}

static void errors(const char* name) {
  FILE* const only_read = fopen(name, "r");
  FILE* const full = fopen("/dev/full", "w");
  FILE* const shut = tmpfile();
  FILE* const null = fopen("/dev/null", "w");
#pragma omp parallel num_threads(threads)
  if (omp_get_thread_num() == threads - 1) {
    errno = 0;
    say("read only: %d", fprintf(only_read, "text"));
    say(" %s, error %d\n", strerror(errno), ferror(only_read) != 0);
    errno = 0;
    say("write only: %d", fgetc(null));
    say(" %s\n", strerror(errno));
    errno = 0;
    say("full: put %d", fputs("text", full) >= 0);
    say(" flush %d", fflush(full));
    say(" %s, error %d\n", strerror(errno), ferror(full) != 0);
    setvbuf(full, NULL, _IONBF, 0);
    errno = 0;
    say("full, no buffer: %d", fprintf(full, "text"));
    say(" %s\n", strerror(errno));
    errno = 0;
    say("close %d", fclose(full));
    say(" %s\n", strerror(errno));
    fputs("text", shut);
    close(fileno(shut));
    errno = 0;
    say("its descriptor is closed: %d", fflush(shut));
    say(" %s\n", strerror(errno));
    errno = 0;
    say("none: %d", fopen("/none/of this", "r") == NULL);
    say(" %s\n", strerror(errno));
    errno = 0;
    say("bad mode: %d", fopen(name, "none") == NULL);
    say(" %s\n", strerror(errno));
    errno = 0;
    say("seek in a pipe: ");
    FILE* const pipe = popen("echo from a child; exit 3", "r");
    char line[100] = "";
    say("%d %s", fseek(pipe, 0, SEEK_SET), "in a pipe");
    say(" %s\n", strerror(errno));
    say("%s", fgets(line, sizeof line, pipe));
    say("status %d\n", pclose(pipe));
  }
  fclose(only_read);
  fclose(null);
  print_said();
}

// Opened in a region, used by others, closed by another.
static void opened_within(void) {
  char name[] = "/tmp/quire_streams_XXXXXX";
  close(mkstemp(name));
  FILE* by[threads] = {0};
#pragma omp parallel num_threads(threads)
  {
    const int me = omp_get_thread_num();
    char own[100];
    snprintf(own, sizeof own, "%s.%d", name, me);
    by[me] = fopen(own, "w+");
    setvbuf(by[me], NULL, _IOLBF, 1000);
    fprintf(by[me], "opened by %d\n", me);
#pragma omp barrier
    const int next = (me + 1) % threads;
    fprintf(by[next], "written by %d\n", me);
#pragma omp barrier
    if (me == 0) {
      for (int i = 0; i < threads; ++i) fprintf(by[i], "and by the first\n");
    }
#pragma omp barrier
    snprintf(own, sizeof own, "%s.%d", name, next);
    by[next] = freopen(own, "a+", by[next]);
    fprintf(by[next], "opened again by %d\n", me);
#pragma omp barrier
    if (me == threads - 1) fflush(NULL);
  }
  for (int i = 0; i < threads; ++i) {
    char own[100];
    snprintf(own, sizeof own, "%s.%d", name, i);
    show("opened within", by[i]);
    fclose(by[i]);
    remove(own);
  }
  remove(name);
  char* text = NULL;
  size_t length = 0;
  FILE* memory = NULL;
#pragma omp parallel num_threads(threads)
  {
    if (omp_get_thread_num() == threads - 1) memory = open_memstream(&text, &length);
#pragma omp barrier
#pragma omp for ordered schedule(static, 1)
    for (int i = 0; i < threads; ++i) {
#pragma omp ordered
      fprintf(memory, "part %d\n", i);
    }
  }
  fclose(memory);
  printf("%zu %s", length, text);
  free(text);
}

int main(int count, char** arguments) {
  (void)count;
  setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
  output();
  lines();
  input();
  wide();
  errors(arguments[0]);
  opened_within();
  return 0;
}
