/* SPDX-License-Identifier: BSD-3-Clause */
// Calls of files that few programs make, old ones, and those of _FORTIFY_SOURCE, by a thread of each node. Names lead
// through a descriptor, so that they are of the process that has it.
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <omp.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <termios.h>
#include <unistd.h>
#include <wchar.h>

wchar_t* __fgetws_unlocked_chk(wchar_t*, size_t, int, FILE*);
int __xstat(int, const char*, struct stat*);
int __xstat64(int, const char*, struct stat64*);
int __lxstat(int, const char*, struct stat*);
int __lxstat64(int, const char*, struct stat64*);
int __fxstatat(int, int, const char*, struct stat*, int);
int __fxstatat64(int, int, const char*, struct stat64*, int);
int __xmknod(int, const char*, mode_t, dev_t*);
ssize_t __readlink_chk(const char*, char*, size_t, size_t);
ssize_t __readlinkat_chk(int, const char*, char*, size_t, size_t);
int __ppoll_chk(struct pollfd*, nfds_t, const struct timespec*, const sigset_t*, size_t);
int __ttyname_r_chk(int, char*, size_t, size_t);
int isfdtype(int, int);

/// By its name: the linker warns of those who call it.
#define DANGEROUS(name, ...) ((char* (*)(__VA_ARGS__))dlsym(RTLD_DEFAULT, #name))

enum { threads = 4 };

static char said[100000];
static size_t said_length = 0;
static void say(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  said_length += vsnprintf(said + said_length, sizeof said - said_length, format, arguments);
  va_end(arguments);
}
static void say_result(const char* what, long result) {
  const int error = errno;
  say("%s: %ld %s\n", what, result, result < 0 ? strerror(error) : "");
  errno = 0;
}

static char base[] = "/tmp/quire_rare_XXXXXX";
static int directory = -1;
static char found_name[100];
static const char* within(const char* name) {
  snprintf(found_name, sizeof found_name, "/proc/self/fd/%d/%s", directory, name);
  return found_name;
}

static void wide_streams(void) {
  FILE* const stream = fopen(within("wide"), "w+");
  say_result("fputwc_unlocked", fputwc_unlocked(L'a', stream));
  say_result("putwc_unlocked", putwc_unlocked(L'b', stream));
  say_result("fputws_unlocked", fputws_unlocked(L"cd\nef\ngh\n", stream) >= 0);
  say("%zu %d %d %d\n", __fbufsize(stream), __flbf(stream) != 0, __freadable(stream) != 0, __fwritable(stream) != 0);
  say("writing %d\n", __fwriting(stream) != 0);
  rewind(stream);
  wchar_t line[20];
  say("%ls", fgetws_unlocked(line, 20, stream));
  say("%ls", __fgetws_unlocked_chk(line, 20, 20, stream));
  say("reading %d\n", __freading(stream) != 0);
  say_result("fclose", fclose(stream));
}

static void standard_input(void) {
  char line[4000];
  say("%s\n", DANGEROUS(gets, char*)(line));
  say("%s\n", DANGEROUS(__gets_chk, char*, size_t)(line, sizeof line));
}

static int is_kept(const struct dirent* one) { return one->d_name[0] != '.' && one->d_name[0] != 'w'; }
static int is_kept64(const struct dirent64* one) { return one->d_name[0] == 'l'; }
static void directories(void) {
  struct dirent** list = NULL;
  int count = scandirat(directory, ".", &list, is_kept, alphasort);
  say_result("scandirat", count);
  for (int i = 0; i < count; free(list[i++])) say("%s\n", list[i]->d_name);
  free(list);
  count = scandir(within("."), &list, is_kept, versionsort);
  say_result("scandir", count);
  for (int i = 0; i < count; free(list[i++])) say("%s\n", list[i]->d_name);
  free(list);
  struct dirent64** list64 = NULL;
  count = scandirat64(directory, ".", &list64, is_kept64, NULL);
  say_result("scandirat64", count);
  for (int i = 0; i < count; free(list64[i++])) say("%s\n", list64[i]->d_name);
  free(list64);
  say_result("scandir", scandir(within("none"), &list, NULL, NULL));
  DIR* const open_one = opendir(within("."));
  struct dirent own, *found = NULL;
  int all = 0, error = 0;
  while ((error = readdir_r(open_one, &own, &found)) == 0 && found == &own) all += is_kept(&own);
  say("readdir_r %d %d\n", error, all);
  rewinddir(open_one);
  struct dirent64 own64, *found64 = NULL;
  all = 0;
  while ((error = readdir64_r(open_one, &own64, &found64)) == 0 && found64 == &own64) all += is_kept64(&own64);
  say("readdir64_r %d %d\n", error, all);
  closedir(open_one);
}

