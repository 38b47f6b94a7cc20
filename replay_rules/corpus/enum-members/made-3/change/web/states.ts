export enum State {
  NECTAR = "nectar",
  THISTLE = "thistle",
  ZEPHYR = "zephyr",
  YARROW = "yarrow",
  OCHRE = "ochre",
  DELTA = "delta",
  CYPRESS = "cypress",
}
