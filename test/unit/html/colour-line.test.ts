import { expect, it } from 'vitest';
import { colourLine } from '../../../src/html/colour-line.js';

it('RP-4 colours code without losing what a diff has marked', () => {
  expect(colourLine('const <ins class="x">a</ins> = &quot;&lt;b&gt;&quot;;', 'ts')).toBe(
    '<span class="hljs-keyword">const</span> <ins>a</ins> = <span class="hljs-string">&quot;&lt;b&gt;&quot;</span>;',
  );
});

it('RP-4 a mark may begin within a word, and a character of two halves stays one', () => {
  expect(colourLine('co<del>nst</del> 😀', 'js')).toBe(
    '<span class="hljs-keyword">co</span><del><span class="hljs-keyword">nst</span></del> 😀',
  );
});

it('RP-4 a language that nobody knows stays as it is', () => {
  expect(colourLine('a &lt; <ins>b</ins>', 'brainfuck-9')).toBe('a &lt; <ins>b</ins>');
});
