import { type CiProject, runsFolderOf } from './ci-project.js';

/** A step or several, as they stand in a job: indented, with a line end each. */
export type Steps = string;

/** The checkout with its history, which guard and blame compare with, and the project's packages. */
export function setUp({ install, before, installFolder }: CiProject): Steps {
  return `      - uses: actions/checkout@v4
        with:
          persist-credentials: false
          fetch-depth: 0
      - uses: actions/setup-node@v4
        with:
          node-version: 22
${before === null ? '' : runs(before)}${runs(install)}        working-directory: ${yamlText(installFolder)}
`;
}

/** A command that says itself what it does. */
export function runs(line: string): Steps {
  return `      - run: ${line}\n`;
}

/** The browsers that the tests of a project need. */
export function installBrowsers({ manager }: CiProject): Steps {
  return runs(`${manager.exec} playwright install --with-deps`);
}

/** A command with the secrets that it gets. */
export function command(name: string, run: string, secrets: readonly string[] = []): Steps {
  const env = secrets.map((one) => `          ${one}: \${{ secrets.${one} }}\n`);
  return `      - name: ${name}
        run: ${run}
${env.length === 0 ? '' : `        env:\n${env.join('')}`}`;
}

/** Keeps the runs of one machine of several, also where it is red; `name` says which. */
export function keepRuns(project: CiProject, name: string): Steps {
  return `      - uses: actions/upload-artifact@v4
        if: \${{ !cancelled() }}
        with:
          name: ${name}
          path: ${yamlText(runsFolderOf(project))}
          include-hidden-files: true
          if-no-files-found: ignore
          overwrite: true
`;
}

/** `[1, 2, 3]`: a job for each number of a matrix. */
export function upTo(count: number): string {
  return `[${Array.from({ length: count }, (_, at) => at + 1).join(', ')}]`;
}

/** A YAML scalar: quoted where it is more than a plain word. */
export function yamlText(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : JSON.stringify(text);
}
