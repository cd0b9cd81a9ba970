//! What C programs get from their libraries: blocks of the heap, locks, semaphores, results of threads, variables of their
//! own, free choices. Each claim has a program for which it is right and one for which it is wrong.

use crate::running;

use ravelin_testing::has;
use running::{Scratch, code, ravelin};
use std::path::Path;

/// A program, what is asked, the exit code, and a part of the answer.
struct Claim {
    name: &'static str,
    text: String,
    question: &'static [&'static str],
    code: i32,
    says: &'static str,
}

const SC: &[&str] = &["reach", "--model", "sc"];
const KEEPS: &[&str] = &["reach", "--model", "sc", "--no-reuse"];
const RC20: &[&str] = &["check", "--model", "rc20"];
const TSO: &[&str] = &["check", "--model", "tso"];

/// Declarations, the bodies of threads, and what `main` does in the end.
fn program(shared: &str, bodies: &[&str], finally: &str) -> String {
    let mut text = String::from(
        "#define _GNU_SOURCE\n#include <assert.h>\n#include <errno.h>\n#include <pthread.h>\n#include <semaphore.h>\n\
         #include <stdatomic.h>\n#include <stdlib.h>\n#include <threads.h>\n#include <time.h>\n\
         int __VERIFIER_nondet_int(void);\nunsigned __VERIFIER_nondet_uint(void);\nvoid __VERIFIER_assume(int);\n\
         void __VERIFIER_atomic_begin(void);\nvoid __VERIFIER_atomic_end(void);\n",
    );
    text.push_str(&format!("{shared}\nstatic int x;\n"));
    for (number, body) in bodies.iter().enumerate() {
        text.push_str(&format!("static void *t{number}(void *unused) {{ (void)&x; {body} return unused; }}\n"));
    }
    text.push_str(&format!("int main(void) {{\n  pthread_t threads[{}];\n  SETUP;\n", bodies.len()));
    for number in 0..bodies.len() {
        text.push_str(&format!("  pthread_create(&threads[{number}], NULL, t{number}, NULL);\n"));
    }
    for number in 0..bodies.len() {
        text.push_str(&format!("  pthread_join(threads[{number}], NULL);\n"));
    }
    text.push_str(&format!("  {finally}\n  return 0;\n}}\n"));
    match text.contains("#define SETUP") {
        true => text,
        false => format!("#define SETUP (void)0\n{text}"),
    }
}

/// A thread frees a block that it shares and takes another one; the other thread compares its address.
fn reuse(freed: &str) -> String {
    let one = format!(
        "int *p = malloc(4); if (!p) abort(); *p = 1; s = p; {freed} int *q = malloc(4); if (!q) abort(); *q = 2; s = q;"
    );
    program(
        "static _Atomic(int *) s;",
        &[&one, "int *p = s; int *q = s; if (p && p != q) seen = 1; if (p && q != p) x = 1;"],
        "",
    )
    .replace("static int x;", "static int x; static atomic_int seen;")
}

