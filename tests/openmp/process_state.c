/* SPDX-License-Identifier: BSD-3-Clause */
// The working directory, the environment, the mask of new files and the locale are the process's, whichever thread sets
// them.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <locale.h>
#include <omp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef ENVIRON
extern char** environ;
#endif

enum { threads = 4 };

static char said[100000];
static size_t said_length = 0;
static void say(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  said_length += vsnprintf(said + said_length, sizeof said - said_length, format, arguments);
  va_end(arguments);
}

static char base[] = "/tmp/quire_state_XXXXXX";

/// What each thread finds.
static void show(const char* when) {
#pragma omp parallel num_threads(threads)
#pragma omp for ordered schedule(static, 1)
  for (int i = 0; i < threads; ++i) {
#pragma omp ordered
    {
      char directory[PATH_MAX], *own = getcwd(NULL, 0), small[3];
      const char* const a = getenv("QUIRE_TEST_A");
      const char* const b = getenv("QUIRE_TEST_B");
      say("%s, %d: %s %s", when, i, getcwd(directory, sizeof directory) + strlen(base), own + strlen(base));
      errno = 0;
      say(" no room %d", getcwd(small, sizeof small) == NULL);
      say(" %s", strerror(errno));
      say(" a %s b %s home %d", a ? a : "-", b ? b : "-", getenv("PATH") != NULL);
      say(" locale %s", setlocale(LC_CTYPE, NULL));
      say(" file here: %d", access("here", F_OK));
      FILE* const child = popen("echo $QUIRE_TEST_A; pwd", "r");
      char line[100] = "";
      fgets(line, sizeof line, child);
      say(" child: %s", line);
      fgets(line, sizeof line, child);
      say(" in %s", line + strlen(base));
      pclose(child);
      free(own);
#ifdef ENVIRON
      int count = 0, found = 0;
      for (char** one = environ; one != NULL && *one != NULL; ++one, ++count)
        found += strncmp(*one, "QUIRE_TEST_", 11) == 0;
      say("variables of the test: %d\n", found);
#endif
    }
  }
}

static void touch(const char* name) {
  const int fd = open(name, O_CREAT | O_WRONLY, 0666);
  struct stat about;
  fstat(fd, &about);
  say("mode of %s: %o\n", name, about.st_mode & 0777);
  close(fd);
}

int main(void) {
  mkdtemp(base);
  chdir(base);
  mkdir("one", 0755);
  mkdir("two", 0755);
  show("at first");
  setenv("QUIRE_TEST_A", "of main", 1);
  chdir("one");
  touch("here");
  umask(027);
  show("set by main");
#pragma omp parallel num_threads(threads)
  {
    if (omp_get_thread_num() == threads - 1) {
      say("chdir %d\n", chdir("../two"));
      say("set %d\n", setenv("QUIRE_TEST_A", "of the last", 0));
      say("set %d\n", setenv("QUIRE_TEST_B", "of the last", 1));
      static char text[] = "QUIRE_TEST_A=by putenv";
      say("put %d\n", putenv(text));
      say("mask %o\n", umask(077));
      say("locale %s\n", setlocale(LC_ALL, "C.UTF-8"));
      say("no locale %d\n", setlocale(LC_ALL, "none of these") == NULL);
      touch("by the last");
      errno = 0;
      say("chdir %d", chdir("none of these"));
      say(" %s\n", strerror(errno));
      errno = 0;
      say("set %d", setenv("a=b", "text", 1));
      say(" %s\n", strerror(errno));
      char found[PATH_MAX];
      say("real path: %s\n", realpath("../two/./by the last", found) + strlen(base));
    }
#pragma omp barrier
    if (omp_get_thread_num() == threads / 2 - 1) {
      mkdir("of the second", 0777);
      const int directory = open("of the second", O_RDONLY);
      say("fchdir %d\n", fchdir(directory));
      close(directory);
      touch("here");
      say("unset %d\n", unsetenv("QUIRE_TEST_B"));
    }
#pragma omp barrier
    if (omp_get_thread_num() == threads - 1) setenv("QUIRE_TEST_C", "one more", 1);
  }
  show("set by others");
  for (int i = 0; i < 100; ++i) {
    char name[40];
    snprintf(name, sizeof name, "QUIRE_TEST_%d", i);
    if (i % 10 == 0) setenv(name, name, 1);
  }
#pragma omp parallel num_threads(threads)
  if (omp_get_thread_num() == threads - 1) unsetenv("QUIRE_TEST_50");
  show("many");
  setlocale(LC_ALL, "C");
#pragma omp parallel num_threads(threads)
  if (omp_get_thread_num() == threads - 1) clearenv();
  setenv("PATH", "/usr/bin:/bin", 1);
  show("at last");
  fputs(said, stdout);
  char command[100];
  snprintf(command, sizeof command, "rm -r %s", base);
  return system(command);
}
