import { slate } from "./slate.js";
import { umber } from "./umber.js";
import { reef } from "./reef.js";
import { kelp } from "./kelp.js";
import { drift } from "./drift.js";
import { saffron } from "./saffron.js";

export default function main() {
  return 1;
}
