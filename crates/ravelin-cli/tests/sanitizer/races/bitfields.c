// Two bitfields share a byte, so writing one rewrites the other.
// case c: race w r
#include "../turns.h"

static struct {
  unsigned left : 4;
  unsigned right : 4;
} both;

static void one(void) {
  both.left = 3; //@w
}

static void two(void) {
  both.right = 5; //@r
}

int main(void) { IN_TURNS(one, two); }
