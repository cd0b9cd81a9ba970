/* sqlite: four connections to one database in WAL mode insert and select. Arguments: a folder, transactions per thread. */
#include "sqlite3.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { THREADS = 4, ROWS = 16 };
static char path[4096];
static long transactions;

static void check(int code, sqlite3 *db) {
  if (code != SQLITE_OK && code != SQLITE_DONE && code != SQLITE_ROW) {
    fprintf(stderr, "sqlite: %s\n", db ? sqlite3_errmsg(db) : sqlite3_errstr(code));
    exit(1);
  }
}

static sqlite3 *opened(void) {
  sqlite3 *db;
  check(sqlite3_open(path, &db), NULL);
  sqlite3_busy_timeout(db, 60000);
  check(sqlite3_exec(db, "PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF", NULL, NULL, NULL), db);
  return db;
}

static void *work(void *argument) {
  long thread = (long)argument;
  sqlite3 *db = opened();
  sqlite3_stmt *insert, *select;
  check(sqlite3_prepare_v2(db, "INSERT INTO item(owner, value, name) VALUES(?, ?, ?)", -1, &insert, NULL), db);
  check(sqlite3_prepare_v2(db, "SELECT sum(value), count(*) FROM item WHERE id BETWEEN ? AND ?", -1, &select, NULL), db);
  for (long number = 0; number < transactions; number++) {
    check(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL), db);
    for (int row = 0; row < ROWS; row++) {
      sqlite3_bind_int64(insert, 1, thread);
      sqlite3_bind_int64(insert, 2, number * ROWS + row);
      sqlite3_bind_text(insert, 3, "a name of some length", -1, SQLITE_STATIC);
      check(sqlite3_step(insert), db);
      sqlite3_reset(insert);
    }
    check(sqlite3_exec(db, "COMMIT", NULL, NULL, NULL), db);
    /* The range has the same length at every size, so that work grows linearly. */
    sqlite3_bind_int64(select, 1, number * ROWS / 2);
    sqlite3_bind_int64(select, 2, number * ROWS / 2 + 8 * ROWS);
    check(sqlite3_step(select), db);
    sqlite3_reset(select);
  }
  sqlite3_finalize(insert);
  sqlite3_finalize(select);
  sqlite3_close(db);
  return NULL;
}

int main(int count, char **words) {
  if (count != 3) return 2;
  snprintf(path, sizeof path, "%s/items.db", words[1]);
  transactions = atol(words[2]);
  const char *ends[] = {"", "-wal", "-shm"};
  for (int end = 0; end < 3; end++) {
    char file[4200];
    snprintf(file, sizeof file, "%s%s", path, ends[end]);
    unlink(file);
  }
  sqlite3 *db = opened();
  check(sqlite3_exec(db, "CREATE TABLE item(id INTEGER PRIMARY KEY, owner INT, value INT, name TEXT)", NULL, NULL, NULL), db);
  pthread_t threads[THREADS];
  for (long thread = 0; thread < THREADS; thread++) pthread_create(&threads[thread], NULL, work, (void *)thread);
  for (int thread = 0; thread < THREADS; thread++) pthread_join(threads[thread], NULL);
  sqlite3_stmt *rows;
  check(sqlite3_prepare_v2(db, "SELECT count(*) FROM item", -1, &rows, NULL), db);
  check(sqlite3_step(rows), db);
  int complete = sqlite3_column_int64(rows, 0) == THREADS * transactions * ROWS;
  sqlite3_finalize(rows);
  sqlite3_close(db);
  return complete ? 0 : 1;
}
