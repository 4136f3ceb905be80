// Bundles the viewer of reports with three.js into one file, and copies the licence of three.js beside it.
// Done once for a release: `make viewer`. Users of phlexible need no node.
import { build } from "esbuild";
import { createHash } from "node:crypto";
import { copyFileSync, readFileSync, readdirSync } from "node:fs";

const assets = "../src/phlexible/pictures/assets";
const sources = createHash("sha256"); // a test compares it with that of the sources
for (const name of readdirSync("src").sort()) sources.update(readFileSync(`src/${name}`));
const notice = "phlexible report viewer, MIT. Contains three.js, MIT, (c) three.js authors.";
const common = { bundle: true, minify: true, format: "iife", target: "es2020", legalComments: "none" };
const banner = { js: `/* ${notice} Sources ${sources.digest("hex")} */` };
await build({ ...common, entryPoints: ["src/main.js"], banner, outfile: `${assets}/viewer.js` });
await build({ ...common, entryPoints: ["src/loader.js"], outfile: `${assets}/loader.js` });
// The same text stands in page.html: every report is a copy of three.js.
copyFileSync("node_modules/three/LICENSE", `${assets}/three.LICENSE.txt`);
