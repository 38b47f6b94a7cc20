import fs from "node:fs";
import { join } from "node:path";

export const read = (name) => fs.readFileSync(join(".", name));
