//! C files that are odd, large, or no models: what is asked, the exit code, and a part of what is said.

pub struct Case {
    pub name: &'static str,
    pub text: String,
    pub arguments: &'static [&'static str],
    pub code: i32,
    pub says: &'static str,
}

const CHECK: &[&str] = &["check", "--model", "tso,rc20"];
const TSO: &[&str] = &["check", "--model", "tso"];
const REACH: &[&str] = &["reach", "--model", "sc"];
const WITHOUT_DEADLOCKS: &[&str] = &["reach", "--model", "sc", "--no-deadlocks"];

pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    let mut add = |name, arguments, code, says, text: String| cases.push(Case { name, text, arguments, code, says });
    let two = |shared: &str, first: &str, second: &str| with_threads(shared, &[first, second]);

    // No model at all.
    add("empty", CHECK, 2, "defines no function", String::new());
    add("only a NUL", CHECK, 2, "", "\0".to_owned());
    add("no C", CHECK, 2, "error", "\u{fe}\u{ff} thread t { x.store(1); }".to_owned());
    add("does not compile", CHECK, 2, "undeclared identifier", "int main(void) { return x; }".to_owned());
    add("type error", CHECK, 2, "too few arguments", "int f(int); int main(void) { return f(); }".to_owned());
    add(
        "no such header",
        CHECK,
        2,
        "file not found",
        "#include \"nowhere.h\"\nint main(void) { return 0; }".to_owned(),
    );
    add("no main", CHECK, 2, "no `main`", "int x; void left(void) { x = 1; }".to_owned());
    add("main elsewhere", CHECK, 2, "defines no function", "int main(void);".to_owned());

    // Unusual, but models.
    add("no threads", CHECK, 0, "robust", "int x; int main(void) { x = 1; return x; }".to_owned());
    add("10,000 functions", CHECK, 0, "robust", functions(10_000));
    add("nested statements", CHECK, 0, "robust", nested(200));
    add("a large switch", CHECK, 0, "robust", large_switch(100));
    add("threads in a loop", CHECK, 0, "robust", threads_in_a_loop(4));
    add("jumps into loops", CHECK, 0, "robust", jumps());
    add("fence in assembly", TSO, 0, "robust", store_buffering("__asm__ volatile(\"mfence\" ::: \"memory\");"));
    add("no fence", TSO, 1, "not robust", store_buffering("__asm__ volatile(\"\" ::: \"memory\");"));
    let locked = "__asm__ volatile(\"lock; addl $0,-4(%%rsp)\" ::: \"memory\", \"cc\");";
    add("fence in assembly that adds 0", TSO, 0, "robust", store_buffering(locked));
    add("a pointer to a function races", CHECK, 1, "race", function_pointer());
    add("floats that stay inside", CHECK, 0, "robust", two("", "double d = 1.5; d *= 2; (void)d;", ""));
    add("bit-fields of one word", CHECK, 1, "race", two("struct { int a : 3, b : 5; } s;", "s.a = 1;", "s.b = 2;"));
    add("volatile is not atomic", CHECK, 1, "race", two("volatile int v;", "v = 1;", "v = 2;"));
    add("recursion with an end", CHECK, 0, "robust", recursion("f(n - 1)"));

    // Right, and once not lifted as they are.
    let shared = "struct s { unsigned a : 14, b : 3; };\nstatic struct s s;";
    let new = "struct s local; local.a = 5; local.b = 2; s = local; assert(s.a == 5 && s.b == 2);";
    add("bit-fields of a new struct", REACH, 0, "holds", two(shared, new, ""));
    let three = "static struct { unsigned char a; unsigned b : 19; } s;";
    add(
        "a bit-field of three bytes",
        REACH,
        0,
        "holds",
        two(three, "s.b = 70000; assert(s.b == 70000 && s.a == 0);", ""),
    );
    let padded = "struct s { char a, b; int c; };\nstatic int first(struct s s) { return s.a ? s.a : s.c; }";
    let passed = "struct s local; local.a = 3; local.b = 0; local.c = 5; x = first(local); assert(x == 3);";
    add("padding that is passed by value", REACH, 0, "holds", two(padded, passed, ""));
    let decided = "int r = 9; switch ((int)y) { case 0: r = 0; break; case 1: r = 1; } assert(r == 9 || r == y);";
    add("a switch on what is not known", REACH, 0, "holds", two("static atomic_int y = 7;", decided, ""));

    add("a thread that another one starts while `main` goes on", REACH, 1, "violated", nested_start());
    add("a signal wakes the wrong thread", REACH, 1, "deadlock", two_conditions("signal"));
    add("a broadcast wakes all threads", REACH, 0, "holds", two_conditions("broadcast"));
    let meet = "pthread_barrier_wait(&b); assert(atomic_fetch_add(&passed, 1) < 2);";
    let barrier = "pthread_barrier_t b; atomic_int passed;\n\
                   static void __attribute__((constructor)) init(void) { pthread_barrier_init(&b, 0, 2); }";
    add("a barrier for fewer threads", WITHOUT_DEADLOCKS, 0, "holds", with_threads(barrier, &[meet; 3]));
    let first = "static int y = 1;\n\
                 static void __attribute__((constructor(200))) last(void) { y = 7 * y; }\n\
                 static void __attribute__((constructor(150))) first(void) { y += 2; }";
    add("functions that run before `main`", REACH, 0, "holds", two(first, "assert(y == 21);", ""));

    let stays = "pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; pthread_cond_t c = PTHREAD_COND_INITIALIZER; int go;";
    let wait = "pthread_mutex_lock(&m); while (!go) pthread_cond_wait(&c, &m); pthread_mutex_unlock(&m);";
    let detached = format!("pthread_detach(pthread_self()); {wait}");
    add("a thread that is detached ends with `main`", REACH, 0, "holds", main_returns(stays, &detached));
    add("a thread that is not detached goes on", REACH, 1, "deadlock", main_returns(stays, wait));
    let called = "static int one(void) { return 1; }\nstatic int two(void) { return 2; }\nstatic _Atomic(int (*)(void)) f = one;";
    let calls = "int (*g)(void) = f; int r = g ? g() : 0; assert(r == 0 || (g == one) + 2 * (g == two) == r);";
    add("a pointer to a function changes", REACH, 0, "holds", two(called, calls, "f = two; f = NULL;"));
    add("a pointer to a function is null", REACH, 1, "violated", two(called, "int r = f(); (void)r;", "f = NULL;"));
    let table = "static int a(int n) { return n; }\nstatic int b(int n) { return n + 1; }\n\
                 static int (*const table[])(int) = { a, b }; static atomic_int which;";
    let looks_up = "int n = which; assert(table[n](10) == 10 + n);";
    add("a table of functions", REACH, 0, "holds", two(table, looks_up, "which = 1;"));

    // Wrong under sequential consistency.
    add("failing assertion", REACH, 1, "violated", two("", "assert(x == 1);", ""));
    add("null", REACH, 1, "violated", two("int *p;", "*p = 1;", ""));
    add("outside of an array", REACH, 1, "violated", two("int a[2]; int i = 2;", "a[i] = 1;", "i = 3;"));
    add("use after free", REACH, 1, "violated", freed("free(p); *p = 2;"));
    add("double free", REACH, 1, "violated", freed("free(p); free(p);"));
    add("abort", REACH, 1, "violated", two("atomic_int y;", "if (y) abort();", "y = 1;"));
    add(
        "lost lock",
        REACH,
        1,
        "deadlock",
        two("pthread_mutex_t m;", "pthread_mutex_lock(&m);", "pthread_mutex_lock(&m);"),
    );

    // Refused.
    let endless = recursion("f(n + 1)");
    add("recursion without an end", CHECK, 2, "recursive", endless);
    add("shared floats", CHECK, 2, "floating point", two("_Atomic double d;", "d = 1.5;", "if (d > 1) x = 1;"));
    add("other assembly", CHECK, 2, "inline assembly", two("", "__asm__ volatile(\"incl %0\" : \"+m\"(x));", "x = 1;"));
    let pair = "static struct { int a, b; } s;";
    add("half of an int is set", CHECK, 2, "others are not", two(pair, "memset(&s, 0, 6); x = s.b;", "s.b = 1;"));
    add("bytes of an int", CHECK, 2, "sizes", two("", "x = 258;", "*(char *)&x = 1;"));
    add("union", CHECK, 2, "sizes", two("union { int i; short s[2]; } u;", "u.i = 1;", "u.s[1] = 1;"));
    add("variable arguments", CHECK, 2, "va_start", variadic());
    add("unknown function", CHECK, 2, "not defined in this file", two("int f(int);", "x = f(1);", "x = 1;"));
    add("input", CHECK, 2, "not defined in this file", two("", "x = getchar();", "x = 1;"));
    add(
        "array of unknown length",
        CHECK,
        2,
        "length",
        two("atomic_int n = 1;", "int a[n]; a[0] = n; x = a[0];", "n = 2;"),
    );
    add("setjmp", CHECK, 2, "setjmp", two("#include <setjmp.h>\njmp_buf b;", "if (setjmp(b)) x = 1;", "x = 2;"));
    add("fork", CHECK, 2, "fork", two("#include <unistd.h>\n", "x = fork();", "x = 1;"));
    add("100 threads", CHECK, 2, "threads", threads_in_a_loop(100));
    add("threads without end", CHECK, 2, "threads", threads_without_end());
    add("a large local array", CHECK, 2, "too large", two("", "int a[1 << 28]; a[x] = 1; x = a[0];", "x = 1;"));
    add("a large block", CHECK, 2, "bytes", two("int *p;", "p = malloc(1ul << 40); *p = 1;", "x = *p;"));
    add("a block of unknown size", CHECK, 2, "size", two("int *p;", "p = malloc(x); *p = 1;", "x = 8;"));
    add("128 bits", CHECK, 2, "64 bits", two("__int128 w;", "w = w * w;", "w = 1;"));
    add("an atomic struct", CHECK, 2, "", two("_Atomic struct { long a[2]; } s;", "s = s;", "s = s;"));
    add("computed goto", CHECK, 2, "not supported", computed_goto());
    cases
}

