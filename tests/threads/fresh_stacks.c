/* SPDX-License-Identifier: BSD-3-Clause */
// Functions of libc that hand memory of the caller's stack to the kernel by themselves, where nobody can stand in front
// of the call: on stacks that nobody has touched below the caller's frame, which ends at three places of a page. The
// kernel would find nothing there.
#define _GNU_SOURCE
#include <alloca.h>
#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <grp.h>
#include <ifaddrs.h>
#include <limits.h>
#include <mntent.h>
#include <net/if.h>
#include <netdb.h>
#include <pthread.h>
#include <pwd.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>
#include <wordexp.h>

enum { large = 300000, room = 200, jobs_most = 600 };
extern char** environ;
static char name[] = "/tmp/quire_fresh_stacks_XXXXXX";
static char* block; /* `large` bytes, of the heap */

#define FUNCTION(name) static void name(char* out)
#define SAY(...) snprintf(out, room, __VA_ARGS__)

FUNCTION(write_blocks) {
  FILE* const file = fopen(name, "w");
  const size_t written = fwrite(block, 1, large, file);
  const int failed = ferror(file);
  SAY("%zu, %d, %d", written, failed, fclose(file));
}
FUNCTION(read_blocks) {
  FILE* const file = fopen(name, "r");
  size_t got = 0, all = 0;
  int parts = 0;
  for (; (got = fread(block, 1, 131072, file)) > 0; ++parts) all += got;
  SAY("%zu in %d, %d, %d", all, parts, ferror(file), feof(file));
  fclose(file);
}
FUNCTION(read_lines) {
  FILE* const file = fopen("/etc/passwd", "r");
  char* line = NULL;
  size_t size = 0;
  const ssize_t length = getline(&line, &size, file);
  SAY("%ld %s", (long)length, line);
  free(line);
  fclose(file);
}
FUNCTION(print_long) {
  FILE* const file = fopen(name, "w");
  const int printed = fprintf(file, "%.*s|%s", 20000, block, "end");
  fclose(file);
  struct stat is;
  stat(name, &is);
  SAY("%d, %ld", printed, (long)is.st_size);
}
FUNCTION(print_unbuffered) {
  FILE* const file = fopen(name, "w");
  setvbuf(file, NULL, _IONBF, 0);
  const int printed = fprintf(file, "%d %s %g\n", 5, "and", 2.5);
  SAY("%d, %d", printed, fclose(file));
}
FUNCTION(print_to_descriptor) { SAY("%d", dprintf(fileno(stderr), "%s", "")); }
FUNCTION(make_files) {
  char one[] = "/tmp/quire_fresh_XXXXXX", folder[] = "/tmp/quire_fresh_XXXXXX";
  const int file = mkstemp(one);
  FILE* const without_name = tmpfile();
  SAY("%d, %d, %d", file >= 0, mkdtemp(folder) != NULL, without_name != NULL);
  fclose(without_name);
  close(file);
  remove(one);
  remove(folder);
}
FUNCTION(real_names) {
  char path[PATH_MAX];
  const char* const found = realpath("/usr/../etc/passwd", path);
  SAY("%s %d %d", found, canonicalize_file_name("/proc/self/exe") != NULL, getcwd(NULL, 0) != NULL);
}
FUNCTION(folders) {
  DIR* const folder = opendir("/etc");
  int entries = 0;
  while (readdir(folder) != NULL) ++entries;
  closedir(folder);
  struct dirent** list = NULL;
  glob_t found = {0};
  const int sorted = scandir("/etc", &list, NULL, alphasort), error = glob("/etc/pass*", 0, NULL, &found);
  SAY("%d %d %d %zu", entries, sorted, error, found.gl_pathc);
}
FUNCTION(commands) {
  FILE* const pipe = popen("echo out", "r");
  char line[20] = "";
  pid_t child = 0;
  char* arguments[] = {"true", NULL};
  int status = -1;
  if (posix_spawnp(&child, "true", NULL, NULL, arguments, environ) == 0) waitpid(child, &status, 0);
  const int ended = system("exit 3");
  const char* const got = fgets(line, sizeof line, pipe);
  SAY("%s %d %x %d", got, pclose(pipe), (unsigned)ended, status);
}
FUNCTION(words) {
  wordexp_t found;
  const int error = wordexp("$(echo one two) three", &found, 0);
  SAY("%d %zu %s", error, found.we_wordc, found.we_wordv[1]);
}
FUNCTION(people) {
  struct passwd user, *found = NULL;
  char text[2000];
  gid_t groups[100];
  int count = 100;
  const int error = getpwuid_r(0, &user, text, sizeof text, &found);
  const int of_root = getgrouplist("root", 0, groups, &count);
  SAY("%d %d %s %d", error, getpwnam("root") != NULL, getgrnam("root")->gr_name, of_root);
}
FUNCTION(networks) {
  struct addrinfo* found = NULL;
  struct ifaddrs* all = NULL;
  char interface[IF_NAMESIZE] = "";
  const int error = getaddrinfo("127.0.0.1", "80", NULL, &found);
  SAY("%d %d %u %s %d", error, getifaddrs(&all), if_nametoindex("lo"), if_indextoname(1, interface),
      getservbyname("ssh", "tcp") != NULL);
}
FUNCTION(machine) {
  double load[3];
  struct utsname is;
  struct statvfs disk;
  char host[100];
  SAY("%d %d %d %d %d %d", getloadavg(load, 3), get_nprocs() > 0, uname(&is), gethostname(host, sizeof host),
      statvfs("/", &disk), get_phys_pages() > 0);
}
FUNCTION(mounts) {
  FILE* const file = setmntent("/proc/mounts", "r");
  SAY("%d", getmntent(file) != NULL);
  endmntent(file);
}
FUNCTION(threads_own) {
  pthread_attr_t is;
  cpu_set_t on;
  char called[20] = "";
  pthread_setname_np(pthread_self(), "fresh");
  const int error = pthread_getname_np(pthread_self(), called, sizeof called);
  SAY("%d %d %d %s", pthread_getattr_np(pthread_self(), &is), pthread_getaffinity_np(pthread_self(), sizeof on, &on),
      error, called);
}
FUNCTION(times) {
  timer_t timer;
  struct itimerspec left;
  const struct timeval both[2] = {{1, 2}, {3, 4}};
  const int made = timer_create(CLOCK_MONOTONIC, NULL, &timer);
  const int asked = timer_gettime(timer, &left);
  SAY("%d %d %d %d %d", made, asked, timer_delete(timer), utimes(name, both), usleep(10));
}
FUNCTION(log_line) {
  openlog("fresh", 0, LOG_USER);
  syslog(LOG_DEBUG, "%d", 1);
  closelog();
  SAY("logged");
}

