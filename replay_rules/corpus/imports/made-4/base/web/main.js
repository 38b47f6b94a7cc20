import { slate } from "./slate.js";
import { umber } from "./umber.js";
import { reef } from "./reef.js";
import { kelp } from "./kelp.js";

export default function main() {
  return 1;
}
