function a() {
  return 11;
}

function b() {
  return 2;
}
