export enum Kind {
  A,
  D,
  B,
}
