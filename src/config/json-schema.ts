import { z } from 'zod';
import { agentsFileSchema } from './schema.js';

/** As much of a JSON Schema as is read here. */
interface JsonSchema {
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: JsonSchema | boolean;
}

/** The JSON Schema (draft-07) of agents.yaml, by which editors complete and check it (CF-2). */
export function agentsJsonSchema(): Readonly<Record<string, unknown>> {
  const { $schema, ...schema } = z.toJSONSchema(agentsFileSchema, {
    target: 'draft-7',
    io: 'input',
    override: ({ jsonSchema }) => {
      // Zod's bound of whole numbers; in an editor it is noise.
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    },
  });
  return { $schema, title: 'agents.yaml of self-heal', ...schema };
}

/** The text of schema/agents.schema.json. */
export function agentsJsonSchemaText(): string {
  return `${JSON.stringify(agentsJsonSchema(), null, 2)}\n`;
}

let remembered: JsonSchema | undefined;

/** The keys that the mapping at a path may hold; none where any name will do. */
export function allowedKeys(path: readonly PropertyKey[]): readonly string[] {
  remembered ??= agentsJsonSchema();
  let schema: JsonSchema | undefined = remembered;
  for (const step of path) {
    const rest: JsonSchema | boolean | undefined = schema?.additionalProperties;
    schema = schema?.properties?.[String(step)] ?? (typeof rest === 'object' ? rest : undefined);
  }
  return Object.keys(schema?.properties ?? {});
}
