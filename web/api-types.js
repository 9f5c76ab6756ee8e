// Writes types/api.d.ts: the types of the API, from its OpenAPI description. Schemas keep their
// names; an answer is named after its operation.

import { readFileSync, writeFileSync } from "node:fs";

const place = (path) => new URL(path, import.meta.url);
const { paths, components } = JSON.parse(readFileSync(place("static/openapi.json"), "utf8"));

const types = new Map(Object.entries(components.schemas));
for (const operation of Object.values(paths).flatMap((methods) => Object.values(methods))) {
  const [content] = Object.values(operation.responses["200"]?.content ?? {});
  if (content) types.set(operation.operationId, content.schema);
}
const lines = [...types].map(([name, schema]) => `  type ${name} = ${typeOf(schema, "  ")};\n`);
writeFileSync(place("types/api.d.ts"), `declare namespace Api {\n${lines.join("")}}\n`);

function typeOf(schema, indent) {
  const { $ref, anyOf, enum: values, type, items } = schema;
  if ($ref) return $ref.split("/").at(-1);
  if (anyOf) return anyOf.map((one) => typeOf(one, indent)).join(" | ");
  if (values) return values.map((value) => JSON.stringify(value)).join(" | ");
  if (Array.isArray(type)) return type.map((one) => typeOf({ ...schema, type: one }, indent)).join(" | ");
  switch (type) {
    case "array":
      return `(${typeOf(items, indent)})[]`;
    case "object":
      return objectType(schema, indent);
    case "integer":
      return "number";
    case "number": case "string": case "boolean": case "null":
      return type;
  }
  return "any";
}

function objectType({ properties, required = [], additionalProperties: others }, indent) {
  if (!properties) return `Record<string, ${typeOf(typeof others === "object" ? others : {}, indent)}>`;
  const deeper = indent + "  ";
  const fields = Object.entries(properties).map(([name, schema]) => {
    return `${deeper}${name}${required.includes(name) ? "" : "?"}: ${typeOf(schema, deeper)};\n`;
  });
  return `{\n${fields.join("")}${indent}}`;
}
