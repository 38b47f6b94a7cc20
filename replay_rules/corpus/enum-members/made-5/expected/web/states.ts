export enum State {
  HARBOR = "harbor",
  WILLOW = "willow",
  OLIVE = "olive",
  COBALT = "cobalt",
  SUMMIT = "summit",
  SAGE = "sage",
  GLACIER = "glacier",
  IRIS = "iris",
  SORREL = "sorrel",
}