fn claims() -> Vec<Claim> {
    let mut claims = Vec::new();
    let mut add = |name, question, code, says, text: String| claims.push(Claim { name, text, question, code, says });

    // Blocks that are handed out again.
    let same = |freed: &str| {
        let body = format!(
            "int *p = malloc(4); if (!p) abort(); *p = 1; s = p; {freed} int *q = malloc(4); if (!q) abort(); *q = 2; s = q; assert(p != q);"
        );
        program("static _Atomic(int *) s;", &[&body, "(void)s;"], "")
    };
    add("a freed block comes back", SC, 1, "violated", same("free(p);"));
    add("it does not come back", KEEPS, 0, "holds", same("free(p);"));
    add("a block that is in use does not come back", SC, 0, "holds", same(""));
    add("use after free where it may come back", SC, 1, "freed", same("free(p); *p = 3;"));
    add("double free where it may come back", SC, 1, "freed", same("free(p); free(p);"));
    add("free and malloc are ordered", RC20, 0, "robust", reuse("free(p);").replace("seen = 1;", ""));
    let other =
        "struct a { long n; }; struct b { int m, k; }; static _Atomic(struct a *) s; static _Atomic(struct b *) r;";
    let types = "struct a *p = malloc(sizeof *p); if (!p) abort(); p->n = 1; s = p; free(p); \
                 struct b *q = malloc(sizeof *q); if (!q) abort(); q->m = 2; r = q;";
    add(
        "blocks of one type do not become blocks of another",
        SC,
        0,
        "holds",
        program(other, &[types, "(void)s; (void)r;"], ""),
    );

    // Mutexes that can be taken again.
    let recursive = |kind: &str, body: &str| {
        let shared = format!(
            "static pthread_mutex_t m;\n#define SETUP pthread_mutexattr_t a; pthread_mutexattr_init(&a); \
             pthread_mutexattr_settype(&a, {kind}); pthread_mutex_init(&m, &a)\n"
        );
        program(&shared, &[body, body], "assert(x == 2);")
    };
    let twice =
        "pthread_mutex_lock(&m); pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m); pthread_mutex_unlock(&m);";
    add("recursive", SC, 0, "holds", recursive("PTHREAD_MUTEX_RECURSIVE", twice));
    add("recursive and ordered", RC20, 0, "robust", recursive("PTHREAD_MUTEX_RECURSIVE", twice));
    add("not recursive", SC, 1, "deadlock", recursive("PTHREAD_MUTEX_NORMAL", twice));
    let once =
        "pthread_mutex_lock(&m); pthread_mutex_lock(&m); pthread_mutex_unlock(&m); x++; pthread_mutex_unlock(&m);";
    add("given back too early is still held", RC20, 0, "robust", recursive("PTHREAD_MUTEX_RECURSIVE", once));
    let released =
        "pthread_mutex_lock(&m); pthread_mutex_lock(&m); pthread_mutex_unlock(&m); pthread_mutex_unlock(&m); x++;";
    add("given back twice is free", RC20, 1, "race", recursive("PTHREAD_MUTEX_RECURSIVE", released));
    let checked = "assert(pthread_mutex_unlock(&m) == EPERM); pthread_mutex_lock(&m); assert(pthread_mutex_lock(&m) == EDEADLK); \
                   x++; pthread_mutex_unlock(&m);";
    add("checked", SC, 0, "holds", recursive("PTHREAD_MUTEX_ERRORCHECK", checked));
    let fixed = "static pthread_mutex_t m = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;";
    add("recursive from the start", SC, 0, "holds", program(fixed, &[twice, twice], "assert(x == 2);"));
    let c11 = "static mtx_t m;\n#define SETUP mtx_init(&m, mtx_plain | mtx_recursive)\n";
    let again = "mtx_lock(&m); assert(mtx_trylock(&m) == thrd_success); x++; mtx_unlock(&m); mtx_unlock(&m);";
    add("recursive in C11", SC, 0, "holds", program(c11, &[again, again], "assert(x == 2);"));
    let busy = "mtx_lock(&m); assert(mtx_trylock(&m) == thrd_busy); mtx_unlock(&m);";
    add("busy in C11", SC, 0, "holds", program(&c11.replace(" | mtx_recursive", ""), &[busy, busy], ""));

    // Trying, and waiting for some time.
    let plain = "static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; static struct timespec late;";
    let timed = "int r = pthread_mutex_timedlock(&m, &late); if (r == 0) { x++; pthread_mutex_unlock(&m); } else assert(r == ETIMEDOUT);";
    add("a lock that may come too late", SC, 0, "holds", program(plain, &[timed, timed], "assert(x <= 2);"));
    add("it does come too late", SC, 1, "violated", program(plain, &[timed, timed], "assert(x == 2);"));
    let tries = "if (pthread_mutex_trylock(&m) == EBUSY) return NULL; x++; pthread_mutex_unlock(&m);";
    add("a lock that is tried", RC20, 0, "robust", program(plain, &[tries, tries], ""));
    add("a lock that was not free", SC, 1, "violated", program(plain, &[tries, tries], "assert(x == 2);"));

    // Readers and writers.
    let lock = "static pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER; static int y;";
    let write = "pthread_rwlock_wrlock(&l); x++; y++; pthread_rwlock_unlock(&l);";
    let read = "pthread_rwlock_rdlock(&l); assert(x == y); pthread_rwlock_unlock(&l);";
    add(
        "readers see what writers leave",
        SC,
        0,
        "holds",
        program(lock, &[write, write, read, read], "assert(x == 2);"),
    );
    add("without a race", RC20, 0, "robust", program(lock, &[write, read, read], ""));
    add("readers that write", RC20, 1, "race", program(lock, &[&write.replace("wr", "rd"), read], ""));
    let meet = "static pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER; static sem_t a, b;";
    let inside = |first: &str, mine: &str, other: &str| {
        format!("pthread_rwlock_{first}lock(&l); sem_post(&{mine}); sem_wait(&{other}); pthread_rwlock_unlock(&l);")
    };
    let (first, second) = (inside("rd", "a", "b"), inside("rd", "b", "a"));
    add("readers are together", SC, 0, "holds", program(meet, &[&first, &second], ""));
    add("writers are not", SC, 1, "deadlock", program(meet, &[&first, &inside("wr", "b", "a")], ""));
    let nested = "pthread_rwlock_rdlock(&l); pthread_rwlock_rdlock(&l); pthread_rwlock_unlock(&l); (void)x; pthread_rwlock_unlock(&l);";
    add("a reader again", RC20, 0, "robust", program(lock, &[nested, write], ""));
    let upgrade = "pthread_rwlock_rdlock(&l); pthread_rwlock_wrlock(&l); pthread_rwlock_unlock(&l);";
    add("a reader that becomes a writer waits for itself", SC, 1, "deadlock", program(lock, &[upgrade, ""], ""));
    let fails = "pthread_rwlock_rdlock(&l); assert(pthread_rwlock_trywrlock(&l) == EBUSY); pthread_rwlock_unlock(&l);";
    add("a writer tries beside a reader", SC, 0, "holds", program(lock, &[fails, fails], ""));
    let wins = "if (pthread_rwlock_trywrlock(&l) == 0) { x++; pthread_rwlock_unlock(&l); }";
    add("writers that try exclude each other", RC20, 0, "robust", program(lock, &[wins, wins, read], ""));
    let may = "if (pthread_rwlock_tryrdlock(&l) == 0) { assert(x == y); pthread_rwlock_unlock(&l); }";
    add("readers that try", SC, 0, "holds", program(lock, &[write, may, may], ""));

    // Semaphores.
    let semaphore = |count: u32| format!("static sem_t s;\n#define SETUP sem_init(&s, 0, {count})\n");
    let guarded = "sem_wait(&s); x++; sem_post(&s);";
    add("a semaphore of one", RC20, 0, "robust", program(&semaphore(1), &[guarded, guarded], ""));
    add("a semaphore of one counts", SC, 0, "holds", program(&semaphore(1), &[guarded, guarded], "assert(x == 2);"));
    add("a semaphore of two", RC20, 1, "race", program(&semaphore(2), &[guarded, guarded], ""));
    add("a semaphore of none", SC, 1, "deadlock", program(&semaphore(0), &[guarded, guarded], ""));
    let three = "sem_wait(&s); sem_wait(&s);";
    add(
        "as often as it counts",
        SC,
        0,
        "holds",
        program(&semaphore(4), &[three, three], "int n; sem_getvalue(&s, &n); assert(n == 0);"),
    );
    add("once too often", SC, 1, "deadlock", program(&semaphore(3), &[three, three], ""));
    let tried = "if (sem_trywait(&s) == 0) { x++; sem_post(&s); } else assert(errno == EAGAIN);";
    add("a semaphore that is tried", RC20, 0, "robust", program(&semaphore(1), &[tried, tried], ""));
    add("a semaphore that was not free", SC, 1, "violated", program(&semaphore(1), &[tried, tried], "assert(x == 2);"));
    let waits = "struct timespec t = {0}; if (sem_timedwait(&s, &t) == 0) x++; else assert(errno == ETIMEDOUT);";
    add("a semaphore that comes too late", SC, 0, "holds", program(&semaphore(0), &[waits, ""], "assert(x == 0);"));
    let announced = "static int data; static sem_t s;\n#define SETUP sem_init(&s, 0, 0)\n";
    add(
        "a post orders",
        RC20,
        0,
        "robust",
        program(announced, &["data = 1; sem_post(&s);", "sem_wait(&s); assert(data == 1);"], ""),
    );
    add(
        "a post before",
        RC20,
        1,
        "race",
        program(announced, &["sem_post(&s); data = 1;", "sem_wait(&s); x = data;"], ""),
    );

    // Once.
    let control = "static pthread_once_t o = PTHREAD_ONCE_INIT; static int y; static void f(void) { y++; y++; }";
    let calls = "pthread_once(&o, f); assert(y == 2);";
    add("once", SC, 0, "holds", program(control, &[calls, calls, calls], ""));
    add("once without a race", RC20, 0, "robust", program(control, &[calls, calls], ""));
    let before = "x = 1; pthread_once(&o, f);";
    add("callers are not ordered with each other", RC20, 1, "race", program(control, &[before, before], ""));
    add(
        "once in C11",
        SC,
        0,
        "holds",
        program(
            &control.replace("pthread_once_t o = PTHREAD_ONCE_INIT", "once_flag o = ONCE_FLAG_INIT"),
            &[&calls.replace("pthread_", "call_"), "call_once(&o, f);"],
            "assert(y == 2);",
        ),
    );

    // Results, and the end of the program.
    let results = |body: &str, finally: &str| {
        program("static atomic_int go;", &[body, "go = 1;"], "")
            .replace("pthread_join(threads[0], NULL);", &format!("void *r; pthread_join(threads[0], &r); {finally}"))
    };
    add("a result", SC, 0, "holds", results("return (void *)(long)(go + 1);", "assert((long)r == 1 || (long)r == 2);"));
    add("a wrong result", SC, 1, "violated", results("return (void *)(long)(go + 1);", "assert((long)r == 1);"));
    add("a result of pthread_exit", SC, 0, "holds", results("pthread_exit((void *)7L);", "assert((long)r == 7);"));
    add(
        "a result without a race",
        RC20,
        0,
        "robust",
        results("int *p = malloc(4); if (!p) abort(); *p = 1; return p;", "assert(*(int *)r == 1);"),
    );
    let waiting = "static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;";
    let locks = "pthread_mutex_lock(&m); x = 1; pthread_mutex_unlock(&m);";
    add(
        "exit ends those that wait",
        SC,
        0,
        "holds",
        program(waiting, &["pthread_mutex_lock(&m); exit(0);", locks], "assert(0);"),
    );
    add(
        "the end of one thread does not",
        SC,
        1,
        "deadlock",
        program(waiting, &["pthread_mutex_lock(&m); pthread_exit(NULL);", locks], ""),
    );
    add(
        "what comes before the end counts",
        SC,
        1,
        "violated",
        program("", &["x = 1; exit(0);", "assert(x == 0);"], ""),
    );

    // What each thread has of its own.
    let own = "static _Thread_local int mine = 3; static __thread int *other;";
    let adds = "mine++; other = &mine; ++*other; assert(mine == 5); x = 0;";
    add("thread-local variables", SC, 0, "holds", program(own, &[adds, adds], "assert(mine == 3);"));
    add("they are not shared", RC20, 0, "robust", program(own, &["mine++;", "mine++;"], ""));
    add(
        "but their addresses can be",
        RC20,
        1,
        "race",
        program(
            "static _Thread_local int mine; static _Atomic(int *) p;",
            &["p = &mine; mine = 1;", "int *q = p; if (q) *q = 2;"],
            "",
        ),
    );
    let key = "static pthread_key_t k;\n#define SETUP pthread_key_create(&k, NULL)\n";
    add(
        "values under keys",
        SC,
        0,
        "holds",
        program(
            key,
            &[
                "pthread_setspecific(k, &x); assert(pthread_getspecific(k) == &x);",
                "assert(pthread_getspecific(k) == NULL);",
            ],
            "",
        ),
    );

    // Free choices.
    let any = |body: &str| program("static int a[4];", &[body, "x = 1;"], "");
    add(
        "any number",
        SC,
        0,
        "holds",
        any("int i = __VERIFIER_nondet_int(); if (i > 7) assert(i >= 8); else assert(i <= 7);"),
    );
    add(
        "any number is none in particular",
        SC,
        1,
        "violated",
        any("int i = __VERIFIER_nondet_int(); assert(i != 123456);"),
    );
    add(
        "numbers without sign",
        SC,
        1,
        "violated",
        any("unsigned i = __VERIFIER_nondet_uint(); assert(i < 3000000000u);"),
    );
    add(
        "a number within bounds",
        SC,
        0,
        "holds",
        any("int i = __VERIFIER_nondet_int(); __VERIFIER_assume(i >= 0 && i < 4); a[i] = i; assert(a[i] == i);"),
    );
    add(
        "a number out of bounds",
        SC,
        1,
        "violated",
        any("int i = __VERIFIER_nondet_int(); __VERIFIER_assume(i >= 0 && i <= 4); a[i] = i;"),
    );
    add("too many numbers", SC, 2, "too much", any("a[1] = __VERIFIER_nondet_int();"));
    let rest =
        any("int i = __VERIFIER_nondet_int() % 3; a[i + 2] = 1; assert(i >= -2 && i <= 2);").replace("a[4]", "a[5]");
    add("remainders of any number", SC, 0, "holds", rest.clone());
    add("remainders that are too large", SC, 1, "violated", rest.replace("% 3", "% 4"));
    let parity = "unsigned i = __VERIFIER_nondet_uint(); assert((i & 3) != 3 || i % 6 != 3);";
    add("remainders that depend on each other", SC, 1, "violated", any(parity));
    add("remainders that exclude each other", SC, 0, "holds", any(&parity.replace("% 6 != 3", "% 6 != 2")));
    let steps = "for (int i = 0; i < 2; i++) { __VERIFIER_atomic_begin(); x = x + 1; __VERIFIER_atomic_end(); }";
    add("steps that nothing divides", SC, 0, "holds", program("", &[steps, steps], "assert(x == 4);"));
    add(
        "steps that something divides",
        SC,
        1,
        "violated",
        program(
            "",
            &[&steps.replace("__VERIFIER_atomic_begin();", "").replace("__VERIFIER_atomic_end();", ""), steps],
            "assert(x == 4);",
        ),
    );
    add(
        "barriers",
        TSO,
        0,
        "robust",
        program(
            "static pthread_barrier_t b; static int y;\n#define SETUP pthread_barrier_init(&b, NULL, 2)\n",
            &["x = 1; pthread_barrier_wait(&b); assert(y == 1);", "y = 1; pthread_barrier_wait(&b); assert(x == 1);"],
            "",
        ),
    );

    // Sizes at accesses through pointers that are not known.
    let types = "struct a { long n, m; }; struct b { int k, l; }; static struct a a; static struct b b; static _Atomic(void *) s;";
    let as_a = "s = &a; struct a *p = s; if (p) p->m = 1;";
    add("a pointer to what it seems to be", SC, 0, "holds", program(types, &[as_a, "(void)s; b.k = 1;"], ""));
    let as_b = "s = &a; void *p = s; if (p) ((struct b *)p)->l = 1; a.n = 2;";
    add("a pointer to the half of a number", SC, 1, "violated", program(types, &[as_b, "a.n = 3; (void)s;"], ""));
    let chosen = "void *p = s; if (p == (void *)&a) ((struct a *)p)->n = 5; else if (p) ((struct b *)p)->k = 1;";
    add("one of two types, as it should be", SC, 0, "holds", program(types, &[chosen, "s = &a; s = &b; a.n = 3;"], ""));
    add(
        "one of two types, and the wrong one",
        SC,
        1,
        "violated",
        program(types, &[&chosen.replace("&a)", "&b)"), "s = &a; s = &b; b.k = 3; a.n = 3;"], ""),
    );
    let tagged = "struct c { long tag; int items[2]; }; static struct c c; static atomic_int i;";
    add("an index within its array", SC, 0, "holds", program(tagged, &["c.tag = 1; c.items[i] = 2;", "i = 1;"], ""));
    add(
        "an index before its array",
        SC,
        1,
        "violated",
        program(tagged, &["c.tag = 1; c.items[i - 1] = 2;", "i = 1;"], ""),
    );
    claims
}

