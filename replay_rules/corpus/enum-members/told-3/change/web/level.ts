export enum Level {
  Debug = "debug",
  Info = "info",
  /* The end. */
  Fatal = "fatal",
}
