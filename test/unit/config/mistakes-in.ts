import { renderDiagnostics } from '../../../src/config/diagnostic.js';
import { parseAgentsFile } from '../../../src/config/agents-file.js';

type Env = Record<string, string>;

/** All mistakes of a text, as a person sees them. */
export function mistakesIn(text: string, env: Env = {}): string {
  const parsed = parseAgentsFile(text, env);
  return parsed.ok ? '' : renderDiagnostics('agents.yaml', text, parsed.error);
}

/** `line:column message` of each mistake. */
export function headsOf(text: string, env: Env = {}): string[] {
  const blocks = mistakesIn(text, env).split('\n\n').filter(Boolean);
  return blocks.map((block) => block.slice('agents.yaml:'.length, block.indexOf('\n')));
}

/** The text above each marker. */
export function markedIn(text: string, env: Env = {}): string[] {
  const blocks = mistakesIn(text, env).split('\n\n').filter(Boolean);
  return blocks.map((block) => {
    const [, line = '', marker = ''] = block.split('\n');
    return line.slice(marker.indexOf('~'), marker.length);
  });
}