#[test]
fn library_functions_do_what_they_say() {
    if !has("clang", "--version", "clang") {
        return;
    }
    let mut wrong = Vec::new();
    for Claim { name, text, question, code: expected, says } in claims() {
        let asked = [&[question[0], "-", "--from", "c"], &question[1..], &["--timeout", "60"]].concat();
        let output = ravelin(&asked, &text);
        let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        if code(&output) != expected || !said.contains(says) {
            let beginning: String = said.chars().take(300).collect();
            wrong.push(format!("{name}: exit code {}, expected {expected} and {says:?}: {beginning}", code(&output)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn cplusplus_has_them_too() {
    if !has("clang", "--version", "clang") {
        return;
    }
    let scratch = Scratch::new("cxx-library");
    let head = "#include <atomic>\n#include <cassert>\n#include <mutex>\n#include <shared_mutex>\n#include <thread>\n";
    let two = |shared: &str, body: &str, finally: &str| {
        format!(
            "{head}{shared}\nint main() {{ std::thread s([] {{ {body} }}), t([] {{ {body} }}); s.join(); t.join(); {finally} }}\n"
        )
    };
    let counted = "static std::atomic<int> made; struct S { int n; S() : n(++made) {} }; static S &get() { static S s; return s; }";
    let recursive = "static std::recursive_mutex m; static int x; static thread_local int mine;\n\
                     static void f(int n) { std::lock_guard<std::recursive_mutex> l(m); x++; mine++; if (n) f(n - 1); }";
    let once = "static std::once_flag o; static int x;";
    let shared = "static std::shared_mutex m; static int x, y;";
    let reads = "{ std::unique_lock<std::shared_mutex> l(m); x++; y++; } { std::shared_lock<std::shared_mutex> l(m); assert(x == y); }";
    let counts =
        "static std::atomic<int> live; struct S { S() { live++; } S(const S &) { live++; } ~S() { live--; } };";
    let ends = format!(
        "{head}{counts}\nint main() {{ {{ S s; std::thread t([s] {{ assert(live >= 1); }}); t.join(); }} assert(live == 0); }}\n"
    );
    let built =
        "struct S { int n; S(int n) : n(n) {} }; static S one(1); static S *all[] = {&one}; static S *first = all[0];";
    let after = "static std::atomic<int> x, y;";
    let later = format!(
        "{head}{after}\nint main() {{ std::thread s([] {{ x = 1; y = 1; }}); int seen = y; \
         std::thread t([seen] {{ assert(!seen || x == 1); }}); s.join(); t.join(); }}\n"
    );
    for (name, text, question, expected, says) in [
        ("what a thread captured is destroyed", ends, SC, 0, "holds"),
        ("constructors of global variables", two(built, "assert(first->n == 1);", ""), SC, 0, "holds"),
        ("a thread that is started with what `main` read", later, SC, 0, "holds"),
        ("static variables", two(counted, "assert(get().n == 1);", "assert(made == 1);"), SC, 0, "holds"),
        ("static variables are ordered", two(counted, "assert(get().n == 1);", ""), RC20, 0, "robust"),
        ("recursive mutexes", two(recursive, "f(1);", "assert(x == 4 && mine == 0);"), SC, 0, "holds"),
        ("call_once", two(once, "std::call_once(o, [] { x++; }); assert(x == 1);", ""), RC20, 0, "robust"),
        ("call_once calls once", two(once, "std::call_once(o, [] { x++; });", "assert(x == 2);"), SC, 1, "violated"),
        ("shared_mutex", two(shared, reads, "assert(x == 2);"), SC, 0, "holds"),
        ("shared_mutex without writers", two(shared, &reads.replace("unique", "shared"), ""), RC20, 1, "race"),
    ] {
        let path = scratch.write("library.cpp", &text);
        let asked = [&[question[0], &path], &question[1..], &["--cflags", "-std=c++17", "--timeout", "60"]].concat();
        let output = ravelin(&asked, "");
        let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        assert!(code(&output) == expected && said.contains(says), "{name}: {}: {said}", code(&output));
    }
}

#[test]
fn programs_have_the_answers_that_they_expect() {
    if !has("clang", "--version", "clang") {
        return;
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/c/programs");
    let entries = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let mut files: Vec<String> = entries.map(|path| path.display().to_string()).collect();
    files.sort();
    assert!(files.len() >= 8, "{files:?}");
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    for command in ["check", "reach"] {
        let output = ravelin(&[&[command, "--expect"], &files[..]].concat(), "");
        assert_eq!(code(&output), 0, "{command}: {}", String::from_utf8_lossy(&output.stdout));
    }
}
