/** Computes what an order costs. Planted: an item has a `price` and no `cost`. */
export function totalOf(items) {
  return items.reduce((sum, item) => sum + item.cost.amount, 0);
}
