export class Shop {
  private sum = 0;

  lagoon(value: number): void {
    this.sum += value * 6;
  }

  slate(value: number): void {
    this.sum += value * 5;
  }

  sorrel(value: number): void {
    this.sum += value * 6;
  }

  yarrow(value: number): void {
    this.sum += value * 6;
  }
}
