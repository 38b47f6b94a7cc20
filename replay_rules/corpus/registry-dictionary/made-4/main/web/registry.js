import * as makers from "./makers.js";

export const registry = {
  fern: makers.fern,
  tarn: makers.tarn,
  flint: makers.flint,
  tidal: makers.tidal,
  coral: makers.coral,
  lagoon: makers.lagoon,
};
