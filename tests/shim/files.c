/* A layer between an unmodified server and its files, for the crash tests; loaded with LD_PRELOAD (Linux, glibc).
 *
 * It looks at the files below one folder, and at what is written to standard output, and does what the
 * environment says:
 *
 *   SHIM_FOLDER  the folder, absolute and without symbolic links; nothing happens without it
 *   SHIM_RECORD  a file to which every operation is appended, see `struct entry`; several processes share it
 *   SHIM_SYNC    "skip": syncs are recorded and not done, which takes the wait out of a recording
 *                "lie":  syncs are neither done nor recorded, the control that must lose something
 *   SHIM_FAULT   "CLASS ERRNO FIRST COUNT SHORT NAME": operations FIRST, FIRST + 1, ... of the class (write, sync,
 *                create, open, rename, unlink) fail with that error, COUNT of them (0: all from then on); SHORT 1 lets the first
 *                one write a half; NAME is the end of the file's name, "*" for any
 *   SHIM_QUOTA   no file grows beyond that many bytes: ENOSPC
 *   SHIM_ARM     operations count for SHIM_FAULT, SHIM_QUOTA and SHIM_KILL only after so many replies
 *   SHIM_FULL    a file, absolute: while it is there, every write fails with ENOSPC
 *   SHIM_HOLD    a file, absolute: while it is there, no sync begins
 *   SHIM_PIPES   "1": what is written to other pipes than standard output and error is recorded, too
 *   SHIM_KILL    "N TORN": the process kills itself at its Nth operation; TORN 1 leaves half of a write behind
 *   SHIM_CLOCK   "N MS N MS ...": at its Nth look at the wall clock, the clock jumps by so many milliseconds; or
 *                a file, absolute, whose first eight bytes say by how many milliseconds the clock is off at each look
 *
 * An operation's entry is appended between the operation's beginning and its end. Anything that happens after the
 * operation, in any process, therefore has its entry later: the order of entries is one in which everything could have
 * happened. A sync has two entries, and covers what was written before the first one.
 *
 * Locks (flock, fcntl) and reads are left alone. SQLite's -shm is mapped memory and nothing durable: it is not
 * looked at. Operations that go by relative names, pwritev and splices are not seen; the server uses none. */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

/* What an entry is about; tests/faults/crash/layer/record.rs has the same numbers. */
enum operation {
    CREATE = 1,   /* payload: name */
    WRITE = 2,    /* number: offset; payload: data */
    TRUNCATE = 3, /* number: size */
    EXTEND = 4,   /* number: size that the file has at least */
    SYNC = 5,
    SYNCED = 6, /* number: errno, 0 if it succeeded */
    UNLINK = 7, /* payload: name; number: names that the file has left */
    RENAME = 8, /* payload: old name, 0, new name */
    REPLY = 9,  /* payload: what was written to standard output */
    FAULT = 10, /* number: errno */
    LINK = 11,  /* payload: one name, 0, another name of the same file */
    SENT = 12,  /* payload: what was written to another pipe */
};

/* The head of an entry; the payload follows. */
struct entry {
    uint32_t payload;
    uint32_t operation;
    uint32_t process;
    uint32_t thread;
    uint64_t file; /* inode */
    uint64_t number;
};

/* What a descriptor leads to. */
enum kind { UNKNOWN = 0, OTHER, OURS, OUTPUT, PIPE };

struct descriptor {
    _Atomic int kind;
    _Atomic int pending; /* the error of a failed sync that this descriptor has not been told of */
    uint64_t inode;
    char name[128]; /* relative to the folder; empty for the folder itself */
};

#define DESCRIPTORS 4096
static struct descriptor table[DESCRIPTORS];

static char folder[1024];
static size_t folder_length;
static int record = -1;
static enum { SYNC_REAL, SYNC_SKIP, SYNC_LIE } syncing;
static dev_t output_device;
static ino_t output_inode;

static char fault_class[16], fault_name[64];
static int fault_errno, fault_short;
static long fault_first, fault_count;
static long quota, arm_after, kill_at, kill_torn;
static const char *full_while, *hold_while;
static int pipes;
static _Atomic long replies, in_class, operations;

