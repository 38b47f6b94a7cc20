function read(path) {
  return path;
}

function main(path) {
  return read(path);
}
