export function compileInject(to: string): Promise<void>;
