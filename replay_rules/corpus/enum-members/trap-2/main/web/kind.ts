export enum Kind {
  A,
  C,
  B,
}
