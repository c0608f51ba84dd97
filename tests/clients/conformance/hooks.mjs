// The suite imports a function of Node 22 that it needs only to compare files. On an older Node it is undefined.

import { register } from "node:module";
import * as fs from "node:fs";

const FS = 'export * from "node:fs"; export { default } from "node:fs"; export const globSync = undefined;';
const HOOKS = `
  const replaced = ${JSON.stringify(`data:text/javascript,${encodeURIComponent(FS)}`)};
  export const resolve = (name, context, next) =>
    name === "fs" && context.parentURL?.includes("/conformance/dist/")
      ? { url: replaced, shortCircuit: true }
      : next(name, context);
`;

if (fs.globSync === undefined) register(`data:text/javascript,${encodeURIComponent(HOOKS)}`);
