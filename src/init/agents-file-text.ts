import { existsSync } from 'node:fs';
import path from 'node:path';
import { builtIn } from '../core/built-in-fixer.js';
import { shippedAgentsFile } from '../config/shipped-agents-file.js';

const SCHEMA = 'node_modules/self-heal/schema/agents.schema.json';

const withoutAgent = `# No agent program is set up yet: the built-in fixer makes the fixes it is sure of, and the rest is reported with a prompt to paste.
# Once one is installed: npx self-heal init --agent claude`;

/**
 * The shipped agents.yaml, with every default and what it means, for a runner; its first line points editors at the schema
 * where it is installed, which in a monorepo may be above the package.
 */
export function agentsFileText(cwd: string, runner: string): string {
  const shipped = shippedAgentsFile();
  return shipped
    .replace(/^# yaml-language-server: .*$/m, `# yaml-language-server: $schema=${schemaFrom(cwd)}`)
    .replace(/^runner: .*$/m, `${runner === builtIn ? `${withoutAgent}\n` : ''}runner: ${runner}`)
    .replace(
      'Every value here is',
      runner === 'claude' ? '$&' : 'Apart from the runner, every value here is',
    );
}

function schemaFrom(cwd: string): string {
  let folder = cwd;
  for (let up = ''; ; up += '../') {
    if (existsSync(path.join(folder, SCHEMA))) return `${up === '' ? './' : up}${SCHEMA}`;
    const parent = path.dirname(folder);
    // Not installed yet, or Plug'n'Play: as it will be in most projects.
    if (parent === folder) return `./${SCHEMA}`;
    folder = parent;
  }
}
