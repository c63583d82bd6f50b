import type { Settings } from '../core/settings.js';
import type { Problem } from '../problem.js';

// STOPGAP
export async function checkAgents(_settings: Settings, _cwd: string): Promise<Problem | null> {
  return null;
}
