export enum State {
  AMBER = "amber",
  LINEN = "linen",
  NECTAR = "nectar",
  PRAIRIE = "prairie",
  YARROW = "yarrow",
}
