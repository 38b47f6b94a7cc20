const commands = {
  build: () => run("build"),
  test: () => run("test"),
  docs: async () => {
    await run("docs");
  },
};

module.exports = commands;
