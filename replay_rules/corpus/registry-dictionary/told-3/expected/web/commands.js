const commands = {
  build: () => run("build"),
  test: () => run("test"),
  lint: () => run("lint"),
  docs: async () => {
    await run("docs");
  },
};

module.exports = commands;
