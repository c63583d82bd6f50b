export function compileInject(to: string): void;
