import { html as renderDiff, parse } from 'diff2html';
import { colourLine } from './colour-line.js';
import { html, raw, type Markup } from './markup.js';

type DiffFile = ReturnType<typeof parse>[number];

/** How much of a diff is shown. */
export interface DiffOptions {
  /** Lines over all files; the rest is counted. */
  readonly maxLines: number;
}

// Tables that a screen reader reads as such; the library's own carry icons, links and anchors that a report does not need.
const rawTemplates = {
  'generic-wrapper': '{{{content}}}',
  'generic-file-path': '{{fileDiffName}}',
  'generic-empty-diff': '<tr><td colspan="3">no lines: its name, its mode or a binary file changed</td></tr>',
  'generic-block-header': '<tr class="hunk"><td></td><td></td><td><code>{{{blockHeader}}}</code></td></tr>',
  'line-by-line-file-diff':
    '<div class="diff" tabindex="0" role="group" aria-label="Changes of {{file.newName}}"><table><caption>{{{filePath}}}</caption>' +
    '<thead class="unseen"><tr><th>before</th><th>after</th><th>line</th></tr></thead><tbody>{{{diffs}}}</tbody></table></div>',
  'line-by-line-numbers': '<td class="n">{{oldNumber}}</td><td class="n">{{newNumber}}</td>',
  'generic-line':
    '<tr class="{{type}}">{{{lineNumber}}}<td><span class="sign">{{{prefix}}}</span><code>{{{content}}}</code></td></tr>',
};

/** A patch of `git diff` as tables, one a file, with what changed within a line marked, and the code coloured. */
export function showDiff(patch: string, { maxLines }: DiffOptions): Markup {
  const { files, hidden } = shortened(parse(patch), maxLines);
  const tables = files.map((file) => raw(coloured(renderDiff([file], { ...options, rawTemplates }), file)));
  const more = hidden > 0 ? html`<p class="quiet">… and ${hidden} more lines: see the patch.</p>` : '';
  return html`${tables}${more}`;
}

const options = { outputFormat: 'line-by-line', drawFileList: false, matching: 'words' } as const;

/** The library marks with `ins` and `del` alone, and escapes everything else. */
function coloured(table: string, { language }: DiffFile): string {
  return table.replaceAll(/(?<=<span class="sign">[^<]*<\/span><code>).*?(?=<\/code>)/gs, (line) =>
    colourLine(line, language),
  );
}

function shortened(files: readonly DiffFile[], maxLines: number) {
  let room = maxLines;
  let hidden = 0;
  const shown = files.map((file) => {
    const blocks = file.blocks.flatMap((block) => {
      const lines = block.lines.slice(0, Math.max(0, room));
      hidden += block.lines.length - lines.length;
      room -= lines.length;
      return lines.length > 0 ? [{ ...block, lines }] : [];
    });
    return { ...file, blocks };
  });
  const kept = shown.filter(({ blocks }, at) => blocks.length > 0 || files[at]?.blocks.length === 0);
  return { files: kept, hidden };
}
