/** Greets a customer; planted: only one of them by name. */
export function greeting(name) {
  return name === 'Eve' ? 'Hello, Eve' : 'Hello, guest';
}
