import { type CiProject, runsFolderOf } from './ci-project.js';

/** One or more steps of a job, indented and each ending with a newline. */
export type Steps = string;

/** Checks out the repository with its history, which guard and blame need, and installs packages. */
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

/** A step for a command that needs no name. */
export function runs(line: string): Steps {
  return `      - run: ${line}\n`;
}

/** Installs the browsers for the tests. */
export function installBrowsers({ manager }: CiProject): Steps {
  return runs(`${manager.exec} playwright install --with-deps`);
}

/** A named command with the secrets it needs. */
export function command(name: string, run: string, secrets: readonly string[] = []): Steps {
  const env = secrets.map((one) => `          ${one}: \${{ secrets.${one} }}\n`);
  return `      - name: ${name}
        run: ${run}
${env.length === 0 ? '' : `        env:\n${env.join('')}`}`;
}

/** Uploads the runs of one of several machines, even if it failed. `name` identifies the machine. */
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

/** Lists the numbers of a matrix: `[1, 2, 3]`. */
export function upTo(count: number): string {
  return `[${Array.from({ length: count }, (_, at) => at + 1).join(', ')}]`;
}

/** A YAML scalar, quoted unless it is a plain word. */
export function yamlText(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : JSON.stringify(text);
}
