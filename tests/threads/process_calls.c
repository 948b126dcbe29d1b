/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls that make processes, or change the caller's, on another node: `process_calls CALL`. */
#define _GNU_SOURCE
#include <errno.h>
#include <grp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const char* wanted;
static int value;

static int is(const char* name) { return strcmp(wanted, name) == 0; }
static void show(long result) {
  printf("%s: %s\n", wanted, result == -1 ? strerror(errno) : "done");
  if (result == -1 && errno == ENOTSUP) exit(4);
}
static int child(void* at) {
  ++*(int*)at;
  _exit(0);
}
static void wait_for(pid_t number) {
  int status = 0;
  if (number > 0 && waitpid(number, &status, __WALL) == number)
    printf("%s: child %s %d\n", wanted, WIFEXITED(status) ? "status" : "signal",
           WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
  if (number > 0 && status == 127 << 8) exit(3);
  if (number <= 0) show(number);
}

static void call(void) {
  char* const stack = (char*)malloc(1 << 16) + (1 << 16);
  if (is("setuid")) show(setuid(getuid()));
  if (is("setgid")) show(setgid(getgid()));
  if (is("seteuid")) show(seteuid(getuid()));
  if (is("setreuid")) show(setreuid(getuid(), getuid()));
  if (is("setresuid")) show(setresuid(getuid(), getuid(), getuid()));
  if (is("setgroups")) show(setgroups(0, NULL));
  if (is("other_user")) show(setuid(getuid() + 1));
  if (is("other_group")) show(setgid(getgid() + 1));
  if (is("setpgid")) show(setpgid(0, 0));
  if (is("unshare_fs")) show(unshare(CLONE_FS));
  if (is("unshare_files")) show(unshare(CLONE_FILES));
  if (is("unshare_user")) show(unshare(CLONE_NEWUSER));
  if (is("unshare_ns")) show(unshare(CLONE_NEWNS));
  if (is("clone_fork")) wait_for(clone(child, stack, SIGCHLD, &value));
  if (is("clone_vm")) wait_for(clone(child, stack, CLONE_VM | SIGCHLD, &value));
  if (is("clone_vfork")) wait_for(clone(child, stack, CLONE_VM | CLONE_VFORK | SIGCHLD, &value));
  if (is("clone_thread"))
    wait_for(clone(child, stack, CLONE_VM | CLONE_SIGHAND | CLONE_THREAD | CLONE_FS | CLONE_FILES, &value));
  if (is("fork")) {
    const pid_t made = fork();
    if (made == 0) child(&value);
    wait_for(made);
  }
  if (is("_Fork")) {
    const pid_t made = _Fork();
    if (made == 0) child(&value);
    wait_for(made);
  }
  if (is("syscall_fork")) {
    const pid_t made = syscall(SYS_fork);
    if (made == 0) child(&value);
    wait_for(made);
  }
  if (is("syscall_clone")) {
    const pid_t made = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (made == 0) child(&value);
    wait_for(made);
  }
  if (is("syscall_exit")) syscall(SYS_exit, 0);
  if (is("vfork")) {
    const pid_t made = vfork();
    if (made == 0) _exit(7);
    wait_for(made);
  }
  if (is("vfork_exec")) {
    const pid_t made = vfork();
    if (made == 0) {
      execl("/bin/true", "true", NULL);
      _exit(8);
    }
    wait_for(made);
  }
  if (is("daemon")) show(daemon(1, 1));
  if (is("execl")) execl("/bin/true", "true", NULL);
}

static void* live(void* at) {
  if ((size_t)at == (size_t)-1) call();
  return at;
}

int main(int count, char** arguments) {
  wanted = arguments[1];
  if (count > 2) call();
  if (count > 2) return puts("the end"), 0;
  /* with --place=round the second of two nodes */
  pthread_t threads[2];
  for (size_t i = 0; i < 2; ++i) {
    pthread_create(&threads[i], NULL, live, (void*)-i);
    pthread_join(threads[i], NULL);
  }
  puts("the end");
  return 0;
}
