import { readAgentsFile } from '../config/read-agents-file.js';
import { readYaml } from '../config/read-yaml.js';

/** The runner that an agents.yaml names already, whatever else is wrong with that file; null where it names none. */
export async function configuredRunner(cwd: string): Promise<string | null> {
  const file = await readAgentsFile(cwd);
  if (!file.ok || !file.value) return null;
  const { data } = readYaml(new TextDecoder().decode(file.value.bytes), {});
  const runner: unknown = typeof data === 'object' && data !== null ? Reflect.get(data, 'runner') : null;
  return typeof runner === 'string' ? runner : null;
}
