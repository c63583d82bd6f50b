/** Greets a customer; planted: also one who has a name is a guest. */
export function greeting(name) {
  return 'Hello, guest';
}