/// A program whose threads have these bodies. There is also a shared variable `x`.
fn with_threads(shared: &str, bodies: &[&str]) -> String {
    let mut text = String::from(
        "#include <assert.h>\n#include <pthread.h>\n#include <stdatomic.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n",
    );
    text.push_str(&format!("{shared}\nstatic int x;\n"));
    for (number, body) in bodies.iter().enumerate() {
        text.push_str(&format!("static void *t{number}(void *unused) {{ (void)&x; {body} return unused; }}\n"));
    }
    text.push_str(&format!("int main(void) {{\n  pthread_t threads[{}];\n", bodies.len()));
    for number in 0..bodies.len() {
        text.push_str(&format!("  pthread_create(&threads[{number}], NULL, t{number}, NULL);\n"));
    }
    for number in 0..bodies.len() {
        text.push_str(&format!("  pthread_join(threads[{number}], NULL);\n"));
    }
    text.push_str("  return 0;\n}\n");
    text
}

/// Only one of them is called.
fn functions(count: usize) -> String {
    let mut text = String::from("static int x;\n");
    for number in 0..count {
        text.push_str(&format!("int f{number}(int a) {{ return x += a + {number}; }}\n"));
    }
    text.push_str("int main(void) { return f7(1); }\n");
    text
}

fn nested(depth: usize) -> String {
    let body = format!("{}x = x + {}1{};", "if (x >= 0) ".repeat(depth), "(".repeat(depth), ")".repeat(depth));
    with_threads("atomic_int y;", &[&body, "y = 1;"])
}

