// Writes schema/agents.schema.json from the schema in src/config/schema.ts. Needs dist/: run `npm run build` first.
import { writeFile } from 'node:fs/promises';
import { agentsJsonSchemaText } from '../dist/config/json-schema.js';

await writeFile(new URL('../schema/agents.schema.json', import.meta.url), agentsJsonSchemaText());
