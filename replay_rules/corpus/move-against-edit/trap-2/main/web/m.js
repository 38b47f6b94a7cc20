function b() {
  return 2;
}

class A {
  a() {
    return 1;
  }
}