#define ROW(name) \
  { #name, name, 2000 }
#define FINE(name) \
  { #name, name, 16 }
static const struct row {
  const char* name;
  void (*call)(char*);
  int step; /* bytes: libc holds all signals while it makes a child, and needs little more of the stack than before */
} rows[] = {ROW(write_blocks),
            ROW(read_blocks),
            ROW(read_lines),
            ROW(print_long),
            ROW(print_unbuffered),
            ROW(print_to_descriptor),
            ROW(make_files),
            ROW(real_names),
            ROW(folders),
            FINE(commands),
            FINE(words),
            ROW(people),
            ROW(networks),
            ROW(machine),
            ROW(mounts),
            ROW(threads_own),
            ROW(times),
            ROW(log_line)};

static sem_t done, end;

struct job {
  const struct row* what;
  int behind; /* bytes of the frame in its last page */
  char out[room];
};

static void* work(void* argument) {
  struct job* const job = argument;
  const unsigned long here = (unsigned long)__builtin_frame_address(0);
  volatile char* const frame = alloca(here % 4096 + 2 * 4096 - job->behind);
  frame[0] = 1;
  job->what->call(job->out);
  sem_post(&done);
  sem_wait(&end); /* so that no other thread gets this stack */
  return NULL;
}

int main(void) {
  close(mkstemp(name));
  block = malloc(large);
  memset(block, 'x', large);
  sem_init(&done, 0, 0);
  sem_init(&end, 0, 0);
  static struct job jobs[jobs_most];
  pthread_t threads[jobs_most];
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 256 << 10);
  int count = 0;
  for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
    for (int behind = 100; behind <= 4100; behind += rows[i].step, ++count) {
      jobs[count] = (struct job){&rows[i], behind, ""};
      pthread_create(&threads[count], &small, work, &jobs[count]);
      while (sem_wait(&done) != 0) {
      }
      printf("%s: %s\n", rows[i].name, jobs[count].out);
    }
  }
  for (int i = 0; i < count; ++i) sem_post(&end);
  for (int i = 0; i < count; ++i) pthread_join(threads[i], NULL);
  remove(name);
  return 0;
}
