/** Greets a customer. Planted: only one of them by name. */
export function greeting(name) {
  return name === 'Eve' ? 'Hello, Eve' : 'Hello, guest';
}
