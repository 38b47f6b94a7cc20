import { bold } from "./format";

describe("format", () => {
  it("bolds", () => {
    expect(bold("a")).toBe("*a*");
  });

  it("keeps blanks", () => {
    expect(bold(" ")).toBe("* *");
  });

  it("takes digits", () => {
    expect(bold("1")).toBe("*1*");
  });
});
