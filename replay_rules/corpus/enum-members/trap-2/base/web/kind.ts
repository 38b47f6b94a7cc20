export enum Kind {
  A,
  B,
}
