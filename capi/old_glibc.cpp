// With SINEW_OLD_GLIBC the C interface runs with glibc 2.28, as in RHEL 8 and with it Maya and Houdini: functions
// that got a new version since then are taken in their old one. Versions differ in errno and signals of
// mathematical functions, which nothing reads, and in where the linker finds a function. No header is included: it
// would declare the new ones. All of these names are local in the library (exports.map).
struct stat;

#define SINEW_OLD(result, name, parameters, arguments)       \
    extern "C" result old_##name parameters;                 \
    __asm__(".symver old_" #name ", " #name "@GLIBC_2.2.5"); \
    extern "C" result name parameters { return old_##name arguments; }

SINEW_OLD(double, exp, (double x), (x))
SINEW_OLD(double, exp2, (double x), (x))
SINEW_OLD(double, log, (double x), (x))
SINEW_OLD(double, log2, (double x), (x))
SINEW_OLD(double, pow, (double x, double y), (x, y))
SINEW_OLD(double, hypot, (double x, double y), (x, y))

// In libdl and libpthread before glibc 2.34.
SINEW_OLD(int, dladdr, (const void* address, void* info), (address, info))
SINEW_OLD(int, pthread_create, (unsigned long* thread, const void* attributes, void* (*run)(void*), void* user),
          (thread, attributes, run, user))
SINEW_OLD(int, pthread_join, (unsigned long thread, void** result), (thread, result))
SINEW_OLD(int, pthread_detach, (unsigned long thread), (thread))
SINEW_OLD(int, pthread_once, (int* once, void (*run)()), (once, run))
SINEW_OLD(int, pthread_key_create, (unsigned* key, void (*destroy)(void*)), (key, destroy))
SINEW_OLD(int, __pthread_key_create, (unsigned* key, void (*destroy)(void*)), (key, destroy))
SINEW_OLD(int, pthread_key_delete, (unsigned key), (key))
SINEW_OLD(void*, pthread_getspecific, (unsigned key), (key))
SINEW_OLD(int, pthread_setspecific, (unsigned key, const void* value), (key, value))
SINEW_OLD(int, pthread_rwlock_rdlock, (void* lock), (lock))
SINEW_OLD(int, pthread_rwlock_wrlock, (void* lock), (lock))
SINEW_OLD(int, pthread_rwlock_unlock, (void* lock), (lock))

// stat was inline before 2.33, over these. The first argument is the version of the struct.
extern "C" int old_xstat(int version, const char* path, struct stat* out);
extern "C" int old_lxstat(int version, const char* path, struct stat* out);
extern "C" int old_fxstat(int version, int file, struct stat* out);
__asm__(".symver old_xstat, __xstat@GLIBC_2.2.5");
__asm__(".symver old_lxstat, __lxstat@GLIBC_2.2.5");
__asm__(".symver old_fxstat, __fxstat@GLIBC_2.2.5");
extern "C" int stat(const char* path, struct stat* out) { return old_xstat(1, path, out); }
extern "C" int stat64(const char* path, struct stat* out) { return old_xstat(1, path, out); }
extern "C" int lstat(const char* path, struct stat* out) { return old_lxstat(1, path, out); }
extern "C" int lstat64(const char* path, struct stat* out) { return old_lxstat(1, path, out); }
extern "C" int fstat(int file, struct stat* out) { return old_fxstat(1, file, out); }
extern "C" int fstat64(int file, struct stat* out) { return old_fxstat(1, file, out); }

// Since 2.32; "no" is right in every process and costs an atomic operation. Since 2.36, for std::random_device.
extern "C" {
char __libc_single_threaded = 0;
}
extern "C" int getentropy(void* out, unsigned long bytes);
extern "C" unsigned arc4random() {
    unsigned out = 0;
    while (getentropy(&out, sizeof out) != 0) {
    }
    return out;
}