static void names(void) {
  struct stat about;
  struct stat64 about64;
  say_result("xstat", __xstat(1, within("link"), &about));
  say("%ld\n", (long)about.st_size);
  say_result("xstat64", __xstat64(1, within("link"), &about64));
  say("%ld\n", (long)about64.st_size);
  say_result("lxstat", __lxstat(1, within("link"), &about));
  say("%ld\n", (long)about.st_size);
  say_result("lxstat64", __lxstat64(1, within("link"), &about64));
  say("%ld\n", (long)about64.st_size);
  say_result("fxstatat", __fxstatat(1, directory, "link", &about, AT_SYMLINK_NOFOLLOW));
  say("%ld\n", (long)about.st_size);
  say_result("fxstatat64", __fxstatat64(1, directory, "link", &about64, 0));
  say("%ld\n", (long)about64.st_size);
  dev_t none = 0;
  say_result("xmknod", __xmknod(0, within("pipe"), S_IFIFO | 0600, &none));
  say_result("unlink", unlink(within("pipe")));
  char text[200] = "";
  say_result("readlink", __readlink_chk(within("link"), text, 100, sizeof text));
  say("%s\n", text);
  say_result("readlinkat", __readlinkat_chk(directory, "link", text, 100, sizeof text));
  struct timeval times[2] = {{1000, 0}, {2000, 0}};
  say_result("lutimes", lutimes(within("link"), times));
  lstat(within("link"), &about);
  say("%ld\n", (long)about.st_mtime);
  say_result("futimesat", futimesat(directory, "file", times));
  stat(within("file"), &about);
  say("%ld\n", (long)about.st_mtime);
  say_result("lchmod", lchmod(within("file"), 0640));
  say("ftok %d\n", ftok(within("file"), 7) != -1);
  char unique[200];
  strcpy(unique, within("t_XXXXXX"));
  say("mktemp %d\n", DANGEROUS(mktemp, char*)(unique)[0] == '/');
  char* const other = DANGEROUS(tempnam, const char*, const char*)(base, "t_");
  say("tempnam %.3s\n", other == NULL ? "none" : other + strlen(base));
  free(other);
  say("getwd %d %d\n", strcmp(DANGEROUS(getwd, char*)((char[5000]){0}), "/") == 0,
      strcmp(DANGEROUS(__getwd_chk, char*, size_t)((char[5000]){0}, 5000), "/") == 0);
}

static void descriptors(void) {
  const int fd = openat(directory, "file", O_RDWR), none = socket(AF_UNIX, SOCK_STREAM, 0);
  struct timeval times[2] = {{3000, 0}, {4000, 0}};
  struct stat about;
  say_result("futimes", futimes(fd, times));
  fstat(fd, &about);
  say("%ld\n", (long)about.st_mtime);
  say_result("isfdtype", isfdtype(none, S_IFSOCK));
  say_result("sockatmark", sockatmark(fd));
  say_result("tcdrain", tcdrain(fd));
  say_result("tcgetpgrp", tcgetpgrp(fd));
  struct pollfd one = {fd, POLLIN};
  const struct timespec limit = {0, 0};
  say_result("ppoll", __ppoll_chk(&one, 1, &limit, NULL, sizeof one));
  say("%d\n", one.revents);
  off_t at = 0;
  char entries[2000];
  const ssize_t got = getdirentries(directory, entries, sizeof entries, &at);
  say_result("getdirentries", got < 0 ? got : 0);
  lseek(directory, 0, SEEK_SET);
  const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
  say("terminal %d\n", terminal >= 0);
  if (terminal >= 0) {
    char name[50] = "", other[50] = "";
    say("%d %d\n", grantpt(terminal), unlockpt(terminal));
    say("%d %.9s\n", ptsname_r(terminal, name, sizeof name), name);
    const int end = open(name, O_RDWR | O_NOCTTY);
    say("%d\n", ttyname_r(end, other, sizeof other));
    say("%d\n", __ttyname_r_chk(end, other, 40, sizeof other));
    say("%d\n", tcflush(end, TCIOFLUSH));
    close(end);
  }
  close(terminal);
  close(fd);
  close(none);
}

int main(void) {
  if (mkdtemp(base) == NULL) return 1;
  directory = open(base, O_RDONLY | O_DIRECTORY);
  chdir("/");
  for (const char* name = "abc"; *name != 0; ++name)
    close(openat(directory, (char[]){*name, 0}, O_CREAT | O_WRONLY, 0600));
  FILE* const file = fopen(within("file"), "w");
  fputs("of some length", file);
  fclose(file);
  symlinkat("file", directory, "link");
#pragma omp parallel for ordered schedule(static, 1) num_threads(threads)
  for (int i = 0; i < threads; ++i) {
#pragma omp ordered
    {
      say("thread %d\n", i);
      wide_streams();
      standard_input();
      directories();
      names();
      descriptors();
    }
  }
  fputs(said, stdout);
  fflush(stdout);
  char command[100];
  snprintf(command, sizeof command, "rm -r %s", base);
  return system(command);
}