fn large_switch(cases: usize) -> String {
    let cases: String = (0..cases).map(|case| format!("case {case}: x = {}; break;\n", case % 10)).collect();
    with_threads("atomic_int y;", &[&format!("switch ((int)y) {{ {cases} }}"), "y = 3;"])
}

fn threads_in_a_loop(count: usize) -> String {
    format!(
        "#include <pthread.h>\n#include <stdatomic.h>\n#include <stddef.h>\nstatic atomic_int x;\n\
         static void *count(void *unused) {{ x++; return unused; }}\n\
         int main(void) {{\n  pthread_t threads[{count}];\n\
         for (int i = 0; i < {count}; i++) pthread_create(&threads[i], NULL, count, NULL);\n\
         for (int i = 0; i < {count}; i++) pthread_join(threads[i], NULL);\n  return 0;\n}}\n"
    )
}

fn threads_without_end() -> String {
    "#include <pthread.h>\n#include <stddef.h>\nstatic void *nothing(void *unused) { return unused; }\n\
     int main(void) { for (;;) { pthread_t thread; pthread_create(&thread, NULL, nothing, NULL); } }\n"
        .to_owned()
}

/// A loop with two entries.
fn jumps() -> String {
    let body = "int n = y; if (n) goto middle; top: n++; y = n; middle: if (n < 3) goto top;";
    with_threads("atomic_int y;", &[body, "y = 1;"])
}

