import fs from "node:fs";
import { dirname, join, resolve } from "node:path";

export const read = (name) => fs.readFileSync(join(".", name));
