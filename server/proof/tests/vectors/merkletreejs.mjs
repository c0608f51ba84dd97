// Writes merkletreejs.json: what the npm package merkletreejs makes of 0 to 257 leaves.
//
//   npm install merkletreejs@0.6.0    (in a folder of its own)
//   node merkletreejs.mjs > merkletreejs.json
//
// Leaf i is the SHA-256 of the ASCII text `leaf-i`; a tree of n has the leaves 0 to n-1. The options
// are those of the original (proof#first-tree): sortLeaves, sortPairs, no hashing of leaves.

import { createHash } from "node:crypto";
import { createRequire } from "node:module";
import { join } from "node:path";

const require = createRequire(join(process.cwd(), "here.js"));
const { MerkleTree } = require("merkletreejs");

const sha256 = (data) => createHash("sha256").update(data).digest();
const leaf = (index) => sha256(`leaf-${index}`);
const tree = (size) => {
  const leaves = Array.from({ length: size }, (_, index) => leaf(index));
  return new MerkleTree(leaves, sha256, { sortLeaves: true, sortPairs: true });
};

const roots = [];
for (let size = 0; size <= 257; size++) {
  roots.push(tree(size).getRoot().toString("hex"));
}

const proofs = [];
for (const size of [1, 2, 3, 4, 5, 6, 7, 8, 9, 13, 31, 32, 33, 100, 255, 256, 257]) {
  for (const index of new Set([0, 1, size >> 1, size - 2, size - 1])) {
    if (index < 0 || index >= size) continue;
    const proof = tree(size).getProof(leaf(index));
    proofs.push({ size, leaf: index, proof: proof.map(({ position, data }) => ({ position, data: data.toString("hex") })) });
  }
}

const lines = (items) => items.map((item) => `    ${JSON.stringify(item)}`).join(",\n");
process.stdout.write(`{
  "origin": "npm package merkletreejs 0.6.0 (MIT), by merkletreejs.mjs beside this file; its root of 0 leaves is the empty string",
  "roots": [\n${lines(roots)}\n  ],
  "proofs": [\n${lines(proofs)}\n  ]
}\n`);
