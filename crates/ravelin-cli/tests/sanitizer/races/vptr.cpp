// A virtual call while another thread destroys the object.
// case c: race use drop, may race
#include "../turns.h"

struct Base {
  virtual ~Base() {} //@drop
  virtual int get() { return 1; }
};
struct Derived : Base {
  ~Derived() override {} //@drop
  int get() override { return 2; }
};

static Base *object;

static void use() {
  if (object->get() == 3) abort(); //@use
}

static void drop() {
  delete object; //@drop
}

int main() {
  object = new Derived;
  turn_function *functions[] = {use, drop};
  in_turns(2, functions, 1);
}
