export enum Level {
  Debug = "debug",
  Info = "info",
  // Said twice.
  Warn = "warn",
}
