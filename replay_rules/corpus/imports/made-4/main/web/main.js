import { slate } from "./slate.js";
import { umber } from "./umber.js";
import { reef } from "./reef.js";
import { kelp } from "./kelp.js";
import { pepper } from "./pepper.js";
import { fjord } from "./fjord.js";

export default function main() {
  return 1;
}
