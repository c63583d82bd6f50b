import { type Blame, blameLine } from '../../core/blame.js';
import { clipped } from '../format.js';
import { html, type Markup } from './markup.js';

const HUNKS = 5;
const LINES = 40;

/** The change that broke a test, with its lines (BL-3). */
export function showBlame(blame: Blame | undefined): Markup | '' {
  if (!blame) return '';
  return html`<p>${blameLine(blame)}.</p>
    ${blame.hunks.slice(0, HUNKS).map(({ file, line, old, now, commit }) => {
      const who = commit
        ? ` · ${commit.id.slice(0, 7)} ${clipped(commit.subject, 120)} · ${commit.author}`
        : '';
      const lines = [...old.map((one) => `-${one}`), ...now.map((one) => `+${one}`)];
      return html`<p class="quiet"><code>${file}:${line}</code>${who}</p>
        <pre>
${lines
            .slice(0, LINES)
            .map((one) => clipped(one, 300))
            .join('\n')}</pre>`;
    })}`;
}
