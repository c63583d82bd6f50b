import { z } from 'zod';
import { agentsFileSchema } from './schema.js';

/** The part of a JSON Schema that is read here. */
export interface JsonSchema {
  readonly $schema?: string;
  readonly type?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: JsonSchema | boolean;
  readonly default?: unknown;
}

/** Returns the JSON Schema (draft-07) of agents.yaml, with which editors complete and check it (CF-2). */
export function agentsJsonSchema(): JsonSchema {
  generated ??= generate();
  return generated;
}

let generated: JsonSchema | undefined;

function generate(): JsonSchema {
  const { $schema, ...schema } = z.toJSONSchema(agentsFileSchema, {
    target: 'draft-7',
    io: 'input',
    override: ({ jsonSchema }) => {
      // Zod adds this bound to whole numbers; it is noise in an editor.
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      // The defaults of what is in it say more.
      if (jsonSchema.type === 'object') delete jsonSchema.default;
    },
  });
  return { $schema, title: 'agents.yaml of self-heal', ...schema } as JsonSchema;
}

/** Returns the text of schema/agents.schema.json. */
export function agentsJsonSchemaText(): string {
  return `${JSON.stringify(agentsJsonSchema(), null, 2)}\n`;
}

/** Returns the schema of the value at a path; undefined if nothing is allowed there, or nothing in particular. */
export function schemaAt(path: readonly PropertyKey[]): JsonSchema | undefined {
  return path.reduce<JsonSchema | undefined>((schema, step) => {
    const rest = schema?.additionalProperties;
    return schema?.properties?.[String(step)] ?? (typeof rest === 'object' ? rest : undefined);
  }, agentsJsonSchema());
}

/** Returns the keys that the mapping at a path may have; none if any name is allowed. */
export function allowedKeys(path: readonly PropertyKey[]): readonly string[] {
  return Object.keys(schemaAt(path)?.properties ?? {});
}
