function read(path) {
  return path;
}

function other(path) {
  return read(path);
}

function main(path) {
  return read(path);
}
