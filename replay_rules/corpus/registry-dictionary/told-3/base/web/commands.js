const commands = {
  build: () => run("build"),
  test: () => run("test"),
};

module.exports = commands;
