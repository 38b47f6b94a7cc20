import * as makers from "./makers.js";

export const registry = {
  fjord: makers.fjord,
  coral: makers.coral,
  tidal: makers.tidal,
  flint: makers.flint,
  mistral: makers.mistral,
  lilac: makers.lilac,
  marble: makers.marble,
  oasis: makers.oasis,
};
