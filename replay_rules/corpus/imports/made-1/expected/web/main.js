import { amber } from "./amber.js";
import { summit } from "./summit.js";
import { spruce } from "./spruce.js";
import { willow } from "./willow.js";
import { thistle } from "./thistle.js";
import { ember } from "./ember.js";

export default function main() {
  return 1;
}
