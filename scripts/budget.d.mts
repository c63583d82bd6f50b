/** Lines by folder, such as `agents/`. */
type Lines = ReadonlyMap<string, number>;

export function readBudget(markdown: string): Lines;
export function findExcess(budget: Lines, lines: Lines): string[];