fn store_buffering(between: &str) -> String {
    let relaxed = "memory_order_relaxed";
    let side = |mine: &str, other: &str| {
        format!(
            "atomic_store_explicit(&{mine}, 1, {relaxed}); {between} seen += atomic_load_explicit(&{other}, {relaxed});"
        )
    };
    with_threads("static atomic_int a, b, seen;", &[&side("a", "b"), &side("b", "a")])
}

/// `main` starts a thread and returns.
fn main_returns(shared: &str, body: &str) -> String {
    let start = "int main(void) { pthread_t t; pthread_create(&t, NULL, t0, NULL); return 0; }\n";
    let all = with_threads(shared, &[body]);
    let main = all.find("int main").expect("a main");
    all[..main].to_owned() + start
}

/// What `main` writes after the start of a thread matters to a thread that this one starts.
fn nested_start() -> String {
    "#include <assert.h>\n#include <pthread.h>\n#include <stddef.h>\nstatic int x;\n\
     static void *inner(void *unused) { assert(x == 1); return unused; }\n\
     static void *outer(void *unused) { pthread_t t; pthread_create(&t, NULL, inner, NULL); pthread_join(t, NULL); return unused; }\n\
     int main(void) { pthread_t t; pthread_create(&t, NULL, outer, NULL); x = 1; pthread_join(t, NULL); return 0; }\n"
        .to_owned()
}

/// Two threads wait for different things and the same condition variable.
fn two_conditions(wake: &str) -> String {
    let wait = |what: &str| {
        format!("pthread_mutex_lock(&m); while (!{what}) pthread_cond_wait(&c, &m); pthread_mutex_unlock(&m);")
    };
    let give =
        |what: &str| format!("pthread_mutex_lock(&m); {what} = 1; pthread_cond_{wake}(&c); pthread_mutex_unlock(&m);");
    let shared =
        "pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; pthread_cond_t c = PTHREAD_COND_INITIALIZER; int a, b;";
    with_threads(shared, &[&wait("a"), &wait("b"), &[give("a"), give("b")].concat()])
}

fn freed(body: &str) -> String {
    with_threads("", &[&format!("int *p = malloc(sizeof *p); if (!p) abort(); *p = x; {body}"), ""])
}

fn recursion(call: &str) -> String {
    with_threads("atomic_int y;\nstatic int f(int n);", &["y = f(5);", "y = 1;"])
        + &format!("static int f(int n) {{ return n == 0 ? 0 : y + {call}; }}\n")
}

fn variadic() -> String {
    let sum = "#include <stdarg.h>\nstatic int sum(int n, ...) { va_list l; va_start(l, n); int s = 0;\n\
               while (n-- > 0) s += va_arg(l, int); va_end(l); return s; }\n";
    with_threads(sum, &["x = sum(2, 3, 4);", "x = 1;"])
}

fn function_pointer() -> String {
    let shared = "static int one(void) { return 1; }\nstatic int two(void) { return 2; }\nstatic int (*f)(void) = one;";
    with_threads(shared, &["x = f();", "f = two;"])
}

fn computed_goto() -> String {
    with_threads("atomic_int y;", &["static void *to[] = {&&a, &&b}; goto *to[y & 1]; a: x = 1; b: x = 2;", "y = 1;"])
}
