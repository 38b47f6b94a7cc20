export enum State {
  NECTAR = "nectar",
  THISTLE = "thistle",
  ZEPHYR = "zephyr",
  YARROW = "yarrow",
  OCHRE = "ochre",
  GARNET = "garnet",
  SLATE = "slate",
}
