const commands = {
  build: () => run("build"),
  test: () => run("test"),
  lint: () => run("lint"),
};

module.exports = commands;
