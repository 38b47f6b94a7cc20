import fs from "node:fs";
import { join } from "node:path";
import { gzip } from "node:zlib";

export const read = (name) => fs.readFileSync(join(".", name));
