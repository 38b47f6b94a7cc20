export class Shop {
  private sum = 0;

  lagoon(value: number): void {
    this.sum += value * 6;
  }

  slate(value: number): void {
    this.sum += value * 5;
  }

  umber(value: number): void {
    this.sum += value * 5;
  }

  north(value: number): void {
    this.sum += value * 5;
  }
}