#define JUMPS 64
static struct { long at; long long milliseconds; } jumps[JUMPS];
static int jump_count;
static _Atomic long looks;
/* By how many milliseconds the wall clock is off, in a file that a test writes. */
static _Atomic long long *off;

/* Operations hold it shared while they work and write their entry; who kills the process holds it alone, so that
 * nothing is done and not recorded. */
static pthread_rwlock_t alive = PTHREAD_RWLOCK_INITIALIZER;
/* Names change one at a time in all processes, with an flock on the record, or the entries of two changes of one name
 * could stand the wrong way round. */
static pthread_mutex_t names = PTHREAD_MUTEX_INITIALIZER;
static int names_lock = -1;

static void append(enum operation operation, uint64_t file, uint64_t number, const void *payload, size_t length)
{
    if (record < 0)
        return;
    struct entry entry = { (uint32_t)length, operation, (uint32_t)getpid(), (uint32_t)syscall(SYS_gettid), file, number };
    struct iovec parts[2] = { { &entry, sizeof entry }, { (void *)payload, length } };
    int before = errno;
    if (syscall(SYS_writev, record, parts, 2) != (long)(sizeof entry + length))
        abort(); /* a record with a hole proves nothing */
    errno = before;
}


__attribute__((constructor)) static void begin(void)
{
    const char *text = getenv("SHIM_FOLDER");
    if (!text || strlen(text) >= sizeof folder)
        return;
    if ((text = getenv("SHIM_RECORD"))) {
        int fd = (int)syscall(SYS_openat, AT_FDCWD, text, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
        int lock = (int)syscall(SYS_openat, AT_FDCWD, text, O_RDONLY | O_CLOEXEC, 0);
        /* Out of the way of the numbers that the server would get. */
        record = fcntl(fd, F_DUPFD_CLOEXEC, 900);
        names_lock = fcntl(lock, F_DUPFD_CLOEXEC, 900);
        syscall(SYS_close, fd);
        syscall(SYS_close, lock);
        if (record < 0 || names_lock < 0)
            abort();
    }
    struct stat output;
    if (fstat(1, &output) == 0) {
        output_device = output.st_dev;
        output_inode = output.st_ino;
    }
    if ((text = getenv("SHIM_SYNC")))
        syncing = !strcmp(text, "skip") ? SYNC_SKIP : !strcmp(text, "lie") ? SYNC_LIE : SYNC_REAL;
    if ((text = getenv("SHIM_FAULT"))
        && sscanf(text, "%15s %d %ld %ld %d %63s", fault_class, &fault_errno, &fault_first, &fault_count, &fault_short,
                  fault_name) != 6)
        abort();
    if ((text = getenv("SHIM_KILL")) && sscanf(text, "%ld %ld", &kill_at, &kill_torn) != 2)
        abort();
    full_while = getenv("SHIM_FULL");
    hold_while = getenv("SHIM_HOLD");
    pipes = getenv("SHIM_PIPES") != NULL;
    quota = (text = getenv("SHIM_QUOTA")) ? atol(text) : 0;
    arm_after = (text = getenv("SHIM_ARM")) ? atol(text) : 0;
    text = getenv("SHIM_CLOCK");
    if (text && *text == '/') {
        int fd = (int)syscall(SYS_openat, AT_FDCWD, text, O_RDONLY | O_CLOEXEC, 0);
        void *file = mmap(NULL, sizeof *off, PROT_READ, MAP_SHARED, fd, 0);
        if (file == MAP_FAILED)
            abort();
        off = file;
        syscall(SYS_close, fd);
    }
    while (text && jump_count < JUMPS) {
        int used = 0;
        if (sscanf(text, "%ld %lld%n", &jumps[jump_count].at, &jumps[jump_count].milliseconds, &used) != 2)
            break;
        jump_count++;
        text += used;
    }
    strcpy(folder, getenv("SHIM_FOLDER"));
    folder_length = strlen(folder);
}

/* The name below the folder; NULL for what is elsewhere or not looked at. */
static const char *ours(const char *path)
{
    if (!folder_length || !path || strncmp(path, folder, folder_length))
        return NULL;
    const char *rest = path + folder_length;
    if (*rest == 0)
        return rest;
    size_t length = strlen(rest);
    if (*rest != '/' || length > sizeof table[0].name || (length > 4 && !strcmp(rest + length - 4, "-shm")))
        return NULL;
    return rest + 1;
}

/* The descriptor's entry, looked up when it was not opened here. */
static struct descriptor *known(int fd)
{
    if (fd < 0 || fd >= DESCRIPTORS || !folder_length || fd == record || fd == names_lock)
        return NULL;
    struct descriptor *found = &table[fd];
    if (found->kind == UNKNOWN) {
        int before = errno;
        struct stat about;
        int is_open = fstat(fd, &about) == 0;
        int output = is_open && about.st_dev == output_device && about.st_ino == output_inode;
        int pipe = pipes && is_open && fd > 2 && S_ISFIFO(about.st_mode);
        found->kind = output ? OUTPUT : pipe ? PIPE : OTHER;
        errno = before;
    }
    return found;
}

static struct descriptor *file(int fd)
{
    struct descriptor *found = known(fd);
    return found && found->kind == OURS ? found : NULL;
}

static int armed(void)
{
    return replies >= arm_after;
}

static int ends_with(const char *name, const char *end)
{
    size_t length = strlen(name), tail = strlen(end);
    return !strcmp(end, "*") || (length >= tail && !strcmp(name + length - tail, end));
}

static int there(const char *path)
{
    int before = errno;
    int found = path && access(path, F_OK) == 0;
    errno = before;
    return found;
}

/* The error of a write that lets a file grow to that size. */
static int no_room(off_t size)
{
    return there(full_while) || (quota && armed() && size > quota) ? ENOSPC : 0;
}

/* Whether this operation of the class fails; `half` tells that it writes a half before. */
static int fails(const char *class, const char *name, int *half)
{
    if (strcmp(class, fault_class) || !armed() || !ends_with(name, fault_name))
        return 0;
    long number = ++in_class;
    if (number < fault_first || (fault_count && number >= fault_first + fault_count))
        return 0;
    if (half)
        *half = fault_short && number == fault_first;
    return fault_errno;
}

/* Ends the process if this is its last operation; `torn` writes half of it first. */
static void last_one(int fd, const void *data, size_t length, off_t offset)
{
    if (!kill_at || !armed() || ++operations != kill_at)
        return;
    struct descriptor *found = file(fd);
    if (kill_torn && found && length > 1) {
        ssize_t done = syscall(SYS_pwrite64, fd, data, length / 2, offset);
        if (done > 0)
            append(WRITE, found->inode, (uint64_t)offset, data, (size_t)done);
    }
    pthread_rwlock_wrlock(&alive);
    syscall(SYS_kill, getpid(), SIGKILL);
    for (;;)
        pause();
}

static int refuse(struct descriptor *about, int number)
{
    append(FAULT, about ? about->inode : 0, (uint64_t)number, about ? about->name : "", about ? strlen(about->name) : 0);
    errno = number;
    return -1;
}

/* ---- Names */

static void enter_names(void)
{
    pthread_rwlock_rdlock(&alive);
    pthread_mutex_lock(&names);
    if (names_lock >= 0)
        while (syscall(SYS_flock, names_lock, LOCK_EX) && errno == EINTR)
            ;
}

static void leave_names(void)
{
    int before = errno;
    if (names_lock >= 0)
        syscall(SYS_flock, names_lock, LOCK_UN);
    pthread_mutex_unlock(&names);
    pthread_rwlock_unlock(&alive);
    errno = before;
}

static void remember(int fd, const char *name, int created)
{
    struct stat about;
    if (fd < 0 || fd >= DESCRIPTORS || fstat(fd, &about))
        return;
    table[fd].inode = about.st_ino;
    table[fd].pending = 0;
    strcpy(table[fd].name, name);
    table[fd].kind = OURS;
    if (created)
        append(CREATE, about.st_ino, 0, name, strlen(name));
}

static int forget(int fd)
{
    if (fd >= 0 && fd < DESCRIPTORS)
        table[fd].kind = UNKNOWN;
    return fd;
}

static int refuse_name(const char *name, int number)
{
    struct descriptor about = { .inode = 0 };
    strcpy(about.name, name);
    return refuse(&about, number);
}

static int open_ours(int at, const char *path, const char *name, int flags, mode_t mode)
{
    int writes = (flags & O_ACCMODE) != O_RDONLY, failed;
    if (writes && (failed = fails("open", name, NULL)))
        return refuse_name(name, failed);
    int fd = -1;
    do { /* Another process may create or remove it between the two looks. */
        if (!(flags & O_CREAT)) {
            fd = (int)syscall(SYS_openat, at, path, flags, mode);
            if (fd >= 0)
                remember(fd, name, 0);
            break;
        }
        if (access(path, F_OK) && (failed = fails("create", name, NULL)))
            return refuse_name(name, failed);
        if (access(path, F_OK))
            last_one(-1, NULL, 0, 0);
        enter_names();
        fd = (int)syscall(SYS_openat, at, path, flags | O_EXCL, mode);
        if (fd >= 0)
            remember(fd, name, 1);
        leave_names();
        if (fd >= 0 || errno != EEXIST || flags & O_EXCL)
            break;
        fd = (int)syscall(SYS_openat, at, path, flags & ~O_CREAT, mode);
        if (fd >= 0)
            remember(fd, name, 0);
    } while (fd < 0 && errno == ENOENT);
    if (fd >= 0 && flags & O_TRUNC)
        append(TRUNCATE, table[fd].inode, 0, NULL, 0);
    return fd;
}

static int open_any(int at, const char *path, int flags, mode_t mode)
{
    const char *name = ours(path);
    if (name)
        return open_ours(at, path, name, flags, mode);
    return forget((int)syscall(SYS_openat, at, path, flags, mode));
}

#define MODE(flags)                                   \
    mode_t mode = 0;                                  \
    if ((flags) & (O_CREAT | (O_TMPFILE & ~O_DIRECTORY))) { \
        va_list rest;                                 \
        va_start(rest, flags);                        \
        mode = va_arg(rest, mode_t);                  \
        va_end(rest);                                 \
    }

int open(const char *path, int flags, ...) { MODE(flags) return open_any(AT_FDCWD, path, flags, mode); }
int open64(const char *path, int flags, ...) { MODE(flags) return open_any(AT_FDCWD, path, flags, mode); }
int openat(int at, const char *path, int flags, ...) { MODE(flags) return open_any(at, path, flags, mode); }
int openat64(int at, const char *path, int flags, ...) { MODE(flags) return open_any(at, path, flags, mode); }
int creat(const char *path, mode_t mode) { return open_any(AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, mode); }

int close(int fd)
{
    if (fd >= 0 && (fd == record || fd == names_lock))
        return 0;
    forget(fd);
    return (int)syscall(SYS_close, fd);
}

int unlink(const char *path)
{
    const char *name = ours(path);
    if (!name)
        return (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
    int failed = access(path, F_OK) ? 0 : fails("unlink", name, NULL);
    if (failed)
        return refuse_name(name, failed);
    last_one(-1, NULL, 0, 0);
    enter_names();
    struct stat about;
    int known = stat(path, &about) == 0;
    int done = (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
    if (done == 0 && known)
        append(UNLINK, about.st_ino, about.st_nlink - 1, name, strlen(name));
    leave_names();
    return done;
}

/* A rename or a link: a file gets another name. */
static int name_anew(enum operation operation, const char *from, const char *to, unsigned flags)
{
    const char *old = ours(from), *new = ours(to);
    int failed = old && new && operation == RENAME ? fails("rename", new, NULL) : 0;
    if (failed)
        return refuse_name(new, failed);
    if (old && new) {
        last_one(-1, NULL, 0, 0);
        enter_names();
    }
    int done = operation == RENAME ? (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, flags)
                                   : (int)syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, flags);
    if (!old || !new)
        return done;
    if (done == 0) {
        char both[2 * sizeof table[0].name + 2];
        size_t length = (size_t)snprintf(both, sizeof both, "%s", old) + 1;
        length += (size_t)snprintf(both + length, sizeof both - length, "%s", new);
        append(operation, 0, 0, both, length);
    }
    leave_names();
    return done;
}

int rename(const char *from, const char *to) { return name_anew(RENAME, from, to, 0); }

/* Names relative to a folder other than the working directory are not looked at. */
int renameat2(int at, const char *from, int to_at, const char *to, unsigned flags)
{
    if (at != AT_FDCWD || to_at != AT_FDCWD)
        return (int)syscall(SYS_renameat2, at, from, to_at, to, flags);
    return name_anew(RENAME, from, to, flags);
}

int link(const char *from, const char *to) { return name_anew(LINK, from, to, 0); }

int linkat(int at, const char *from, int to_at, const char *to, int flags)
{
    if (at != AT_FDCWD || to_at != AT_FDCWD)
        return (int)syscall(SYS_linkat, at, from, to_at, to, flags);
    return name_anew(LINK, from, to, (unsigned)flags);
}

/* ---- Data */

static ssize_t write_ours(int fd, struct descriptor *about, const void *data, size_t length, off_t offset)
{
    int half = 0, failed = fails("write", about->name, &half);
    if (!failed)
        failed = no_room(offset + (off_t)length);
    last_one(fd, data, length, offset);
    if (failed && !(half && length > 1))
        return refuse(about, failed);
    pthread_rwlock_rdlock(&alive);
    ssize_t done = syscall(SYS_pwrite64, fd, data, half ? length / 2 : length, offset);
    if (half)
        append(FAULT, about->inode, 0, about->name, strlen(about->name));
    if (done > 0)
        append(WRITE, about->inode, (uint64_t)offset, data, (size_t)done);
    pthread_rwlock_unlock(&alive);
    return done;
}

static ssize_t write_any(int fd, const void *data, size_t length)
{
    struct descriptor *about = known(fd);
    if (about && about->kind == OURS) {
        off_t offset = lseek(fd, 0, fcntl(fd, F_GETFL) & O_APPEND ? SEEK_END : SEEK_CUR);
        ssize_t done = write_ours(fd, about, data, length, offset);
        if (done > 0)
            lseek(fd, offset + done, SEEK_SET);
        return done;
    }
    int said = about && (about->kind == OUTPUT || about->kind == PIPE);
    if (said)
        pthread_rwlock_rdlock(&alive);
    ssize_t done = syscall(SYS_write, fd, data, length);
    if (said) {
        if (done > 0) {
            replies += about->kind == OUTPUT;
            append(about->kind == OUTPUT ? REPLY : SENT, 0, 0, data, (size_t)done);
        }
        pthread_rwlock_unlock(&alive);
    }
    return done;
}

ssize_t write(int fd, const void *data, size_t length) { return write_any(fd, data, length); }

ssize_t writev(int fd, const struct iovec *parts, int count)
{
    struct descriptor *about = known(fd);
    if (!about || about->kind == OTHER)
        return syscall(SYS_writev, fd, parts, count);
    /* A write of the first part is a short writev, which every caller must be ready for. */
    for (int part = 0; part < count; part++)
        if (parts[part].iov_len)
            return write_any(fd, parts[part].iov_base, parts[part].iov_len);
    return 0;
}

ssize_t pwrite(int fd, const void *data, size_t length, off_t offset)
{
    struct descriptor *about = file(fd);
    return about ? write_ours(fd, about, data, length, offset) : syscall(SYS_pwrite64, fd, data, length, offset);
}

ssize_t pwrite64(int fd, const void *data, size_t length, off64_t offset) { return pwrite(fd, data, length, offset); }

static int resize(int fd, off_t size)
{
    struct descriptor *about = file(fd);
    if (!about)
        return (int)syscall(SYS_ftruncate, fd, size);
    struct stat before;
    int failed = 0;
    if (fstat(fd, &before) == 0 && size > before.st_size) {
        failed = fails("write", about->name, NULL);
        if (!failed)
            failed = no_room(size);
    }
    last_one(fd, NULL, 0, 0);
    if (failed)
        return refuse(about, failed);
    pthread_rwlock_rdlock(&alive);
    int done = (int)syscall(SYS_ftruncate, fd, size);
    if (done == 0)
        append(TRUNCATE, about->inode, (uint64_t)size, NULL, 0);
    pthread_rwlock_unlock(&alive);
    return done;
}

int ftruncate(int fd, off_t size) { return resize(fd, size); }
int ftruncate64(int fd, off64_t size) { return resize(fd, size); }

static int allocate(int fd, int mode, off_t offset, off_t length)
{
    struct descriptor *about = file(fd);
    if (!about)
        return (int)syscall(SYS_fallocate, fd, mode, offset, length);
    if (mode & ~FALLOC_FL_KEEP_SIZE) { /* No other kind is modelled. */
        errno = EOPNOTSUPP;
        return -1;
    }
    int failed = fails("write", about->name, NULL);
    if (!failed)
        failed = no_room(offset + length);
    last_one(fd, NULL, 0, 0);
    if (failed)
        return refuse(about, failed);
    pthread_rwlock_rdlock(&alive);
    int done = (int)syscall(SYS_fallocate, fd, mode, offset, length);
    if (done == 0 && !(mode & FALLOC_FL_KEEP_SIZE))
        append(EXTEND, about->inode, (uint64_t)(offset + length), NULL, 0);
    pthread_rwlock_unlock(&alive);
    return done;
}

int fallocate(int fd, int mode, off_t offset, off_t length) { return allocate(fd, mode, offset, length); }
int fallocate64(int fd, int mode, off64_t offset, off64_t length) { return allocate(fd, mode, offset, length); }
int posix_fallocate(int fd, off_t offset, off_t length) { return allocate(fd, 0, offset, length) ? errno : 0; }
int posix_fallocate64(int fd, off64_t offset, off64_t length) { return allocate(fd, 0, offset, length) ? errno : 0; }

/* ---- Syncs */

/* Linux tells every open descriptor of a file once that its data could not be written (errseq_t). */
static void tell_others(struct descriptor *failed, int number)
{
    for (int fd = 0; fd < DESCRIPTORS; fd++)
        if (&table[fd] != failed && table[fd].kind == OURS && table[fd].inode == failed->inode)
            table[fd].pending = number;
}

static int sync_any(int fd, long call)
{
    struct descriptor *about = file(fd);
    if (!about)
        return (int)syscall(call, fd);
    last_one(fd, NULL, 0, 0);
    while (there(hold_while))
        usleep(1000);
    if (syncing == SYNC_LIE)
        return 0;
    append(SYNC, about->inode, 0, NULL, 0);
    int told = atomic_exchange(&about->pending, 0);
    int failed = told ? told : fails("sync", about->name, NULL);
    if (failed) {
        if (!told)
            tell_others(about, failed);
        append(SYNCED, about->inode, (uint64_t)failed, NULL, 0);
        return refuse(about, failed);
    }
    int done = syncing == SYNC_SKIP ? 0 : (int)syscall(call, fd);
    append(SYNCED, about->inode, done ? (uint64_t)errno : 0, NULL, 0);
    return done;
}

int fsync(int fd) { return sync_any(fd, SYS_fsync); }
int fdatasync(int fd) { return sync_any(fd, SYS_fdatasync); }

/* ---- Time */

static long long shift(void)
{
    long look = ++looks;
    long long total = off ? atomic_load(off) : 0;
    for (int jump = 0; jump < jump_count; jump++)
        if (look >= jumps[jump].at)
            total += jumps[jump].milliseconds;
    return total;
}

int clock_gettime(clockid_t clock, struct timespec *time)
{
    int done = (int)syscall(SYS_clock_gettime, clock, time);
    if (done == 0 && clock == CLOCK_REALTIME && (jump_count || off)) {
        long long by = shift();
        time->tv_sec += by / 1000;
        time->tv_nsec += (long)(by % 1000) * 1000000L;
        if (time->tv_nsec >= 1000000000L) {
            time->tv_nsec -= 1000000000L;
            time->tv_sec++;
        } else if (time->tv_nsec < 0) {
            time->tv_nsec += 1000000000L;
            time->tv_sec--;
        }
    }
    return done;
}

int gettimeofday(struct timeval *time, void *zone)
{
    (void)zone;
    struct timespec now;
    if (clock_gettime(CLOCK_REALTIME, &now))
        return -1;
    time->tv_sec = now.tv_sec;
    time->tv_usec = now.tv_nsec / 1000;
    return 0;
}
