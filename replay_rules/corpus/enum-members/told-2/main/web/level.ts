export enum Level {
  Debug = "debug",
  Info = "info",
  Warn = "warn",
}
