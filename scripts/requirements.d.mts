/** A line of docs/requirements.md. */
export interface Requirement {
  id: string;
  built: boolean;
  line: number;
}

/** A test as its file has it; what its title takes from elsewhere is `%s`. */
export interface TestTitle {
  file: string;
  line: number;
  title: string;
}

export function readRequirements(markdown: string): Requirement[];
export function readTests(file: string, source: string): TestTitle[];
export function findMismatches(
  requirements: readonly Requirement[],
  from: { document: string; tests: readonly TestTitle[] },
): string[];
