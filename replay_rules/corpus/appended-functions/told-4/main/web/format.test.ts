import { bold } from "./format";

describe("format", () => {
  it("bolds", () => {
    expect(bold("a")).toBe("*a*");
  });

  it("keeps blanks", () => {
    expect(bold(" ")).toBe("* *");
  });
});
