import { linesIn } from './lines-in.js';

/**
 * What an agent has to read as it is: nothing of it may be masked. The first sixty are kinds that were once masked, and their neighbors: times
 * after a code, names of people, ids of tickets.
 */
export const innocents: readonly string[] = linesIn('innocents.txt');
